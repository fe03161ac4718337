/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * GNOME Shell tells nobody who has the focus; a small extension of ours (data/gnome-extension) does, by
 * D-Bus, as soon as our name appears on the bus. Without it we wait: the user may switch it on at any time.
 */

#include <errno.h>
#include <stdlib.h>

#include "bus.h"

struct backend {
        struct bus *bus;
};

static void close_gnome(struct backend *backend)
{
        bus_close(backend->bus);
        free(backend);
}

static int open_gnome(struct focus_sink *sink, struct backend **ret)
{
        struct backend *backend = calloc(1, sizeof(*backend));
        int err;

        if (!backend)
                return -ENOMEM;
        err = bus_open(sink, "org.gnome.Shell", &backend->bus);
        if (err) {
                close_gnome(backend);
                return err;
        }
        *ret = backend;
        return 0;
}

static int fd_gnome(const struct backend *backend)
{
        return bus_fd(backend->bus);
}

static int dispatch_gnome(struct backend *backend)
{
        return bus_dispatch(backend->bus);
}

const struct backend_ops gnome_backend = {
        .name = "gnome",
        .probe = bus_probe,
        .open = open_gnome,
        .fd = fd_gnome,
        .dispatch = dispatch_gnome,
        .close = close_gnome,
        .patient = true,
};
