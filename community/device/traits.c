/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traits.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#include "source/battery.h"
#include "util/util.h"
#include "versions.h"

#define WEAR_STEP 10
#define MESA_PACKAGE "libgl1-mesa-dri"

char *traits_plain(const char *text, char *buf, size_t size)
{
        size_t length = 0;

        for (; *text && length + 1 < size; text++)
                if (isalnum((unsigned char)*text) || (length && strchr(" ._+~:/()-", *text)))
                        buf[length++] = *text;
        while (length && buf[length - 1] == ' ')
                length--;
        buf[length] = '\0';
        return buf;
}

static void read_plain(int root_fd, const char *path, char *buf, size_t size)
{
        char text[256] = "", line[256];

        if (util_read_at(root_fd, path, text, sizeof(text)) < 0)
                return;
        snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
        traits_plain(line, buf, size);
}

/* ID and VERSION_ID of os-release(5). */
static void read_os(int root_fd, char *buf, size_t size)
{
        char text[8192], id[32] = "", version[16] = "", *rest = text, *line;

        if (util_read_at(root_fd, "etc/os-release", text, sizeof(text)) < 0 &&
            util_read_at(root_fd, "usr/lib/os-release", text, sizeof(text)) < 0)
                return;
        while ((line = strsep(&rest, "\n"))) {
                if (strncmp(line, "ID=", 3) == 0)
                        traits_plain(line + 3, id, sizeof(id));
                else if (strncmp(line, "VERSION_ID=", 11) == 0)
                        traits_plain(line + 11, version, sizeof(version));
        }
        snprintf(buf, size, "%s%s%s", id, *id && *version ? " " : "", version);
}

void traits_read_model(int root_fd, char *buf, size_t size)
{
        char vendor[48] = "", product[64] = "", joined[128];

        read_plain(root_fd, "sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
        read_plain(root_fd, "sys/class/dmi/id/product_name", product, sizeof(product));
        if (!*product)
                read_plain(root_fd, "sys/firmware/devicetree/base/model", product, sizeof(product));
        snprintf(joined, sizeof(joined), "%s %s", vendor, product);
        traits_plain(joined, buf, size);
}

/* Only digits and dots are read; the rest identifies the builder. */
static void read_kernel(int root_fd, char *buf, size_t size)
{
        char text[128] = "";

        if (util_read_at(root_fd, "proc/sys/kernel/osrelease", text, sizeof(text)) < 0)
                return;
        snprintf(buf, size, "%.*s", (int)strspn(text, "0123456789."), text);
}

static void read_wear(int root_fd, char *buf, size_t size)
{
        _cleanup_free_ struct battery_unit *units = NULL;
        uint64_t now = 0, design = 0, percent;
        size_t n = 0;

        if (battery_list(root_fd, &units, &n, NULL))
                return;
        for (size_t i = 0; i < n; i++) {
                const struct battery_unit *unit = &units[i];

                if (unit->energy_full_design_uwh && (unit->battery.have & BATTERY_ENERGY_FULL)) {
                        now += unit->battery.energy_full_uwh;
                        design += unit->energy_full_design_uwh;
                } else if (n == 1 && unit->charge_full_design_uah && (unit->battery.have & BATTERY_CHARGE_FULL)) {
                        now = unit->battery.charge_full_uah;
                        design = unit->charge_full_design_uah;
                }
        }
        if (!design)
                return;
        percent = 100 * now / design;
        if (percent >= 100)
                snprintf(buf, size, "100");
        else if (percent < 50)
                snprintf(buf, size, "0-50");
        else
                snprintf(buf, size, "%llu-%llu", (unsigned long long)(percent / WEAR_STEP * WEAR_STEP),
                         (unsigned long long)(percent / WEAR_STEP * WEAR_STEP + WEAR_STEP));
}

void traits_read(int root_fd, const struct profile *profile, struct traits *ret)
{
        const char *const mesa[] = { MESA_PACKAGE };
        char version[1][VERSION_SIZE], name[PROFILE_NAME_MAX + 16];

        *ret = (struct traits){ .os = "" };
        snprintf(ret->power_model, sizeof(ret->power_model), "%s", profile_basis(profile));
        if (root_fd < 0) {
                snprintf(name, sizeof(name), "virtual %s", profile->device);
                traits_plain(name, ret->model, sizeof(ret->model));
                return;
        }
        read_os(root_fd, ret->os, sizeof(ret->os));
        traits_read_model(root_fd, ret->model, sizeof(ret->model));
        read_kernel(root_fd, ret->kernel, sizeof(ret->kernel));
        read_plain(root_fd, "sys/class/dmi/id/bios_version", ret->firmware, sizeof(ret->firmware));
        read_wear(root_fd, ret->wear, sizeof(ret->wear));
        versions_of_packages(root_fd, mesa, 1, version);
        snprintf(ret->mesa, sizeof(ret->mesa), "%s", version[0]);
}
