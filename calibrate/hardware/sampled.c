/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampled.h"

#include <errno.h>
#include <string.h>

#include "group.h"
#include "model/usage.h"
#include "util/util.h"

static const struct hardware_policy *group_of(const struct sampled *sampled, uint32_t policy)
{
        const struct hardware_description *description = sampled->description;

        for (size_t i = 0; i < description->n_policies; i++)
                if (group_has(&description->policies[i], policy))
                        return &description->policies[i];
        return NULL;
}

/* The policy of a row with an unknown frequency; NULL: it is known, or the description lists none. */
static struct sampled_policy *policy_of(struct sampled *sampled, const struct opp *opp)
{
        const struct hardware_policy *group;

        if (opp->khz != KHZ_UNKNOWN)
                return NULL;
        for (size_t i = 0; i < sampled->n_needed; i++)
                if (sampled->needed[i].policy == opp->policy)
                        return &sampled->needed[i];
        group = group_of(sampled, opp->policy);
        if (!group || group->n_khz < 2 || sampled->n_needed == ARRAY_SIZE(sampled->needed))
                return NULL;
        sampled->needed[sampled->n_needed] = (struct sampled_policy){ .policy = opp->policy, .group = group };
        return &sampled->needed[sampled->n_needed++];
}

/* Drivers show the real clock, which is never exactly the requested one. */
static size_t nearest(const struct hardware_policy *policy, uint64_t khz)
{
        size_t best = 0;

        for (size_t i = 1; i < policy->n_khz; i++)
                if (llabs((int64_t)policy->khz[i] - (int64_t)khz) <
                    llabs((int64_t)policy->khz[best] - (int64_t)khz))
                        best = i;
        return best;
}

static void look(const struct sampled *sampled, struct sampled_policy *policy, uint64_t elapsed_ns)
{
        char path[128], text[32];
        uint64_t khz;

        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpufreq/policy%u/scaling_cur_freq",
                 policy->policy);
        if (util_read_at(sampled->root_fd, path, text, sizeof(text)) > 0 && util_parse_u64(text, &khz) == 0)
                policy->time_ns[nearest(policy->group, khz)] += elapsed_ns;
}

/* Replaces the row of the unknown frequency by one for each frequency. */
static int replace(const struct sampled_policy *policy, struct sample *sample, size_t at)
{
        size_t n_khz = policy->group->n_khz;

        for (size_t i = 1; i < n_khz; i++)
                if (!sample_add_opp(sample))
                        return -ENOMEM;
        memmove(&sample->opps[at + n_khz], &sample->opps[at + 1],
                (sample->n_opps - at - n_khz) * sizeof(sample->opps[0]));
        for (size_t i = 0; i < n_khz; i++)
                sample->opps[at + i] = (struct opp){ .policy = policy->policy, .khz = policy->group->khz[i],
                                                     .time_ns = policy->time_ns[i] };
        return 0;
}

void sampled_look(struct sampled *sampled, uint64_t monotonic_ns)
{
        uint64_t elapsed_ns = sampled->last_ns ? monotonic_ns - sampled->last_ns : 0;

        sampled->last_ns = monotonic_ns;
        for (size_t i = 0; i < sampled->n_needed; i++)
                look(sampled, &sampled->needed[i], elapsed_ns);
}

int sampled_fill(struct sampled *sampled, struct sample *sample)
{
        sampled_look(sampled, sample->monotonic_ns);
        if (!(sample->have & SAMPLE_OPPS) || sample->opps_counted)
                return 0;
        for (size_t at = 0; at < sample->n_opps; at++) {
                const struct sampled_policy *policy = policy_of(sampled, &sample->opps[at]);
                int err = policy ? replace(policy, sample, at) : 0;

                if (err)
                        return err;
                at += policy ? policy->group->n_khz - 1 : 0;
        }
        return 0;
}
