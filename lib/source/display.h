/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The built-in screen, from the kernel's backlights and connectors (sys/class/backlight, sys/class/drm). */

#include <stdbool.h>
#include <stdint.h>

/* A part that the machine does not have is unset. */
struct display_state {
        char backlight[64];      /* name; "": none */
        uint32_t max_brightness; /* 0: unknown */
        bool certain;            /* the backlight is the panel's, see display-choice.h: it may be calibrated */
        bool has_panel;
        bool screen_known;
        bool screen_on;          /* the built-in panel; brightness 0 does not mean off: many panels are still lit */
        bool monitor_on;         /* a monitor on a cable is lit, or may be */
        /* the driver's value; BRIGHTNESS_UNKNOWN without a backlight, or if it may be another's */
        uint32_t brightness;
};

/* Can somebody look at it? On a machine without a panel at its monitor. */
static inline bool display_is_lit(const struct display_state *state)
{
        return state->screen_on || (!state->has_panel && state->monitor_on);
}

/*
 * For the service, which keeps the files open, so that a read takes a few microseconds. Blanking by bl_power or the
 * connector causes no uevent, so it reads at each poll as well as on uevents.
 */
struct display_files;

/* @wanted: see display_choose(). -ENODEV: no backlight and no connector. */
int display_open(int root_fd, const char *wanted, struct display_files **ret);
void display_close(struct display_files *files);
int display_read(const struct display_files *files, struct display_state *ret); /* 0; -ENODATA */

/*
 * Opens and reads everything once, with the backlight set in joulecast.conf. 0; -ENODEV: there is no backlight and no
 * connected screen; -ENOMEM.
 */
int display_look(int root_fd, struct display_state *ret);
