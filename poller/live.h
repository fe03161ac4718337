/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What was used just now, for who looks more often than the service polls (`joulecast top`). The last few intervals are
 * kept, numbered, so that everybody who asks gets all of what followed their own last answer. Nothing is kept while nobody
 * asks, and nothing of it is stored.
 */

#include "interval/interval.h"

#define LIVE_INTERVALS 16

struct live {
        struct interval list[LIVE_INTERVALS]; /* ascending */
        size_t n;
        uint64_t number;      /* of the last one; 0: there was none */
        uint64_t asked_ns;    /* boottime; 0: not for a long time */
        uint64_t read_ns;     /* when the sources were read last ... */
        uint64_t took_ns;     /* ... and for how long */
};

/* Somebody asks: from now on intervals are kept for a while. True: the sources may be read again. */
bool live_ask(struct live *live, uint64_t now_ns);
/* They were read, from @begin_ns to @now_ns of boottime, and this is the difference. Without memory it forgets all. */
void live_add(struct live *live, const struct interval *interval, uint64_t begin_ns, uint64_t now_ns);
/* Those after number @after that are still kept, without @after (0) the last one: the first, and in @n how many. */
const struct interval *live_after(const struct live *live, uint64_t after, size_t *n);
void live_clear(struct live *live);
