/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampled.h"

#include <errno.h>
#include <string.h>

#include "usage.h"
#include "util.h"

static const struct hardware_policy *policy_of(const struct sampled *sampled, const struct opp *opp, size_t *index)
{
        const struct hardware_description *description = sampled->description;

        for (size_t i = 0; i < description->n_policies && opp->khz == KHZ_UNKNOWN; i++) {
                *index = i;
                if (description->policies[i].policy == opp->policy && description->policies[i].n_khz > 1)
                        return &description->policies[i];
        }
        return NULL;
}

/* Drivers show what the clock really does, and that is never to the kHz what was asked. */
static size_t nearest(const struct hardware_policy *policy, uint64_t khz)
{
        size_t best = 0;

        for (size_t i = 1; i < policy->n_khz; i++)
                if (llabs((int64_t)policy->khz[i] - (int64_t)khz) < llabs((int64_t)policy->khz[best] - (int64_t)khz))
                        best = i;
        return best;
}

static void look(struct sampled *sampled, const struct hardware_policy *policy, size_t index, uint64_t elapsed_ns)
{
        char path[128], text[32];
        uint64_t khz;

        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpufreq/policy%u/scaling_cur_freq", policy->policy);
        if (util_read_at(sampled->root_fd, path, text, sizeof(text)) > 0 && util_parse_u64(text, &khz) == 0)
                sampled->time_ns[index][nearest(policy, khz)] += elapsed_ns;
}

/* Room for all frequencies where the unknown one stood. */
static int replace(const struct sampled *sampled, const struct hardware_policy *policy, size_t index,
                   struct sample *sample, size_t at)
{
        for (size_t i = 1; i < policy->n_khz; i++)
                if (!sample_add_opp(sample))
                        return -ENOMEM;
        memmove(&sample->opps[at + policy->n_khz], &sample->opps[at + 1],
                (sample->n_opps - at - policy->n_khz) * sizeof(sample->opps[0]));
        for (size_t i = 0; i < policy->n_khz; i++)
                sample->opps[at + i] = (struct opp){ .policy = policy->policy, .khz = policy->khz[i],
                                                     .time_ns = sampled->time_ns[index][i] };
        return 0;
}

void sampled_look(struct sampled *sampled, uint64_t monotonic_ns)
{
        const struct hardware_description *description = sampled->description;
        uint64_t elapsed_ns = sampled->last_ns ? monotonic_ns - sampled->last_ns : 0;

        sampled->last_ns = monotonic_ns;
        for (size_t i = 0; i < description->n_policies; i++)
                if (sampled->needed[i])
                        look(sampled, &description->policies[i], i, elapsed_ns);
}

int sampled_fill(struct sampled *sampled, struct sample *sample)
{
        sampled_look(sampled, sample->monotonic_ns);
        if (!(sample->have & SAMPLE_OPPS) || sample->opps_counted)
                return 0;
        for (size_t at = 0; at < sample->n_opps; at++) {
                size_t index;
                const struct hardware_policy *policy = policy_of(sampled, &sample->opps[at], &index);
                int err;

                if (!policy)
                        continue;
                sampled->needed[index] = true;
                err = replace(sampled, policy, index, sample, at);
                if (err)
                        return err;
                at += policy->n_khz - 1;
        }
        return 0;
}
