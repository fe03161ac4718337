/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cost of a usage table. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "util/util.h"
#include "util/words.h"

/* A table does not name the policy: the first that has all its frequencies, else the first. */
uint32_t cost_policy_with(const struct profile *profile, uint32_t khz)
{
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *c = &profile->coefficients[i];

                if (c->term == TERM_CPU_ACTIVE && c->point == khz)
                        return c->policy;
        }
        return profile->n_policies > 0 ? profile->policies[0].policy : 0;
}

static int add_table_row(struct cost_maker *maker, const struct profile *profile,
                         const struct usage_table_row *table)
{
        struct usage usage = { 0 };
        struct store_row row = {
                .app = table->base ? "" : table->name, .name = table->label, .state = table->state, .usage = &usage,
                .active_ns = (uint64_t)llround(fmin(table->time_ms, 1e12) * 1e6),
        };
        int err;

        err = usage_copy(&usage, &table->usage);
        if (err < 0)
                return err;
        for (size_t i = 0; i < usage.cpu.n; i++)
                if (usage.cpu.list[i].policy == POLICY_UNKNOWN)
                        usage.cpu.list[i].policy = cost_policy_with(profile, usage.cpu.list[i].khz);
        err = cost_maker_add(maker, &row);
        usage_clear(&usage);
        return err;
}

static int name_missing(struct cost *cost, const char *name)
{
        char **grown = reallocarray(cost->not_measured, cost->n_not_measured + 1, sizeof(*grown));
        char *copy = grown ? strdup(name) : NULL;

        if (grown)
                cost->not_measured = grown;
        if (!copy)
                return -ENOMEM;
        cost->not_measured[cost->n_not_measured++] = copy;
        return 0;
}

int cost_make_from_table(const struct profile *profile, const struct usage_table *table, struct cost **ret)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        int err;

        if (table->n_rows == 0)
                return -ENODATA;
        err = cost_maker_new(&maker);
        if (err < 0)
                return err;
        for (size_t i = 0; i < table->n_rows; i++) {
                err = add_table_row(maker, profile, &table->rows[i]);
                if (err < 0)
                        return err;
        }
        err = cost_maker_finish(maker, profile, NULL, &cost);
        if (err < 0)
                return err;
        cost->from_ns = cost->to_ns = INT64_MIN;
        err = table->has_base ? 0 : name_missing(cost, N_("base (not in a usage table)"));
        if (err == 0 && !table->has_tx)
                err = name_missing(cost, "wifi.tx_mj_per_mb (not counted)");
        if (err < 0)
                return err;
        *ret = TAKE_PTR(cost);
        return 0;
}
