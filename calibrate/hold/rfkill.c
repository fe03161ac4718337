/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rfkill.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

static int link_end(int root_fd, const char *path, char *ret, size_t size)
{
        char target[PATH_MAX];
        ssize_t length = readlinkat(root_fd, path, target, sizeof(target) - 1);
        const char *slash;

        if (length < 0)
                return -errno;
        target[length] = '\0';
        slash = strrchr(target, '/');
        if (!slash || !slash[1] || strlen(slash + 1) >= size)
                return -EINVAL;
        strcpy(ret, slash + 1);
        return 0;
}

/* The switch of the radio itself (its device is the phy), not of the keyboard, the vendor or Bluetooth. */
static bool is_switch_of(int root_fd, const char *name, const char *phy)
{
        char path[PATH_MAX], device[64];

        snprintf(path, sizeof(path), "sys/class/rfkill/%s/device", name);
        return link_end(root_fd, path, device, sizeof(device)) == 0 && strcmp(device, phy) == 0;
}

int rfkill_find(int root_fd, const char *interface, char *setting, size_t size)
{
        _cleanup_closedir_ DIR *dir = NULL;
        char path[PATH_MAX], phy[64];
        struct dirent *entry;
        int err;

        snprintf(path, sizeof(path), "sys/class/net/%s/phy80211", interface);
        if (link_end(root_fd, path, phy, sizeof(phy)) < 0)
                return -ENODEV;
        dir = util_opendir_at(root_fd, "sys/class/rfkill");
        if (!dir)
                return -ENODEV;
        err = -ENODEV;
        while (err && (entry = readdir(dir)))
                if (entry->d_name[0] != '.' && is_switch_of(root_fd, entry->d_name, phy))
                        err = snprintf(setting, size, "/sys/class/rfkill/%s/soft", entry->d_name) < (int)size
                                      ? 0 : -ENAMETOOLONG;
        return err;
}

bool rfkill_hard_blocked(int root_fd, const char *setting)
{
        char path[PATH_MAX], text[16];

        snprintf(path, sizeof(path), "%.*s/hard", (int)(strrchr(setting, '/') - setting - 1), setting + 1);
        return util_read_at(root_fd, path, text, sizeof(text)) > 0 && text[0] == '1';
}
