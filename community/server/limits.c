/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "limits.h"
#include "util/util.h"

#define COUNTERS ((size_t)1 << 20)
#define HOUR_NS 3600000000000
#define KEYS ((size_t)1 << 16)
#define WORK_SHARE 4             /* a key has a quarter of the time */
#define WORK_AHEAD_NS 2000000000 /* and half a second at once, enough for several of the largest uploads */

int limits_init(struct limits *limits)
{
        *limits = (struct limits){ .counts = calloc(COUNTERS, sizeof(*limits->counts)),
                                   .busy_until_ns = calloc(KEYS, sizeof(*limits->busy_until_ns)) };
        if (!limits->counts || !limits->busy_until_ns) {
                free(limits->counts);
                free(limits->busy_until_ns);
                return -ENOMEM;
        }
        if (getrandom(&limits->secret, sizeof(limits->secret), 0) != (ssize_t)sizeof(limits->secret))
                limits->secret = util_boottime_ns();
        pthread_mutex_init(&limits->mutex, NULL);
        return 0;
}

void limits_clear(struct limits *limits)
{
        free(limits->counts);
        free(limits->busy_until_ns);
        pthread_mutex_destroy(&limits->mutex);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
        do
                hash = ((hash ^ (uint8_t)*text) * 0x9E3779B97F4A7C15) ^ hash >> 29;
        while (*text++);
        return hash ^ hash >> 32;
}

bool limits_take(struct limits *limits, const char *kind, const char *key, uint64_t most)
{
        uint64_t hour = util_boottime_ns() / HOUR_NS;
        uint32_t *count = &limits->counts[hash_text(hash_text(limits->secret, kind), key) % COUNTERS];
        bool fine;

        pthread_mutex_lock(&limits->mutex);
        if (hour != limits->hour)
                memset(limits->counts, 0, COUNTERS * sizeof(*limits->counts));
        limits->hour = hour;
        *count += *count < UINT32_MAX;
        fine = *count <= most;
        pthread_mutex_unlock(&limits->mutex);
        return fine;
}

static uint64_t *busy_until(struct limits *limits, const char *key)
{
        return &limits->busy_until_ns[hash_text(limits->secret, key) % KEYS];
}

bool limits_may_work(struct limits *limits, const char *key, uint64_t guess_ns)
{
        uint64_t now = util_boottime_ns(), *until = busy_until(limits, key);
        bool fine;

        pthread_mutex_lock(&limits->mutex);
        fine = *until <= now + WORK_AHEAD_NS;
        if (fine)
                *until = MAX(*until, now) + WORK_SHARE * guess_ns;
        pthread_mutex_unlock(&limits->mutex);
        return fine;
}

void limits_worked(struct limits *limits, const char *key, uint64_t guess_ns, uint64_t took_ns)
{
        uint64_t now = util_boottime_ns(), *until = busy_until(limits, key);

        pthread_mutex_lock(&limits->mutex);
        *until -= MIN(*until, WORK_SHARE * guess_ns);
        *until = MAX(*until, now) + WORK_SHARE * took_ns;
        pthread_mutex_unlock(&limits->mutex);
}
