/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* X11 sessions whose window manager publishes the active window (EWMH). */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "desktop/x-server.h"
#include "backend.h"

struct backend {
        struct backend_base base;
        struct x_server *display;
        uint32_t active;
};

static void report(struct backend *backend)
{
        char class[FOCUS_APP_MAX];
        uint32_t window = 0;

        x_server_values(backend->display, x_server_root(backend->display), backend->active, &window, 1);
        if (!window || !x_server_watch(backend->display, window)) {
                focus_report(backend->base.sink, 0, "");
                return;
        }
        x_server_class(backend->display, window, class, sizeof(class));
        focus_report(backend->base.sink, x_server_pid(backend->display, window), class);
}

static const char *probe_x11(void)
{
        const char *type = getenv("XDG_SESSION_TYPE");

        if (!getenv("DISPLAY"))
                return "DISPLAY is not set";
        /* Xwayland does not see Wayland windows, and looks like any other X server. */
        if (getenv("WAYLAND_DISPLAY") || (type && strcmp(type, "wayland") == 0))
                return "the session uses Wayland, where X11 sees only some windows";
        return NULL;
}

static void stop(struct backend *backend)
{
        x_server_close(backend->display);
}

/* A window manager with EWMH publishes a window of its own on the root window. */
static bool has_manager(struct x_server *display)
{
        uint32_t window;

        return x_server_values(display, x_server_root(display),
                              x_server_atom(display, "_NET_SUPPORTING_WM_CHECK"), &window, 1) == 1;
}

static int start(struct backend *backend)
{
        int err = x_server_open(&backend->display);

        if (err)
                return err;
        if (!has_manager(backend->display))
                return -EOPNOTSUPP;
        backend->base.fd = x_server_fd(backend->display);
        backend->active = x_server_atom(backend->display, "_NET_ACTIVE_WINDOW");
        report(backend);
        return 0;
}

/* report() reads from the socket, so new events may be in XCB's queue without making the fd readable. */
static int dispatch_x11(struct backend *backend)
{
        int changed;

        while ((changed = x_server_changed(backend->display, &backend->active, 1)) > 0)
                report(backend);
        return changed;
}

const struct backend_ops x11_backend = {
        .name = "x11",
        .size = sizeof(struct backend),
        .probe = probe_x11,
        .start = start,
        .dispatch = dispatch_x11,
        .stop = stop,
};
