/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A modem as a part: only traffic, and only if the user asked for it. It is neither connected nor switched off, as that
 * would end calls.
 */

#include "cellular.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "hold/interface.h"
#include "link.h"
#include "source/net.h"
#include "util/util.h"

struct part_cellular {
        struct part part; /* first */
        int root_fd;
        struct link link;
};

static struct part_cellular *cellular_of(struct part *part)
{
        return (struct part_cellular *)part;
}

int cellular_find(int root_fd, char *interface, size_t size)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/class/net");
        int found = -ENODEV;
        struct dirent *entry;

        while (dir && (entry = readdir(dir))) {
                if (entry->d_name[0] == '.' || strlen(entry->d_name) >= size ||
                    net_kind_of_packets(root_fd, entry->d_name) != NET_CELLULAR)
                        continue;
                if (!found && !interface_has_address(entry->d_name))
                        continue;
                snprintf(interface, size, "%s", entry->d_name);
                found = 0;
        }
        return found;
}

static int describe(struct part *part, struct hardware_description *description)
{
        description->cellular = true;
        return 0;
}

static void limit(struct part *part, enum air air, double bytes)
{
        struct link *link = &cellular_of(part)->link;

        if (air != AIR_CELLULAR)
                return;
        link->limit_bytes = bytes;
        log_info(link->log, "%s: at most %.1f MB are transferred, as asked, also where its network is metered",
                 link->interface, bytes / 1e6);
}

static int prepare(struct part *part, struct settings *settings)
{
        return 0;
}

static int apply(struct part *part, const struct mode *mode)
{
        struct link *link = &cellular_of(part)->link;
        int err = link_set(link, NULL);

        if (err || !link_has_load(link, mode))
                return err;
        return interface_has_address(link->interface) ? link_begin(link, mode) : -ENETDOWN;
}

static int check(struct part *part)
{
        link_check(&cellular_of(part)->link);
        return 0;
}

static void stop(struct part *part)
{
        link_set(&cellular_of(part)->link, NULL);
}

static void close_cellular(struct part *part)
{
        struct part_cellular *cellular = cellular_of(part);

        link_close(&cellular->link);
        closep(&cellular->root_fd);
        free(cellular);
}

static const struct part_ops cellular_ops = {
        .name = "cellular",
        .describe = describe,
        .limit_air = limit,
        .prepare = prepare,
        .apply = apply,
        .check = check,
        .stop = stop,
        .close = close_cellular,
};

static int find_traffic(struct part_cellular *cellular, const struct machine_hardware *machine)
{
        struct link *link = &cellular->link;
        const struct traffic_where where = { .interface = link->interface, .peer = machine->cellular_peer };
        int err = cellular_find(cellular->root_fd, link->interface, sizeof(link->interface));

        if (err || !interface_has_address(link->interface)) {
                log_error(link->log, "--cellular-peer: %s", err ? "this machine has no modem's interface (wwan)" :
                                                                   "the modem is not connected: its interface has no"
                                                                   " address");
                return err ? -ENXIO : -ENETDOWN;
        }
        err = link_open(link, &where);
        if (err == -EINVAL)
                log_error(link->log, "--cellular-peer: \"%s\" is not HOST or HOST:PORT", machine->cellular_peer);
        return err;
}

int cellular_open(int root_fd, const struct machine_hardware *machine, struct part **ret)
{
        struct part_cellular *cellular;
        int err;

        if (!machine->cellular_peer)
                return -ENODEV;
        cellular = calloc(1, sizeof(*cellular));
        if (!cellular)
                return -ENOMEM;
        cellular->part.ops = &cellular_ops;
        cellular->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        cellular->link = (struct link){ .log = machine->log, .root_fd = cellular->root_fd, .air = AIR_CELLULAR,
                                        .limit_option = "cellular-limit", .not_measured = "cellular.radio",
                                        .may_cost = true };
        err = cellular->root_fd < 0 ? -errno : find_traffic(cellular, machine);
        if (err) {
                close_cellular(&cellular->part);
                return err;
        }
        *ret = &cellular->part;
        return 0;
}

int hardware_cellular_open(const struct machine_hardware *machine, struct part **ret)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd < 0 ? -errno : cellular_open(root_fd, machine, ret);
}
