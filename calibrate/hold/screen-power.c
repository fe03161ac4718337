/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * "screen:power" as a setting: whether the screen is lit. joulecast-picture switches it, and lights it again
 * on its way out; a compositor, an X server or a console that it was killed under may leave it dark. A new
 * one that ends at once lights it.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attribute.h"
#include "screen-program.h"
#include "source/display.h"

#define TRIES 20
#define PAUSE_MS 100 /* the one of before may still be on its way out */

static int read_power(int root_fd, const char *name, char *buf, size_t size)
{
        struct display_state state;
        int err = display_look(root_fd, &state);

        if (err || !state.screen_known)
                return -ENOENT;
        snprintf(buf, size, "%s", state.screen_on ? "on" : "off");
        return 0;
}

static bool is_on(int root_fd, const char *name)
{
        char text[8];

        return read_power(root_fd, name, text, sizeof(text)) == 0 && strcmp(text, "on") == 0;
}

/* Only ever lit: a screen that was dark is nothing to be put back, its owner darkens it again. */
static int write_power(int root_fd, const char *name, const char *value)
{
        const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };

        if (strcmp(value, "on") != 0 || !is_running_machine(root_fd))
                return -EOPNOTSUPP;
        for (unsigned i = 0; i < TRIES && !is_on(root_fd, name); i++) {
                struct screen_program screen = { 0 };
                int err;

                if (i > 0)
                        nanosleep(&pause, NULL);
                err = screen_program_start("joulecast-picture", &screen);
                if (!err)
                        screen_program_end(&screen);
                if (err == -ETIMEDOUT)
                        return err; /* a display server that hangs; other settings wait behind this one */
        }
        return is_on(root_fd, name) ? 0 : -EIO;
}

const struct setting_medium screen_medium = { .prefix = "screen:", .read = read_power, .write = write_power };
