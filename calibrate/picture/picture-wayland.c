/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One plain picture on every output of a Wayland session: one fullscreen window each (xdg-shell), filled from shared
 * memory. Off by zwlr_output_power_management_v1 if the compositor has it. When this process ends, the
 * compositor removes the windows; an output that was switched off stays off, so it is switched on before.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "wayland.h"

#define SETTLE_TURNS 100 /* until windows have their size and outputs their mode: a few turns, or two
                            seconds */
#define SETTLE_MS 20

static bool is_settled(const struct wayland *wayland, bool on)
{
        for (size_t i = 0; i < wayland->n; i++) {
                const struct output *output = &wayland->outputs[i];

                if (output->output && ((output->power && output->lit != on) ||
                                       (on && !wayland_window_is_drawn(output))))
                        return false;
        }
        return true;
}

static int settle(struct wayland *wayland, bool on)
{
        const struct timespec pause = { .tv_nsec = SETTLE_MS * 1000000L };

        for (unsigned i = 0; i < SETTLE_TURNS; i++) {
                if (wl_display_roundtrip(wayland->display) < 0)
                        return -ECONNRESET;
                if (wayland->err)
                        return wayland->err;
                if (is_settled(wayland, on)) /* one more, until it is drawn */
                        return wl_display_roundtrip(wayland->display) < 0 ? -ECONNRESET : 0;
                nanosleep(&pause, NULL);
        }
        return -ETIMEDOUT;
}

/* Some compositors offer to switch an output that they cannot switch, and report no error. */
static int show(struct picture *picture, int shade)
{
        struct wayland *wayland = (struct wayland *)picture;
        bool on = shade != PICTURE_OFF;
        int err;

        wayland->shade = shade;
        for (size_t i = 0; i < wayland->n; i++) {
                struct output *output = &wayland->outputs[i];

                wayland_output_switch(output, on);
                if (on && output->output)
                        wayland_window_show(output);
                else if (!on)
                        wayland_window_take(output);
        }
        err = settle(wayland, on);
        return err == -ETIMEDOUT && !on ? -EOPNOTSUPP : err;
}

/* One output is enough; the others only show windows. */
static bool can_switch(const struct picture *picture)
{
        const struct wayland *wayland = (const struct wayland *)picture;

        for (size_t i = 0; i < wayland->n; i++)
                if (wayland->outputs[i].power)
                        return true;
        return false;
}

static int fd(const struct picture *picture)
{
        return wl_display_get_fd(((const struct wayland *)picture)->display);
}

static int dispatch(struct picture *picture)
{
        struct wayland *wayland = (struct wayland *)picture;

        if (wl_display_roundtrip(wayland->display) < 0)
                return -ECONNRESET;
        return wayland->err;
}

static void close_wayland(struct picture *picture)
{
        struct wayland *wayland = (struct wayland *)picture;

        for (size_t i = 0; i < wayland->n; i++) {
                if (!wayland->outputs[i].lit)
                        wayland_output_switch(&wayland->outputs[i], true);
                wayland_output_drop(&wayland->outputs[i]);
        }
        if (wayland->display) {
                wl_display_roundtrip(wayland->display);
                wl_display_disconnect(wayland->display);
        }
        free(wayland);
}

static int open_wayland(struct picture **ret)
{
        struct wayland *wayland;
        int err;

        if (!getenv("WAYLAND_DISPLAY"))
                return -ENOENT;
        wayland = calloc(1, sizeof(*wayland));
        if (!wayland)
                return -ENOMEM;
        wayland->picture.ops = &picture_wayland;
        wayland->display = wl_display_connect(NULL);
        err = wayland->display ? wayland_look(wayland) : -errno;
        if (err) {
                close_wayland(&wayland->picture);
                return err;
        }
        *ret = &wayland->picture;
        return 0;
}

const struct picture_ops picture_wayland = {
        .name = "wayland",
        .white = true,
        .open = open_wayland,
        .can_switch = can_switch,
        .show = show,
        .fd = fd,
        .events = POLLIN,
        .dispatch = dispatch,
        .close = close_wayland,
};
