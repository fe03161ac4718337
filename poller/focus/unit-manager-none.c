/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit-manager.h"

#include <errno.h>
#include <stddef.h>

int unit_manager_open(struct unit_manager **ret)
{
        (void)ret;
        return -EOPNOTSUPP;
}

void unit_manager_close(struct unit_manager *manager)
{
        (void)manager;
}

int unit_manager_read(struct unit_manager *manager, const char *unit, struct unit_now *ret)
{
        (void)manager;
        (void)unit;
        (void)ret;
        return -EOPNOTSUPP;
}

int unit_manager_set_quota(struct unit_manager *manager, const char *unit, uint64_t quota_us)
{
        (void)manager;
        (void)unit;
        (void)quota_us;
        return -EOPNOTSUPP;
}

int unit_manager_freeze(struct unit_manager *manager, const char *unit)
{
        (void)manager;
        (void)unit;
        return -EOPNOTSUPP;
}

int unit_manager_thaw(struct unit_manager *manager, const char *unit)
{
        (void)manager;
        (void)unit;
        return -EOPNOTSUPP;
}

int unit_manager_inhibitors(void (*visit)(void *data, pid_t pid), void *data)
{
        (void)visit;
        (void)data;
        return -EOPNOTSUPP;
}
