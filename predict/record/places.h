/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Of each frame's name: whether it is of the program, and where in its file the function begins, for a probe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
        bool app, known;
        uint32_t path; /* a number of the words; where it is @known, as is the next */
        uint64_t offset;
};

struct places {
        struct place *list; /* by the number of the name */
        size_t capacity;
};

/* The place of a name, to fill in; all zero at first. NULL: no memory. */
struct place *places_at(struct places *places, uint32_t name);
bool places_is_app(const struct places *places, uint32_t name);
