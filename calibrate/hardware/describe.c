/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "describe.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "group.h"
#include "source/battery.h"
#include "source/cpu.h"
#include "source/display.h"
#include "util/util.h"

#define CPUS_MAX 1024

/* Calls @each for every entry of a folder until it returns true. */
static bool any(int root_fd, const char *folder, bool (*each)(int fd, const char *name, void *data),
                void *data)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, folder);
        struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                if (entry->d_name[0] != '.' && each(dirfd(dir), entry->d_name, data))
                        return true;
        return false;
}

static bool read_number(int root_fd, const char *path, uint64_t *ret)
{
        char text[32];

        return util_read_at(root_fd, path, text, sizeof(text)) > 0 && util_parse_u64(text, ret) == 0;
}

/* A state that a core leaves after less than that turns little off. */
#define DEEP_RESIDENCY_US 500

/*
 * The kernel lists the states of a CPU (Documentation/admin-guide/pm/cpuidle.rst); the deepest that is not disabled
 * decides. Whether it is entered is not asked.
 */
static void see_idle_states(int root_fd, const char *cpu, enum idle_states *ret)
{
        for (unsigned state = 0;; state++) {
                char path[512];
                uint64_t residency_us, disabled = 0;

                snprintf(path, sizeof(path), "sys/devices/system/cpu/%s/cpuidle/state%u/residency", cpu, state);
                if (!read_number(root_fd, path, &residency_us))
                        return;
                snprintf(path, sizeof(path), "sys/devices/system/cpu/%s/cpuidle/state%u/disable", cpu, state);
                if (read_number(root_fd, path, &disabled) && disabled)
                        continue;
                if (*ret == IDLE_STATES_UNKNOWN)
                        *ret = IDLE_STATES_SHALLOW;
                if (residency_us > DEEP_RESIDENCY_US)
                        *ret = IDLE_STATES_DEEP;
        }
}

void describe_idle_states(int root_fd, struct hardware_description *description)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/devices/system/cpu");
        struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                if (strncmp(entry->d_name, "cpu", 3) == 0 && entry->d_name[3] >= '0' && entry->d_name[3] <= '9' &&
                    strlen(entry->d_name) < 16)
                        see_idle_states(root_fd, entry->d_name, &description->idle_states);
}

/* All batteries together, with the same corrections as in the samples. */
static bool describe_battery(int root_fd, struct hardware_description *description)
{
        _cleanup_free_ struct battery_unit *units = NULL;
        struct battery sum;
        size_t n = 0;

        if (battery_list(root_fd, &units, &n, NULL) < 0 || n == 0)
                return false;
        battery_sum(units, n, &sum);
        description->voltage = sum.have & BATTERY_VOLTAGE;
        description->current_sensor = sum.have & BATTERY_POWER;
        description->fine_level = sum.have & (BATTERY_CHARGE_NOW | BATTERY_ENERGY_NOW);
        if (sum.have & BATTERY_ENERGY_FULL)
                description->energy_full_mwh = description->rough_mwh = (double)sum.energy_full_uwh / 1e3;
        else if (sum.have & BATTERY_CHARGE_FULL && sum.have & BATTERY_VOLTAGE)
                description->rough_mwh = (double)sum.charge_full_uah * (double)sum.voltage_uv / 1e9;
        return true;
}

/* Storages with a device; loop, ram, zram and dm have none. */
static bool see_disk(int fd, const char *name, void *data)
{
        struct hardware_description *description = data;
        char path[512];

        snprintf(path, sizeof(path), "%s/device", name);
        if (faccessat(fd, path, F_OK, 0) == 0 && description->n_disks < ARRAY_SIZE(description->disks))
                snprintf(description->disks[description->n_disks++], sizeof(description->disks[0]), "%.63s",
                         name);
        return false;
}

static bool see_wifi(int fd, const char *name, void *data)
{
        char path[512];

        snprintf(path, sizeof(path), "%s/phy80211", name);
        return faccessat(fd, path, F_OK, 0) == 0;
}

static bool see_gpu(int fd, const char *name, void *data)
{
        return strncmp(name, "renderD", 7) == 0;
}

/* Without a list of frequencies: the ones that a calibration would use. */
static void describe_limits(int root_fd, const struct cpu_policy *from, struct hardware_policy *policy)
{
        uint64_t min, max;

        if (cpu_limits(root_fd, from, &min, &max))
                policy->n_khz = cpu_grid(root_fd, policy->policy, min, max, policy->khz);
}

static int describe_policies(int root_fd, struct hardware_description *description)
{
        _cleanup_free_ struct cpu_policy *list = NULL;
        size_t n = 0;
        int err = cpu_list(root_fd, &list, &n);

        for (size_t i = 0; !err && i < n; i++) {
                struct hardware_policy policy = {
                        .policy = list[i].policy,
                        .n_cpus = (uint32_t)list[i].n_cpus,
                        .n_khz = MIN(list[i].n_khz, ARRAY_SIZE(policy.khz)),
                };

                memcpy(policy.khz, list[i].khz, policy.n_khz * sizeof(policy.khz[0]));
                cpu_print_list(list[i].cpus, list[i].n_cpus, policy.cpus, sizeof(policy.cpus));
                if (policy.n_khz == 0)
                        describe_limits(root_fd, &list[i], &policy);
                group_add(description, &policy, list[i].kind, true);
        }
        return err ? err : (int)n;
}

static void describe_cpus(int root_fd, struct hardware_description *description)
{
        struct hardware_policy *policy = &description->policies[0];
        uint32_t cpus[CPUS_MAX];
        char text[4096];
        size_t n;

        if (describe_policies(root_fd, description) > 0 ||
            util_read_at(root_fd, "sys/devices/system/cpu/online", text, sizeof(text)) <= 0)
                return;
        n = cpu_parse_list(text, cpus, ARRAY_SIZE(cpus));
        if (n == 0)
                return;
        /* No cpufreq: one policy of all cores, at an unknown frequency. */
        description->n_policies = 1;
        *policy = (struct hardware_policy){ .n_cpus = (uint32_t)n, .n_khz = 1 };
        cpu_print_list(cpus, n, policy->cpus, sizeof(policy->cpus));
}

void describe_machine_battery(int root_fd, struct hardware_description *description)
{
        *description = (struct hardware_description){ .energy_full_mwh = NAN, .rough_mwh = NAN };
        snprintf(description->device, sizeof(description->device), PROFILE_DEVICE_HERE);
        description->battery = describe_battery(root_fd, description);
}

void describe_machine(int root_fd, struct hardware_description *description)
{
        struct display_state display;

        describe_machine_battery(root_fd, description);
        describe_idle_states(root_fd, description);
        if (display_look(root_fd, &display) == 0 && display.certain)
                description->max_brightness = display.max_brightness;
        any(root_fd, "sys/block", see_disk, description);
        description->wifi = any(root_fd, "sys/class/net", see_wifi, NULL);
        description->gpu = any(root_fd, "dev/dri", see_gpu, NULL);
        describe_cpus(root_fd, description);
}
