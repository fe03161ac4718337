/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Names of code addresses in a process, from the symbols of its files or from the perf map of an interpreter. */

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
        bool app;      /* the file is the program itself */
};

struct frame {
        uint32_t name; /* `function@dso`, a number of the words */
        bool app;      /* the function is the program's own, or code that an interpreter made */
};

struct Dwfl;
struct address_names;

/* @words and @places must outlive it. 0; -ENOMEM. */
int address_names_new(struct words *words, struct places *places, struct address_names **ret);
void address_names_free(struct address_names *names);
/* To be called when mappings have changed. */
void address_names_forget(struct address_names *names);
/* To be called for another program or process: names of code without a file come from /tmp/perf-@pid.map. */
void address_names_set_pid(struct address_names *names, pid_t pid);
/* Takes the names of the time when that file had @known bytes. SIZE_MAX: the last ones. */
void address_names_set_known(struct address_names *names, size_t known);
/*
 * address_names_find() - finds the function at an address, and the functions that the compiler inlined there
 * @mapping: the mapping of the address; NULL: none
 * @ret:     @n frames, the innermost first; valid until address_names_forget()
 *
 * 0; -ENOMEM.
 */
int address_names_find(struct address_names *names, uint64_t address, const struct mapping *mapping, struct Dwfl *dwfl,
                       const struct frame **ret, size_t *n);
