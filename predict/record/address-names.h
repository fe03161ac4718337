/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the addresses of a process' code are called: by the symbols of its files, or by what an interpreter wrote down. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "places.h"
#include "words.h"

/* A mapping of code from a file. */
struct mapping {
        uint64_t from, to, offset;
        uint32_t path; /* a number of the words */
        bool app;      /* of the program itself */
};

struct frame {
        uint32_t name; /* `function@dso`, a number of the words */
        bool app;      /* of the program itself, or code that an interpreter made */
};

struct Dwfl;
struct address_names;

/* @words and @places must live as long. 0; -ENOMEM. */
int address_names_new(struct words *words, struct places *places, struct address_names **ret);
void address_names_free(struct address_names *names);
/* After mappings have changed. */
void address_names_forget(struct address_names *names);
/* Another program, or process: names of code without a file are those of /tmp/perf-@pid.map. */
void address_names_set_pid(struct address_names *names, pid_t pid);
/*
 * address_names_find() - the function that has an address, and before it those that the compiler put into it there
 * @mapping: that has it; NULL: none
 * @ret:     @n frames, the innermost first; valid until address_names_forget()
 *
 * 0; -ENOMEM.
 */
int address_names_find(struct address_names *names, uint64_t address, const struct mapping *mapping, struct Dwfl *dwfl,
                       const struct frame **ret, size_t *n);
