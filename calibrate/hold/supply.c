/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Power supplies other than batteries (Documentation/ABI/testing/sysfs-class-power). With a weak charger the
 * battery discharges although the charger feeds part of the load; the battery's status alone would not show
 * it.
 */

#include "supply.h"

#include <dirent.h>
#include <string.h>

#include "util/util.h"

#define CLASS "sys/class/power_supply"

/* First line of CLASS/NAME/FILE; "" if there is none. */
static const char *read_word(int class_fd, const char *name, const char *file, char *buf, size_t size)
{
        char path[320];

        snprintf(path, sizeof(path), "%s/%s", name, file);
        if (util_read_at(class_fd, path, buf, size) < 0)
                return "";
        buf[strcspn(buf, "\n")] = '\0';
        return buf;
}

/* A mouse's dock has scope Device; a USB port's `online` is 1 for fixed and 2 for programmable voltage. */
static bool feeds(int class_fd, const char *name)
{
        char buf[64];

        if (strcmp(read_word(class_fd, name, "scope", buf, sizeof(buf)), "Device") == 0)
                return false;
        read_word(class_fd, name, "type", buf, sizeof(buf));
        if (strcmp(buf, "Mains") != 0 && strncmp(buf, "USB", 3) != 0 && strcmp(buf, "Wireless") != 0)
                return false;
        read_word(class_fd, name, "online", buf, sizeof(buf));
        return strcmp(buf, "1") == 0 || strcmp(buf, "2") == 0;
}

bool supply_online(int root_fd)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, CLASS);
        struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                if (entry->d_name[0] != '.' && feeds(dirfd(dir), entry->d_name))
                        return true;
        return false;
}
