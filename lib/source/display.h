/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The screen as sysfs shows it; what is unknown is unset. */
struct display_state {
        char backlight[64];      /* name; "": none */
        uint32_t max_brightness; /* 0: unknown */
        bool screen_known;
        bool screen_on;
        uint32_t brightness;     /* BRIGHTNESS_UNKNOWN without a backlight */
};

/* 0; -ENODEV: there is neither a backlight nor a connected screen. */
int display_look(int root_fd, struct display_state *ret);
