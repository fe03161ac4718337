/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * KWin (Plasma, Plasma Mobile; Wayland and X11): a script that KWin runs calls us at each change. The signal, the
 * property and the script's D-Bus path have different names in versions 5 and 6.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus.h"
#include "util/util.h"

#define SCRIPT_NAME "joulecast-focus"

static const char script[] =
        "function tell(window) {\n"
        "    callDBus('" BUS_NAME "', '" BUS_PATH "', '" BUS_NAME "', 'Window', window ? window.pid : 0,\n"
        "             window ? String(window.resourceClass) : '', window ? String(window.desktopFileName) : '');\n"
        "}\n"
        "(workspace.windowActivated ? workspace.windowActivated : workspace.clientActivated).connect(tell);\n"
        "tell(workspace.activeWindow ? workspace.activeWindow : workspace.activeClient);\n";

struct backend {
        struct backend_base base;
        struct bus *bus;
};

static void stop(struct backend *backend)
{
        if (backend->bus)
                bus_call(backend->bus, "/Scripting", "org.kde.kwin.Scripting", "unloadScript", SCRIPT_NAME,
                         NULL, NULL);
        bus_close(backend->bus);
}

static int run_script(struct bus *bus, int number)
{
        static const char *const folders[] = { "/Scripting/Script", "/" }; /* KWin 6, KWin 5 */
        int err = -ENOENT;

        for (size_t i = 0; err && i < ARRAY_SIZE(folders); i++) {
                char path[64];

                snprintf(path, sizeof(path), "%s%d", folders[i], number);
                err = bus_call(bus, path, "org.kde.kwin.Script", "run", NULL, NULL, NULL);
        }
        return err;
}

/* KWin reads the script from a file, here one in the user's runtime folder. */
static int load_script(struct bus *bus)
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        char path[256];
        int number, err;

        if (!runtime || snprintf(path, sizeof(path), "%s/" SCRIPT_NAME ".js", runtime) >= (int)sizeof(path))
                return -ENOENT;
        err = util_write_file(path, script, strlen(script), 0600);
        if (err)
                return err;
        /* Removes a script left by an earlier agent. */
        bus_call(bus, "/Scripting", "org.kde.kwin.Scripting", "unloadScript", SCRIPT_NAME, NULL, NULL);
        err = bus_call(bus, "/Scripting", "org.kde.kwin.Scripting", "loadScript", path, SCRIPT_NAME, &number);
        if (!err)
                err = number < 0 ? -EEXIST : run_script(bus, number);
        unlink(path);
        return err;
}

static int start(struct backend *backend)
{
        int err = bus_open(backend->base.sink, "org.kde.KWin", &backend->bus);

        if (err)
                return err;
        backend->base.fd = bus_fd(backend->bus);
        return load_script(backend->bus);
}

static int dispatch_kwin(struct backend *backend)
{
        return bus_dispatch(backend->bus);
}

const struct backend_ops kwin_backend = {
        .name = "kwin",
        .size = sizeof(struct backend),
        .probe = bus_probe,
        .start = start,
        .dispatch = dispatch_kwin,
        .stop = stop,
};
