/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Merges small uses: a desktop has a hundred daemons that wake up at times, and a user who starts programs of ever new
 * names must not fill the disk.
 */

#include "everyday-private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/* A span keeps at most MOST_USES uses, each of which has at least LEAST_PART of one of its amounts. */
#define MOST_USES 32
#define LEAST_PART 0.005

/* Sums of all apps: the amounts, then CPU time. */
struct sums {
        double amount[OWNER_AMOUNT_COUNT + 1];
};

static double amount_of(const struct everyday_use *use, size_t i)
{
        return (double)(i < OWNER_AMOUNT_COUNT ? use->usage.amount[i] : usage_busy_ns(&use->usage));
}

static struct sums sums_of(const struct everyday *everyday)
{
        struct sums sums = { 0 };

        for (size_t u = 0; u < everyday->n_uses; u++)
                for (size_t i = 0; i < ARRAY_SIZE(sums.amount); i++)
                        sums.amount[i] += amount_of(&everyday->uses[u], i);
        return sums;
}

static bool is_others(const struct everyday_use *use, enum app_state state)
{
        return use->state == state && strcmp(use->app, TUNING_OTHER_APPS) == 0;
}

/* The largest share of this use in any amount; more than 1 for a use that stays in any case. */
static double part_of(const struct everyday *everyday, const struct everyday_use *use, const struct sums *sums)
{
        double part = use->state == STATE_FOREGROUND ? use->active_s * NS_PER_S / (double)everyday->elapsed_ns : 0;

        if (!*use->app || is_others(use, use->state))
                return INFINITY;
        for (size_t i = 0; i < ARRAY_SIZE(sums->amount); i++)
                if (sums->amount[i] > 0)
                        part = MAX(part, amount_of(use, i) / sums->amount[i]);
        return part;
}

static int compare_parts(const void *a, const void *b)
{
        const double *one = a, *other = b;

        return *one > *other ? -1 : *one < *other;
}

/* Sets @ret to the largest share among the uses beyond MOST_USES; 0: there are none. */
static int find_limit(const struct everyday *everyday, const struct sums *sums, double *ret)
{
        _cleanup_free_ double *parts = calloc(everyday->n_uses + 1, sizeof(*parts));

        if (!parts)
                return -ENOMEM;
        for (size_t i = 0; i < everyday->n_uses; i++)
                parts[i] = part_of(everyday, &everyday->uses[i], sums);
        qsort(parts, everyday->n_uses, sizeof(*parts), compare_parts);
        *ret = everyday->n_uses > MOST_USES ? parts[MOST_USES] : 0;
        return 0;
}

/* Moves one use into the other apps, for which its place in the list makes room. */
static int move_to_others(struct everyday *everyday, size_t at)
{
        struct everyday_use use = everyday->uses[at], *others = everyday->uses;
        int err;

        everyday->uses[at] = everyday->uses[--everyday->n_uses];
        while (others < everyday->uses + everyday->n_uses && !is_others(others, use.state))
                others++;
        if (others == everyday->uses + everyday->n_uses) {
                *others = (struct everyday_use){ .app = TUNING_OTHER_APPS, .state = use.state };
                everyday->n_uses++;
        }
        others->active_s = MAX(others->active_s, use.active_s);
        err = usage_add(&others->usage, &use.usage);
        usage_clear(&use.usage);
        return err;
}

/* Removes background uses without any amount; the order of the others stays. */
static void drop_idle(struct everyday *everyday)
{
        size_t n = 0;

        for (size_t i = 0; i < everyday->n_uses; i++) {
                struct everyday_use *use = &everyday->uses[i];

                if (*use->app && use->state == STATE_BACKGROUND && usage_is_zero(&use->usage))
                        usage_clear(&use->usage);
                else
                        everyday->uses[n++] = *use;
        }
        everyday->n_uses = n;
}

int everyday_merge_small(struct everyday *everyday)
{
        struct sums sums;
        double limit = 0;
        int err;

        drop_idle(everyday);
        sums = sums_of(everyday);
        err = find_limit(everyday, &sums, &limit);
        for (size_t i = 0; !err && i < everyday->n_uses;) {
                double part = part_of(everyday, &everyday->uses[i], &sums);

                if (part >= LEAST_PART && part > limit)
                        i++;
                else
                        err = move_to_others(everyday, i);
        }
        return err;
}
