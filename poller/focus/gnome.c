/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * GNOME Shell has no interface for the focused window. Our extension (data/gnome-extension) reports it over
 * D-Bus as soon as our name appears on the bus. Without it the agent waits: the user may enable it at any time.
 */

#include <errno.h>
#include <stdlib.h>

#include "bus.h"

struct backend {
        struct backend_base base;
        struct bus *bus;
};

static void stop(struct backend *backend)
{
        bus_close(backend->bus);
}

static int start(struct backend *backend)
{
        int err = bus_open(backend->base.sink, "org.gnome.Shell", &backend->bus);

        backend->base.fd = err ? -1 : bus_fd(backend->bus);
        return err;
}

static int dispatch_gnome(struct backend *backend)
{
        return bus_dispatch(backend->bus);
}

const struct backend_ops gnome_backend = {
        .name = "gnome",
        .size = sizeof(struct backend),
        .probe = bus_probe,
        .start = start,
        .dispatch = dispatch_gnome,
        .stop = stop,
        .patient = true,
};
