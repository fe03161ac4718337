/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "machine.h"
#include "source/battery.h"
#include "source/cpu.h"
#include "source/display.h"
#include "util/util.h"

static int read_battery(int root_fd, struct class_facts *facts)
{
        _cleanup_free_ struct battery_unit *units = NULL;
        struct battery sum;
        size_t n = 0;
        int err = battery_list(root_fd, &units, &n, NULL);

        if (err || n == 0)
                return err == -ENOMEM ? err : 0;
        battery_sum(units, n, &sum);
        facts->battery = true;
        facts->energy_full_mwh = battery_full_mwh(&sum);
        return 0;
}

static uint32_t read_capacity(int root_fd, uint32_t cpu)
{
        char path[64], text[32];

        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/cpu_capacity", cpu);
        return util_read_at(root_fd, path, text, sizeof(text)) > 0 ? (uint32_t)MIN(strtoul(text, NULL, 10), 1024ul) : 0;
}

static int read_cpus(int root_fd, struct class_facts *facts)
{
        _cleanup_free_ struct cpu_policy *policies = NULL;
        uint32_t cpus[64];
        char text[256];
        size_t n = 0;
        int err = cpu_list(root_fd, &policies, &n);

        if (err)
                return err == -ENOMEM ? err : 0;
        if (n == 0 && util_read_at(root_fd, "sys/devices/system/cpu/possible", text, sizeof(text)) > 0)
                facts->n_cpus = (uint32_t)cpu_parse_list(text, cpus, ARRAY_SIZE(cpus));
        facts->policies = calloc(n + 1, sizeof(*facts->policies));
        if (!facts->policies)
                return -ENOMEM;
        facts->n_policies = n;
        for (size_t i = 0; i < n; i++) {
                struct class_policy *policy = &facts->policies[i];

                policy->policy = policies[i].policy;
                cpu_print_list(policies[i].cpus, policies[i].n_cpus, policy->cpus, sizeof(policy->cpus));
                policy->n_khz = MIN(policies[i].n_khz, (size_t)CLASS_POINTS_MAX);
                memcpy(policy->khz, policies[i].khz, policy->n_khz * sizeof(policy->khz[0]));
                policy->capacity = policies[i].n_cpus > 0 ? read_capacity(root_fd, policies[i].cpus[0]) : 0;
                facts->n_cpus += (uint32_t)policies[i].n_cpus;
        }
        return 0;
}

int machine_facts(int root_fd, struct class_facts *ret)
{
        _cleanup_(class_facts_clear) struct class_facts facts = { .energy_full_mwh = NAN };
        struct display_state display;
        int err = read_battery(root_fd, &facts);

        if (!err)
                err = read_cpus(root_fd, &facts);
        if (err)
                return err;
        err = display_look(root_fd, &display);
        if (err == -ENOMEM)
                return err;
        if (!err)
                facts.max_brightness = display.max_brightness;
        profile_class_read_chassis(root_fd, facts.chassis, sizeof(facts.chassis));
        *ret = facts;
        facts.policies = NULL;
        return 0;
}
