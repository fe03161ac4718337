/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A radio's power save as a setting that can be restored: "nl80211:wlan0/power_save" is 0 or 1. */

#include "power-save.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attribute.h"
#include "nl80211.h"

#define PREFIX "nl80211:"
#define SUFFIX "/power_save"

int power_save_name(const char *interface, char *buf, size_t size)
{
        return snprintf(buf, size, PREFIX "%s" SUFFIX, interface) < (int)size ? 0 : -ENAMETOOLONG;
}

static int interface_of(const char *name, char *buf, size_t size)
{
        const char *begin = name + strlen(PREFIX), *end = strchr(name, '/');

        if (strncmp(name, PREFIX, strlen(PREFIX)) || !end || strcmp(end, SUFFIX) || end <= begin ||
            (size_t)(end - begin) >= size)
                return -EINVAL;
        memcpy(buf, begin, (size_t)(end - begin));
        buf[end - begin] = '\0';
        return 0;
}

/* An interface that is gone or has no power save has no such setting. */
static int missing(int err)
{
        return err == -ENODEV || err == -ENOSYS || err == -EOPNOTSUPP ? -ENOENT : err;
}

static int power_save_read(int root_fd, const char *name, char *buf, size_t size)
{
        struct nl80211 *nl = NULL;
        char interface[32];
        bool on = false;
        int err = interface_of(name, interface, sizeof(interface));

        if (!err)
                err = nl80211_open(&nl);
        if (!err)
                err = nl80211_power_save(nl, interface, &on);
        nl80211_close(nl);
        if (err)
                return missing(err);
        snprintf(buf, size, "%d", on);
        return 0;
}

static int power_save_write(int root_fd, const char *name, const char *value)
{
        struct nl80211 *nl = NULL;
        char interface[32];
        int err = interface_of(name, interface, sizeof(interface));

        if (!err)
                err = nl80211_open(&nl);
        if (!err)
                err = nl80211_set_power_save(nl, interface, strcmp(value, "0") != 0);
        nl80211_close(nl);
        return missing(err);
}

const struct setting_medium power_save_medium = { PREFIX, power_save_read, power_save_write };
