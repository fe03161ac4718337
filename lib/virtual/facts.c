/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "source/battery.h"
#include "source/cpu.h"
#include "util/util.h"
#include "virtual.h"

#define FACTS_PERCENT 90 /* charge at which the device is read */

static int copy_cpus(const struct sample *sample, struct class_facts *facts)
{
        struct class_policy *policy = NULL;

        facts->n_cpus = (uint32_t)sample->n_cores;
        facts->policies = calloc(sample->n_opps + 1, sizeof(*facts->policies));
        if (!facts->policies)
                return -ENOMEM;
        for (size_t i = 0; i < sample->n_opps; i++) {
                if (!policy || policy->policy != sample->opps[i].policy) {
                        policy = &facts->policies[facts->n_policies++];
                        policy->policy = sample->opps[i].policy;
                }
                if (policy->n_khz < CLASS_POINTS_MAX && sample->opps[i].khz != KHZ_UNKNOWN)
                        policy->khz[policy->n_khz++] = sample->opps[i].khz;
        }
        for (size_t p = 0; p < facts->n_policies; p++) {
                uint32_t cpus[VIRTUAL_CPUS_MAX];
                size_t n = 0;

                policy = &facts->policies[p];
                for (size_t i = 0; i < sample->n_cores && n < ARRAY_SIZE(cpus); i++)
                        if (sample->cores[i].policy == policy->policy)
                                cpus[n++] = sample->cores[i].cpu;
                cpu_print_list(cpus, n, policy->cpus, sizeof(policy->cpus));
        }
        return 0;
}

/* Highest level of the backlight, or without a range the highest level in the profile. */
static uint32_t brightest(const struct profile *truth)
{
        uint32_t highest = truth->max_brightness;

        for (size_t i = 0; i < truth->n_coefficients; i++)
                if (truth->coefficients[i].term == TERM_DISPLAY)
                        highest = MAX(highest, truth->coefficients[i].point);
        return highest;
}

int virtual_facts(const struct profile *truth, const struct log *log, struct class_facts *ret)
{
        _cleanup_(virtual_freep) struct virtual_device *device = NULL;
        _cleanup_(class_facts_clear) struct class_facts facts = { .energy_full_mwh = NAN };
        struct source *source = NULL;
        struct sample sample = { 0 };
        int err = virtual_open(truth, VIRTUAL_SIMULATE, 1, FACTS_PERCENT, log, &device);

        if (!err)
                err = virtual_source_open(device, &source);
        if (err)
                return err;
        err = source->ops->read(source, &sample);
        if (!err)
                err = copy_cpus(&sample, &facts);
        facts.battery = sample.have & SAMPLE_BATTERY;
        if (facts.battery)
                facts.energy_full_mwh = battery_full_mwh(&sample.battery);
        facts.max_brightness = brightest(truth);
        sample_clear(&sample);
        source->ops->close(source);
        if (err)
                return err;
        *ret = facts;
        facts.policies = NULL;
        return 0;
}
