/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "counter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define TEXT_MIN ((size_t)16 << 10)
#define TEXT_MAX ((size_t)64 << 20)
#define WRAPS_AT (UINT64_C(1) << 32)
/* Within reach of a counter whose identity is not sure: half a gigabyte, 150 Mbit/s for 30 s. */
#define REACH (UINT64_C(1) << 29)
#define MOST_AWAY 64 /* devices that are remembered while they are away */

struct counter_known {
        struct counter now;
        uint64_t highest[2];
        uint32_t away;      /* readings without it */
        bool here;          /* it is in this reading */
};

ssize_t counter_read_text(int dir_fd, const char *path, char **text, size_t *capacity)
{
        for (;;) {
                ssize_t n = *capacity > 0 ? util_read_at(dir_fd, path, *text, *capacity) : -EFBIG;

                if (n != -EFBIG || *capacity >= TEXT_MAX)
                        return n;
                if (util_grow(text, capacity, MAX(2 * *capacity, TEXT_MIN), 1) < 0)
                        return -ENOMEM;
        }
}

int counter_see(struct counters *counters, const struct counter *counter)
{
        int err = util_grow(&counters->seen, &counters->seen_capacity, counters->n_seen + 1, sizeof(*counters->seen));

        if (!err)
                counters->seen[counters->n_seen++] = *counter;
        return err;
}

void counter_clear(struct counters *counters)
{
        free(counters->seen);
        free(counters->known);
        *counters = (struct counters){ 0 };
}

static bool is_number(uint64_t one, uint64_t other)
{
        return one == other || one == 0 || other == 0;
}

/* Devices come in nearly the same order each time: the search begins where the last one ended. */
static struct counter_known *find(struct counters *counters, const struct counter *seen, size_t *at)
{
        for (size_t i = 0; i < counters->n_known; i++) {
                struct counter_known *known = &counters->known[(*at + i) % counters->n_known];

                if (known->here || !is_number(known->now.number, seen->number) ||
                    strcmp(known->now.name, seen->name) != 0)
                        continue;
                *at = (*at + i + 1) % counters->n_known;
                return known;
        }
        return NULL;
}

/* One that went now, and whose counters stand at most a little below these. */
static struct counter_known *find_renamed(struct counters *counters, const struct counter *seen)
{
        for (size_t i = 0; i < counters->n_known; i++) {
                struct counter_known *known = &counters->known[i];
                const uint64_t *old = known->now.value, *now = seen->value;

                if (!known->here && known->away == 0 && known->now.class == seen->class &&
                    is_number(known->now.number, seen->number) && old[0] + old[1] > 0 && now[0] >= old[0] &&
                    now[1] >= old[1] && now[0] - old[0] <= REACH && now[1] - old[1] <= REACH)
                        return known;
        }
        return NULL;
}

/* A reset sets both ways to 0, and a wrap only one. */
static uint64_t wrapped_by(const struct counter_known *known, const struct counter *seen, int way)
{
        const uint64_t *old = known->now.value, *now = seen->value;
        uint64_t grown = WRAPS_AT - MIN(old[way], WRAPS_AT) + now[way];

        return known->highest[way] < WRAPS_AT && now[way] > 0 && old[!way] > 0 && now[!way] >= old[!way] &&
               grown <= REACH ? grown : 0;
}

static uint64_t growth_of(const struct counter_known *known, const struct counter *seen, int way)
{
        uint64_t old = known->now.value[way], now = seen->value[way], highest = known->highest[way];

        if (old < highest && now >= highest)
                return now - highest;
        return now < old || (known->away > 0 && now - old > REACH) ? 0 : now - old;
}

static void go_on(struct counters *counters, struct counter_known *known, const struct counter *seen)
{
        uint64_t number;

        for (int way = 0; way < 2; way++) {
                bool fell = seen->value[way] < known->now.value[way];
                uint64_t grown = fell && counters->wraps ? wrapped_by(known, seen, way) : growth_of(known, seen, way);

                counters->total[seen->class][way] += grown;
                if (fell && grown > 0)
                        known->highest[way] = 0; /* it wrapped */
                known->highest[way] = MAX(known->highest[way], seen->value[way]);
        }
        number = seen->number ? seen->number : known->now.number;
        known->now = *seen;
        known->now.number = number;
        known->away = 0;
        known->here = true;
}

static int begin(struct counters *counters, const struct counter *seen)
{
        int err = util_grow(&counters->known, &counters->known_capacity, counters->n_known + 1,
                            sizeof(*counters->known));

        if (err)
                return err;
        counters->known[counters->n_known++] = (struct counter_known){
                .now = *seen,
                .highest = { seen->value[0], seen->value[1] },
                .here = true,
        };
        for (int way = 0; way < 2 && (!counters->started || counters->from_zero); way++)
                counters->total[seen->class][way] += seen->value[way];
        return 0;
}

/* The device that has been away longest is forgotten, so that absent ones cannot fill the memory. */
static void forget_longest(struct counters *counters)
{
        for (;;) {
                size_t n = 0, longest = 0;

                for (size_t i = 0; i < counters->n_known; i++) {
                        n += counters->known[i].away > 0;
                        if (counters->known[i].away > counters->known[longest].away)
                                longest = i;
                }
                if (n <= MOST_AWAY)
                        return;
                counters->known[longest] = counters->known[--counters->n_known];
        }
}

int counter_add_up(struct counters *counters)
{
        size_t at = 0, n_new = 0;
        int err = 0;

        for (size_t i = 0; i < counters->n_known; i++)
                counters->known[i].here = false;
        for (size_t i = 0; i < counters->n_seen; i++) {
                struct counter_known *known = find(counters, &counters->seen[i], &at);

                if (known)
                        go_on(counters, known, &counters->seen[i]);
                else
                        counters->seen[n_new++] = counters->seen[i];
        }
        for (size_t i = 0; !err && i < n_new; i++) {
                struct counter_known *known = find_renamed(counters, &counters->seen[i]);

                if (known)
                        go_on(counters, known, &counters->seen[i]);
                else
                        err = begin(counters, &counters->seen[i]);
        }
        for (size_t i = 0; i < counters->n_known; i++)
                counters->known[i].away += !counters->known[i].here;
        forget_longest(counters);
        counters->n_seen = 0;
        counters->started = true;
        return err;
}
