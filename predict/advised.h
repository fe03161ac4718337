/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The changes that would gain most now, with the commands that make them on this machine: for `joulecast advise`, and
 * for a line of the status.
 */

#include "ask.h"
#include "forecast/advice.h"

struct advised {
        struct advice_list found;
        char *commands[ADVICE_MAX]; /* NULL: none is known, or the advice is for another machine */
};

/* advised_clear() it. 0; as joulecast_gain_new(). */
int advised_make(const struct ask *ask, struct advised *ret);
void advised_clear(struct advised *advised);
/* "close Firefox: 34 minutes longer (20 to 48)"; @buf of 512. */
char *advised_print(const struct options *options, const struct advice *advice, char *buf);
