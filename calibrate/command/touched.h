/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Lists, for people to read, of the settings that a calibration changes and restores, and of the changes that stay. */

#include <stdio.h>

#include "prospect.h"

#define TOUCHED_MAX 16

struct touched {
        char list[TOUCHED_MAX][192];
        size_t n, n_back; /* the first n_back of them are restored */
};

void touched_list(const struct prospect *prospect, struct touched *ret);
void touched_print_back(FILE *file, const struct touched *touched);
void touched_print_staying(FILE *file, const struct touched *touched);
