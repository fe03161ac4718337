/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The power of a device whose use goes on as it is: that of the last minutes first, which gives way to the usual one
 * by hour of the day. Long sleeps are no use.
 */

#include "rate.h"

struct mixed {
        struct rate now, usual;   /* power of the whole device */
        double hours[24];         /* parts of the usual power, by local hour; all 1 without a history of days */
        int64_t end_ns;           /* end of the history */
        double use_s;             /* time of use in the history */
        double spread_w;          /* standard deviation of blocks from the usual power, ... */
        double stays_s;           /* ... and the time constant with which a deviation decays */
};

/* 0; -ENODATA; -ENOMEM. */
int mixed_make(const struct history *history, struct mixed *ret);
void mixed_clear(struct mixed *mixed);
/* Splits the next @seconds into seconds of the present power, and the equivalent seconds of the usual power. */
void mixed_seconds(const struct mixed *mixed, double seconds, double *now_s, double *usual_s);

/* Weight of a block in the present use: the older it is, the less. */
double mixed_is_now(const struct mixed *mixed, const struct history_block *block);

/* A block of at most an hour, compared with the usual. */
struct mixed_block {
        double use_s;
        double hour;   /* the usual power at its hour of the day, as a part of the usual power of all hours */
        double off_w;  /* difference of its power from the usual power at that hour */
};
/* False: it is longer, or had no use. */
bool mixed_look(const struct history *history, const struct mixed *mixed, const struct history_block *block,
                struct mixed_block *ret);
/* Standard deviation of the energy of @seconds, without the model's own error; J. */
double mixed_sd_j(const struct mixed *mixed, double seconds);
