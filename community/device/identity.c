/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "traits.h"
#include "util/util.h"

#define TREE_COMPATIBLE "sys/firmware/devicetree/base/compatible"
#define EDID_HEAD "\0\377\377\377\377\377\377\0"

/* "model name" of x86; the system on a chip is the last compatible string of a
 * device tree. */
static void read_cpu(int root_fd, char *buf)
{
        static char text[1 << 20];
        char *line = util_read_at(root_fd, "proc/cpuinfo", text, sizeof(text)) > 0
                             ? strstr(text, "model name")
                             : NULL;
        ssize_t n;

        line = line ? strchr(line, ':') : NULL;
        if (line) {
                line[strcspn(line, "\n@")] = '\0';
                traits_plain(line + 1, buf, CARD_NAME_SIZE);
                return;
        }
        n = util_read_at(root_fd, TREE_COMPATIBLE, text, 4096);
        for (ssize_t at = 0; at < n; at += (ssize_t)strlen(text + at) + 1)
                if (text[at])
                        snprintf(buf, CARD_NAME_SIZE, "%.*s", CARD_NAME_SIZE - 1, text + at);
}

/* Calls @read for the folders of @parent that a glob finds, by name, until it
 * finds a name. */
static void first_of(int root_fd, const char *parent, const char *glob,
                     void (*read)(int fd, const char *name, char *buf), char *buf)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, parent);
        struct dirent **entries = NULL;
        int n = dir ? scandirat(dirfd(dir), ".", &entries, NULL, alphasort) : 0;

        for (int i = 0; i < n; i++) {
                if (!*buf && fnmatch(glob, entries[i]->d_name, 0) == 0)
                        read(dirfd(dir), entries[i]->d_name, buf);
                free(entries[i]);
        }
        free(entries);
}

/* Maker and product of an EDID (VESA E-EDID 1.4, 3.4), as in "BOE 07C9". The
 * serial number, behind them, is not read. */
static void read_panel(int fd, const char *name, char *buf)
{
        char path[300], text[1024];
        const unsigned char *edid = (const unsigned char *)text;
        unsigned maker;

        snprintf(path, sizeof(path), "%s/edid", name);
        if (util_read_at(fd, path, text, sizeof(text)) < 128 || memcmp(text, EDID_HEAD, 8) != 0)
                return;
        maker = (unsigned)edid[8] << 8 | edid[9];
        snprintf(buf, CARD_NAME_SIZE, "%c%c%c %02X%02X", 'A' - 1 + (maker >> 10 & 31),
                 'A' - 1 + (maker >> 5 & 31), 'A' - 1 + (maker & 31), edid[11], edid[10]);
}

/* The type of a device on its bus. */
static void read_radio(int fd, const char *name, char *buf)
{
        static const char *const keys[] = { "PCI_ID=", "SDIO_ID=", "PRODUCT=", "OF_COMPATIBLE_0=" };
        char path[300], text[4096];

        snprintf(path, sizeof(path), "%s/wireless", name);
        if (faccessat(fd, path, F_OK, 0) < 0)
                return;
        snprintf(path, sizeof(path), "%s/device/uevent", name);
        if (util_read_at(fd, path, text, sizeof(text)) <= 0)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(keys) && !*buf; i++) {
                const char *found = strstr(text, keys[i]);

                if (found && (found == text || found[-1] == '\n')) {
                        found += strlen(keys[i]);
                        snprintf(buf, CARD_NAME_SIZE, "%.*s",
                                 (int)MIN(strcspn(found, "\n"), CARD_NAME_SIZE - 1u), found);
                }
        }
}

/* "virtual:laptop", "virtual:/home/a/laptop.ini" */
static void name_virtual(const char *device, char *buf)
{
        const char *name = device ? strrchr(device, '/') : NULL;
        char text[CARD_NAME_SIZE];

        name = name ? name + 1 : device && strchr(device, ':') ? strchr(device, ':') + 1 : "";
        snprintf(text, sizeof(text), "virtual %.*s", (int)MIN(strcspn(name, "."), 48u), name);
        traits_plain(text, buf, CARD_NAME_SIZE);
}

void identity_read(int root_fd, const char *device, struct card_names *ret)
{
        *ret = (struct card_names){ .of = { "" } };
        if (root_fd < 0) {
                name_virtual(device, ret->of[CARD_MODEL]);
        } else {
                traits_read_model(root_fd, ret->of[CARD_MODEL], CARD_NAME_SIZE);
                read_cpu(root_fd, ret->of[CARD_CPU]);
                first_of(root_fd, "sys/class/drm", "card*-eDP-*", read_panel, ret->of[CARD_PANEL]);
                first_of(root_fd, "sys/class/drm", "card*-LVDS-*", read_panel, ret->of[CARD_PANEL]);
                first_of(root_fd, "sys/class/drm", "card*-DSI-*", read_panel, ret->of[CARD_PANEL]);
                first_of(root_fd, "sys/class/net", "*", read_radio, ret->of[CARD_RADIO]);
        }
        for (int part = 0; part < CARD_PARTS; part++)
                if (!card_is_name(ret->of[part]))
                        *ret->of[part] = '\0';
}
