/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Features of a virtual device, found in the same samples that the poller sees. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "util/util.h"
#include "util/words.h"
#include "virtual/virtual.h"

static int add_battery(const struct sample *sample, struct findings *findings)
{
        struct battery_unit *unit;

        if (!(sample->have & SAMPLE_BATTERY)) {
                doctor_miss(findings, N_("battery"), "this virtual device has none");
                return 0;
        }
        unit = calloc(1, sizeof(*unit));
        if (!unit)
                return -ENOMEM;
        snprintf(unit->name, sizeof(unit->name), "virtual");
        unit->battery = sample->battery;
        unit->energy_have = sample->battery.have & (BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL);
        unit->energy_now_uwh = sample->battery.energy_now_uwh;
        unit->energy_full_uwh = sample->battery.energy_full_uwh;
        if (!(unit->energy_have & BATTERY_ENERGY_FULL) && sample->battery.have & BATTERY_CHARGE_FULL &&
            sample->battery.have & BATTERY_VOLTAGE) { /* rough, as for a real battery */
                unit->energy_full_uwh = sample->battery.charge_full_uah *
                                        (sample->battery.voltage_uv / 1000) / 1000;
                unit->energy_have |= BATTERY_ENERGY_FULL;
        }
        findings->batteries = unit;
        findings->n_batteries = 1;
        doctor_check_batteries(findings);
        return 0;
}

static int add_policies(const struct sample *sample, struct findings *findings)
{
        struct cpu_policy *policy = NULL;

        findings->policies = calloc(sample->n_opps + 1, sizeof(*findings->policies));
        if (!findings->policies)
                return -ENOMEM;
        for (size_t i = 0; i < sample->n_opps; i++) {
                if (!policy || policy->policy != sample->opps[i].policy) {
                        policy = &findings->policies[findings->n_policies++];
                        policy->policy = sample->opps[i].policy;
                }
                if (policy->n_khz < CPU_POINTS_MAX && sample->opps[i].khz != KHZ_UNKNOWN)
                        policy->khz[policy->n_khz++] = sample->opps[i].khz;
        }
        for (size_t p = 0; p < findings->n_policies; p++) {
                policy = &findings->policies[p];
                for (size_t i = 0; i < sample->n_cores; i++) {
                        if (sample->cores[i].policy == policy->policy &&
                            policy->n_cpus < ARRAY_SIZE(policy->cpus))
                                policy->cpus[policy->n_cpus++] = sample->cores[i].cpu;
                }
        }
        return 0;
}

static int look(struct virtual_device *device, struct findings *findings)
{
        struct source *source = NULL;
        struct sample sample = { 0 };
        int err = virtual_source_open(device, &source);

        if (err < 0)
                return err;
        err = source->ops->read(source, &sample);
        if (err == 0)
                err = add_battery(&sample, findings);
        if (err == 0)
                err = add_policies(&sample, findings);
        findings->has_disk = sample.have & USAGE_DISK;
        findings->has_net = sample.have & USAGE_WIFI;
        findings->has_display = sample.have & SAMPLE_SCREEN;
        sample_clear(&sample);
        source->ops->close(source);
        return err;
}

int doctor_look_at_virtual(const struct options *options, struct findings *findings)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        _cleanup_(virtual_freep) struct virtual_device *device = NULL;
        int err;

        err = virtual_load(options->device, &program_log, &truth);
        if (err == 0)
                err = virtual_open(truth, VIRTUAL_SIMULATE, 1, 90, &program_log, &device);
        if (err == 0)
                err = look(device, findings);
        if (err == 0)
                err = doctor_look_at_profile(options, findings);
        return err < 0 ? CODE_FAILED : CODE_OK;
}
