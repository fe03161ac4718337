/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The user's own systemd, over the session bus: CPUQuota and freezing of units. Each call waits at most two
 * seconds for the reply. Settings last until the unit ends or the machine reboots.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct unit_manager;

/* Returns 0; -EOPNOTSUPP: this build has no D-Bus; another negative errno: there is no bus. */
int unit_manager_open(struct unit_manager **ret);
void unit_manager_close(struct unit_manager *manager);

struct unit_now {
        uint64_t quota_us; /* CPU time per second; UINT64_MAX: no limit */
        bool frozen;       /* or about to be */
        char cgroup[4096];
};

/* Returns 0; -ENOENT: the unit does not run; another negative errno: no reply. */
int unit_manager_read(struct unit_manager *manager, const char *unit, struct unit_now *ret);
int unit_manager_set_quota(struct unit_manager *manager, const char *unit, uint64_t quota_us);
/* -ENOTSUP: the kernel or the manager cannot */
int unit_manager_freeze(struct unit_manager *manager, const char *unit);
int unit_manager_thaw(struct unit_manager *manager, const char *unit);

/*
 * Calls @visit for each process that keeps the device from sleeping or its screen on. Returns 0 or a negative
 * errno.
 */
int unit_manager_inhibitors(void (*visit)(void *data, pid_t pid), void *data);
