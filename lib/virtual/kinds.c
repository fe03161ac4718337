/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/fnv.h"

#define STREAM_KIND UINT64_C(0x6b696e64)

void kinds_init(struct kinds *kinds, const struct profile_virtual *physics, uint64_t stream, uint64_t seed)
{
        struct rng run;

        rng_seed(&run, physics->seed, STREAM_KIND + 1 + stream);
        *kinds = (struct kinds){
                .counters = physics->counters,
                .share = physics->counter_share > 0 ? physics->counter_share : 1,
                .residual = physics->kind_residual,
                .variation = physics->kind_variation,
                .tau_s = physics->kind_variation_tau_s,
                .seed = physics->seed,
                .run_seed = rng_next(&run) ^ seed,
        };
}

/* An app's deviation is the same in each run of the device; how it varies, and when it is read, is not. */
int kinds_add_app(const struct kinds *kinds, const char *id, size_t n_policies, struct app_kind *ret)
{
        uint64_t hash = fnv_add(FNV_BEGIN, id, strlen(id));
        struct rng own, run;

        *ret = (struct app_kind){ .counted = calloc(n_policies * COUNTED_COUNT + 1, sizeof(*ret->counted)) };
        if (!ret->counted)
                return -ENOMEM;
        rng_seed(&own, kinds->seed ^ hash, STREAM_KIND);
        ret->residual = rng_normal(&own);
        rng_seed(&run, kinds->run_seed ^ hash, STREAM_KIND);
        wander_init(&ret->variation, kinds->tau_s, &run);
        rng_seed(&ret->reads, rng_next(&run), 0);
        ret->seen = kinds->share >= 1 || rng_uniform(&ret->reads) < kinds->share;
        return 0;
}

void kinds_clear_app(struct app_kind *app)
{
        free(app->counted);
        *app = (struct app_kind){ 0 };
}

bool kinds_change(const struct kinds *kinds)
{
        return kinds->variation > 0 || (kinds->counters != VIRTUAL_COUNTERS_NONE && kinds->share < 1);
}

void kinds_next_second(const struct kinds *kinds, struct app_kind *app)
{
        wander_next(&app->variation);
        app->seen = kinds->share >= 1 || rng_uniform(&app->reads) < kinds->share;
}

/* Log-normal with a mean of 1. */
static double deviation(double sd, double normal)
{
        return exp(sd * normal - sd * sd / 2);
}

double kinds_factor(const struct kinds *kinds, const struct app_kind *app)
{
        return deviation(kinds->residual, app->residual) * deviation(kinds->variation, app->variation.value);
}

void kinds_count(const struct kinds *kinds, struct app_kind *app, size_t policy, double cycles, double instructions,
                 double misses)
{
        double *counted = app->counted + policy * COUNTED_COUNT;

        if (kinds->counters == VIRTUAL_COUNTERS_NONE || !app->seen)
                return;
        counted[COUNTED_CYCLES] += cycles;
        counted[COUNTED_INSTRUCTIONS] += cycles * instructions;
        if (kinds->counters == VIRTUAL_COUNTERS_ALL)
                counted[COUNTED_MISSES] += cycles * misses;
}

bool kinds_take(const struct kinds *kinds, struct app_kind *app, size_t policy, struct process_counted *ret)
{
        double *counted = app->counted + policy * COUNTED_COUNT;

        if (counted[COUNTED_CYCLES] < 1)
                return false;
        ret->misses = kinds->counters == VIRTUAL_COUNTERS_ALL;
        for (size_t i = 0; i < COUNTED_COUNT; i++) {
                ret->amount[i] = (uint64_t)counted[i];
                counted[i] -= (double)ret->amount[i];
        }
        return true;
}
