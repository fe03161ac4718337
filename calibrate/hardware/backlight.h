/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The panel's backlight: brightness, and on or off. */

#include <stdbool.h>
#include <stdint.h>

#include "hold/settings.h"
#include "source/display.h"

struct backlight {
        int root_fd;                /* the caller's */
        const struct log *log;
        uint32_t max;               /* 0: this machine has none */
        char brightness[128];       /* names of settings */
        char power[128];            /* "": cannot be switched */
        struct settings *settings;
        uint32_t held;              /* as the driver rounded it; BRIGHTNESS_UNKNOWN: nothing is held */
        bool off;
        bool told;                  /* logged that somebody else sets it, too */
};

void backlight_init(struct backlight *backlight, int root_fd, const struct display_state *state,
                    const struct log *log);
int backlight_prepare(struct backlight *backlight, struct settings *settings);
/* Switches it on, at 1 to the maximum. Errors are logged. */
int backlight_hold(struct backlight *backlight, uint32_t brightness);
/* -EOPNOTSUPP: cannot be switched. */
int backlight_switch(struct backlight *backlight, bool on);
/* Is it still at the held brightness? If not, sets it again. */
int backlight_check(struct backlight *backlight);
/* Holds nothing any more. */
void backlight_let_go(struct backlight *backlight);
