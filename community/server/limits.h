/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Counts actions per key and hour, to limit them. Kept in memory only; several threads may use it.
 *
 * The counters are a fixed table that a key finds by a hash with a secret: it never fills up, and nobody can choose
 * a key that shares the counter of another.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct limits {
        pthread_mutex_t mutex;
        uint32_t *counts;
        uint64_t *busy_until_ns; /* until then, its share of the time is spent, by a key */
        uint64_t secret, hour;
};

/* Returns 0 or -ENOMEM. */
int limits_init(struct limits *limits);
void limits_clear(struct limits *limits);
/* Counts one action of @key in this hour. Returns false if there are now more than @most. */
bool limits_take(struct limits *limits, const char *kind, const char *key, uint64_t most);
/*
 * Nobody has more than a quarter of the server's time for long, as the others wait meanwhile. May work for @key begin
 * now that will probably take @guess_ns? It is charged at once, so that not all that comes at the same time begins;
 * limits_worked() puts the time that it took in its place.
 */
bool limits_may_work(struct limits *limits, const char *key, uint64_t guess_ns);
void limits_worked(struct limits *limits, const char *key, uint64_t guess_ns, uint64_t took_ns);
