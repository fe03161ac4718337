/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * gamescope as the session (Steam Deck): atoms on the root window of its first Xwayland.
 * GAMESCOPE_FOCUSABLE_WINDOWS holds triplets of window, Steam's number of the app, pid.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend.h"
#include "util/util.h"
#include "desktop/x-server.h"

#define FOCUSABLE_MAX 64
#define STEAM_CLIENT 769 /* app number of Steam's own window */

enum atom { FOCUSED_WINDOW, FOCUSED_APP, FOCUSABLE_WINDOWS, N_ATOMS };
static const char *const names[N_ATOMS] = {
        [FOCUSED_WINDOW] = "GAMESCOPE_FOCUSED_WINDOW",
        [FOCUSED_APP] = "GAMESCOPE_FOCUSED_APP",
        [FOCUSABLE_WINDOWS] = "GAMESCOPE_FOCUSABLE_WINDOWS",
};

struct backend {
        struct backend_base base;
        struct x_server *display;
        uint32_t atoms[N_ATOMS];
};

static uint32_t value(struct backend *backend, enum atom atom)
{
        uint32_t number = 0;

        x_server_values(backend->display, x_server_root(backend->display), backend->atoms[atom], &number, 1);
        return number;
}

static pid_t focusable_pid(struct backend *backend, uint32_t window, uint32_t *app)
{
        uint32_t triplets[3 * FOCUSABLE_MAX];
        size_t n = x_server_values(backend->display, x_server_root(backend->display),
                                  backend->atoms[FOCUSABLE_WINDOWS],
                                  triplets, ARRAY_SIZE(triplets));

        for (size_t i = 0; i + 2 < n; i += 3)
                if (triplets[i] == window) {
                        if (!*app)
                                *app = triplets[i + 1];
                        return triplets[i + 2] <= INT32_MAX ? (pid_t)triplets[i + 2] : 0;
                }
        return 0;
}

static void report(struct backend *backend)
{
        uint32_t window = value(backend, FOCUSED_WINDOW), app = value(backend, FOCUSED_APP);
        char app_id[FOCUS_APP_MAX] = "";
        pid_t pid;

        if (!window && !app) {
                focus_report(backend->base.sink, 0, "");
                return;
        }
        pid = focusable_pid(backend, window, &app);
        if (pid <= 0 && window)
                pid = x_server_pid(backend->display, window);
        if (app == STEAM_CLIENT)
                snprintf(app_id, sizeof(app_id), "steam");
        else if (app)
                snprintf(app_id, sizeof(app_id), "steam_app_%u", app);
        else if (window)
                x_server_class(backend->display, window, app_id, sizeof(app_id));
        focus_report(backend->base.sink, pid, app_id);
}

/* A gamescope nested in another desktop sets its atoms on its own display, not on this session's. */
static const char *probe_gamescope(void)
{
        return getenv("DISPLAY") ? NULL : "DISPLAY is not set";
}

static void stop(struct backend *backend)
{
        x_server_close(backend->display);
}

static int start(struct backend *backend)
{
        uint32_t any;
        int err = x_server_open(&backend->display);

        if (err)
                return err;
        backend->base.fd = x_server_fd(backend->display);
        for (size_t i = 0; i < N_ATOMS; i++)
                backend->atoms[i] = x_server_atom(backend->display, names[i]);
        if (x_server_values(backend->display, x_server_root(backend->display), backend->atoms[FOCUSED_WINDOW], &any,
                           1) != 1 &&
            x_server_values(backend->display, x_server_root(backend->display), backend->atoms[FOCUSED_APP], &any,
                           1) != 1)
                return -EOPNOTSUPP;
        report(backend);
        return 0;
}

static int dispatch_gamescope(struct backend *backend)
{
        int changed;

        while ((changed = x_server_changed(backend->display, backend->atoms, N_ATOMS)) > 0)
                report(backend);
        return changed;
}

const struct backend_ops gamescope_backend = {
        .name = "gamescope",
        .size = sizeof(struct backend),
        .probe = probe_gamescope,
        .start = start,
        .dispatch = dispatch_gamescope,
        .stop = stop,
};
