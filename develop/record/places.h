/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* For each frame name: whether the function is the program's, and its file and offset there, for a probe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
        bool app, known;
        uint32_t path; /* a number of the words; path and offset are valid if @known */
        uint64_t offset;
};

struct places {
        struct place *list; /* by the number of the name */
        size_t capacity;
};

/* The place of a name, to fill in; all zero at first. NULL: no memory. */
struct place *places_at(struct places *places, uint32_t name);
bool places_is_app(const struct places *places, uint32_t name);
