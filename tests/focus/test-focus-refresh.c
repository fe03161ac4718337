/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The refresh rate of the built-in screen, from compositors that send anything, or nothing. */

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wayland-server.h>

#include "check.h"
#include "focus/refresh.h"
#include "util/util.h"

struct screen {
        const char *name; /* NULL: of version 3, which has none */
        int32_t now_mhz, preferred_mhz;
};

struct compositor {
        struct screen screens[2];
        bool hangs;
        uint32_t wanted_mhz;
};

static void bind_output(struct wl_client *client, void *data, uint32_t version, uint32_t id)
{
        const struct screen *screen = data;
        struct wl_resource *output = wl_resource_create(client, &wl_output_interface, (int)version, id);

        wl_output_send_geometry(output, 0, 0, 300, 200, 0, "a", "b", 0);
        wl_output_send_mode(output, WL_OUTPUT_MODE_CURRENT, 1920, 1080, screen->now_mhz);
        wl_output_send_mode(output, WL_OUTPUT_MODE_PREFERRED, 1920, 1080, screen->preferred_mhz);
        if (screen->name)
                wl_output_send_name(output, screen->name);
        wl_output_send_done(output);
}

/* @ready_fd: gets a byte once clients can connect. */
static void compose(struct compositor *compositor, int ready_fd)
{
        struct wl_display *display = wl_display_create();
        const char *name = wl_display_add_socket_auto(display);

        for (size_t i = 0; i < ARRAY_SIZE(compositor->screens); i++) {
                struct screen *screen = &compositor->screens[i];

                if (screen->now_mhz)
                        wl_global_create(display, &wl_output_interface, screen->name ? 4 : 3, screen, bind_output);
        }
        check_int(write(ready_fd, name, strlen(name) + 1), (int64_t)strlen(name) + 1);
        if (compositor->hangs)
                pause();
        wl_display_run(display);
}

static void check_compositor(struct compositor *compositor)
{
        char name[64] = "";
        int fds[2], status;
        pid_t child;

        check_int(pipe(fds), 0);
        child = fork();
        if (child == 0) {
                compose(compositor, fds[1]);
                _exit(0);
        }
        close(fds[1]);
        check(read(fds[0], name, sizeof(name)) > 0);
        close(fds[0]);
        setenv("WAYLAND_DISPLAY", name, 1);
        check_int(refresh_read(), compositor->wanted_mhz);
        kill(child, SIGKILL);
        check_int(waitpid(child, &status, 0), child);
}

int main(void)
{
        static struct compositor compositors[] = {
                { .screens = { { "eDP-1", 60001, 144000 } }, .wanted_mhz = 60001 },
                { .screens = { { "HDMI-A-1", 143981, 60000 }, { "eDP-1", 120000, 60000 } }, .wanted_mhz = 120000 },
                { .screens = { { "DSI-1", 90000, 60000 }, { "Writeback-1", 60000, 60000 } }, .wanted_mhz = 90000 },
                { .screens = { { "HDMI-A-1", 143981, 60000 } } },
                { .screens = { { NULL, 60000, 60000 } } },
                { .screens = { { "eDP-1", -60000, 60000 } } },
                { .screens = { { "eDP-1", INT32_MAX, 60000 } } },
                { .screens = { { "eDP-1", 60, 60000 } } }, /* Hz, not mHz */
                { .screens = { { "eDP-1", 60000, 60000 } }, .hangs = true },
                { .hangs = false },
        };
        char folder[] = "/tmp/joulecast-refresh-XXXXXX", command[64];

        check(mkdtemp(folder) != NULL);
        setenv("XDG_RUNTIME_DIR", folder, 1);
        unsetenv("WAYLAND_DISPLAY");
        check_int(refresh_read(), 0);
        for (size_t i = 0; i < ARRAY_SIZE(compositors); i++)
                check_compositor(&compositors[i]);
        check_int(refresh_read(), 0); /* it is gone */
        snprintf(command, sizeof(command), "rm -r %s", folder);
        check_int(system(command), 0);
        return check_result();
}
