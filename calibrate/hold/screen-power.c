/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The setting "screen:power": is the screen lit? joulecast-picture switches it, and lights it on exit. If it
 * was killed, the compositor, X server or console may leave the screen dark; starting and ending a new one
 * lights it.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attribute.h"
#include "screen-program.h"
#include "source/display.h"

#define TRIES 20
#define PAUSE_MS 100 /* the previous one may still be exiting */

static int read_power(int root_fd, const char *name, char *buf, size_t size)
{
        struct display_state state;
        int err = display_look(root_fd, &state);

        if (err || !state.screen_known)
                return -ENOENT;
        snprintf(buf, size, "%s", display_is_lit(&state) ? "on" : "off");
        return 0;
}

static bool is_on(int root_fd, const char *name)
{
        char text[8];

        return read_power(root_fd, name, text, sizeof(text)) == 0 && strcmp(text, "on") == 0;
}

/* Only lights it: a screen that was dark before is left to its owner. */
static int write_power(int root_fd, const char *name, const char *value)
{
        const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };

        if (strcmp(value, "on") != 0 || !hold_is_running_machine(root_fd))
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
                        return err; /* a display server that hangs; other settings are still to be restored */
        }
        return is_on(root_fd, name) ? 0 : -EIO;
}

const struct setting_medium screen_medium = { .prefix = "screen:", .read = read_power, .write = write_power };
