/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The power of a device whose use goes on as it is: that of the last minutes first, which gives way to the usual one
 * by hour of the day. Long sleeps are no use.
 */

#include "rate.h"

struct mixed {
        struct rate now, usual;   /* of the whole device */
        double hours[24];         /* parts of the usual power, by local hour; all 1 without a history of days */
        int64_t end_ns;           /* of the history */
        double use_s;             /* in it */
        double spread_w;          /* how blocks differ from the usual power, ... */
        double stays_s;           /* ... and for how long they do */
};

/* 0; -ENODATA; -ENOMEM. */
int mixed_make(const struct history *history, struct mixed *ret);
void mixed_clear(struct mixed *mixed);
/* Seconds of the first @seconds that are as now, and seconds of the usual power that the others come to. */
void mixed_seconds(const struct mixed *mixed, double seconds, double *now_s, double *usual_s);

/* How much of a block is now: less, the older it is. */
double mixed_is_now(const struct mixed *mixed, const struct history_block *block);

/* A block of an hour at most: how it was, beside the usual. */
struct mixed_block {
        double use_s;
        double hour;   /* the part of the usual power that is usual at its hour of the day */
        double off_w;  /* by how much its power differs from that */
};
/* False: it is longer, or had no use. */
bool mixed_look(const struct history *history, const struct mixed *mixed, const struct history_block *block,
                struct mixed_block *ret);
/* Standard deviation of the energy of @seconds, without the model's own error; J. */
double mixed_sd_j(const struct mixed *mixed, double seconds);
