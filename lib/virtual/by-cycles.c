/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/usage.h"

int by_cycles_alloc(struct by_cycles *cycles, size_t n_opps)
{
        cycles->seen_ns = calloc(n_opps + 1, sizeof(uint64_t));
        cycles->shown_ns = calloc(n_opps + 1, sizeof(uint64_t));
        return cycles->seen_ns && cycles->shown_ns ? 0 : -ENOMEM;
}

void by_cycles_reset(struct by_cycles *cycles, size_t n_opps)
{
        memset(cycles->seen_ns, 0, n_opps * sizeof(uint64_t));
        memset(cycles->shown_ns, 0, n_opps * sizeof(uint64_t));
}

void by_cycles_clear(struct by_cycles *cycles)
{
        free(cycles->seen_ns);
        free(cycles->shown_ns);
        *cycles = (struct by_cycles){ 0 };
}

/* Increase of a policy's times since the last reading. */
static uint64_t take_growth(const struct power_policy *policy, const uint64_t *ns, struct by_cycles *cycles)
{
        uint64_t sum_ns = 0;

        for (size_t i = policy->first_opp; i < policy->first_opp + policy->n_opps; i++) {
                sum_ns += ns[i] - cycles->seen_ns[i];
                cycles->seen_ns[i] = ns[i];
        }
        return sum_ns;
}

/* Cycles in thousands; the factor cancels out. */
static double count_cycles(const struct power_policy *policy, const uint64_t *ns, const struct by_cycles *cycles)
{
        double sum = 0;

        for (size_t i = 0; i < policy->n_opps; i++)
                sum += (double)(ns[policy->first_opp + i] - cycles->seen_ns[policy->first_opp + i]) *
                       policy->opps[i].khz;
        return sum;
}

static void give(struct by_cycles *cycles, uint64_t *grown_ns, size_t opp, uint64_t ns)
{
        cycles->shown_ns[opp] += ns;
        grown_ns[opp] += ns;
}

static void look_at_policy(const struct power_policy *policy, const uint64_t *busy_ns, struct by_cycles *busy,
                           uint64_t *grown_ns)
{
        double cycles = count_cycles(policy, busy_ns, busy), khz;
        uint64_t ns = take_growth(policy, busy_ns, busy), above_ns;
        size_t low = 0, at;

        if (ns == 0)
                return;
        khz = cycles / (double)ns;
        while (low + 1 < policy->n_opps && policy->opps[low + 1].khz <= khz)
                low++;
        at = policy->first_opp + low;
        if (low + 1 == policy->n_opps) {
                give(busy, grown_ns, at, ns);
                return;
        }
        above_ns = (uint64_t)llround((double)ns * (khz - policy->opps[low].khz) /
                                     ((double)policy->opps[low + 1].khz - policy->opps[low].khz));
        give(busy, grown_ns, at, ns - above_ns);
        give(busy, grown_ns, at + 1, above_ns);
}

void by_cycles_look(const struct power_model *model, const uint64_t *busy_ns, struct by_cycles *busy,
                    uint64_t *grown_ns)
{
        for (size_t p = 0; p < model->n_policies; p++)
                look_at_policy(&model->policies[p], busy_ns, busy, grown_ns);
}

void by_cycles_share(const struct power_model *model, const uint64_t *any_ns, struct by_cycles *any,
                     const uint64_t *grown_ns)
{
        for (size_t p = 0; p < model->n_policies; p++) {
                const struct power_policy *policy = &model->policies[p];
                uint64_t any_sum_ns = take_growth(policy, any_ns, any), sum_ns = 0, so_far_ns = 0;

                for (size_t i = policy->first_opp; i < policy->first_opp + policy->n_opps; i++)
                        sum_ns += grown_ns[i];
                for (size_t i = policy->first_opp; i < policy->first_opp + policy->n_opps; i++) {
                        any->shown_ns[i] += mul_div(any_sum_ns, so_far_ns + grown_ns[i], sum_ns) -
                                            mul_div(any_sum_ns, so_far_ns, sum_ns);
                        so_far_ns += grown_ns[i];
                }
        }
}
