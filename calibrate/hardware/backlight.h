/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The panel's backlight as the kernel's class shows it: how bright, and on or off. */

#include <stdbool.h>
#include <stdint.h>

#include "hold/settings.h"
#include "source/display.h"

struct backlight {
        int root_fd;                /* the caller's */
        const struct log *log;
        uint32_t max;               /* 0: this machine has none */
        char brightness[128];       /* names of settings */
        char power[128];            /* "": it cannot be switched */
        struct settings *settings;
        uint32_t held;              /* what the driver made of what was asked; BRIGHTNESS_UNKNOWN: none */
        bool off;
        bool told;                  /* that somebody else sets it, too */
};

void backlight_init(struct backlight *backlight, int root_fd, const struct display_state *state,
                    const struct log *log);
int backlight_prepare(struct backlight *backlight, struct settings *settings);
/* Lit, and so bright: 1 to the maximum. Errors have said their sentence. */
int backlight_hold(struct backlight *backlight, uint32_t brightness);
/* -EOPNOTSUPP: it cannot be switched. */
int backlight_switch(struct backlight *backlight, bool on);
/* Whether it is as bright as it was held; if somebody else changed it, it is held again. */
int backlight_check(struct backlight *backlight);
/* Nothing is held any more. */
void backlight_let_go(struct backlight *backlight);
