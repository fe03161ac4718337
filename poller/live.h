/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Usage of the last seconds, for clients that look more often than the service polls (`joulecast top`). The
 * last few intervals are kept and numbered, so that each client gets all intervals since its own last answer.
 * Nothing is kept while no client asks, and nothing is stored.
 */

#include "interval/interval.h"

#define LIVE_INTERVALS 16

struct live {
        struct interval list[LIVE_INTERVALS]; /* ascending */
        size_t n;
        uint64_t number;      /* number of the last one; 0: there was none */
        uint64_t asked_ns;    /* boottime of the last question; 0: not for a long time */
        uint64_t read_ns;     /* time of the last reading of the sources */
        uint64_t took_ns;     /* duration of that reading */
};

/*
 * Notes a question: from now on intervals are kept for a while. Returns whether the sources may be read
 * again.
 */
bool live_ask(struct live *live, uint64_t now_ns);
/*
 * Adds an interval; the sources were read from @begin_ns to @now_ns (boottime). Without memory all intervals
 * are dropped.
 */
void live_add(struct live *live, const struct interval *interval, uint64_t begin_ns, uint64_t now_ns);
/*
 * Returns the first kept interval after number @after, or the last interval if @after is 0. @n: how many
 * there are.
 */
const struct interval *live_after(const struct live *live, uint64_t after, size_t *n);
void live_clear(struct live *live);
