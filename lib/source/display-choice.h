/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds the backlight that drives the built-in panel, by one table of rules (display-choice.c). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKLIGHT_NAME_MAX 64
#define BACKLIGHTS_MAX 16

struct backlight_candidate {
        char name[BACKLIGHT_NAME_MAX];
        uint32_t max;    /* max_brightness */
        int points;      /* points by the kernel's facts; below 0: not the built-in panel's */
        int likely;      /* points by its name alone, which decide only between equal points */
        bool of_several; /* its GPU has several panels, and nothing shows which of them it lights */
        const char *why; /* the strongest rule that applied, translatable; "": none did */
};

struct backlight_choice {
        struct backlight_candidate list[BACKLIGHTS_MAX]; /* the best first */
        size_t n;
        bool taken;   /* the first one is taken; else none of them is the panel's */
        bool known;   /* by points or name it is preferred to the second, so its brightness is the panel's */
        bool certain; /* by points, not only by name, and of one panel: it may be calibrated */
};

/**
 * display_choose() - judge all backlights of a machine
 * @wanted: the name that the user chose, or "auto"; NULL: as set in joulecast.conf (key `backlight`)
 *
 * Return: 0, also without any; -ENOENT: the machine has no backlight @wanted, and @ret takes none; -ENOMEM.
 */
int display_choose(int root_fd, const char *wanted, struct backlight_choice *ret);

/* -ENOENT, and one sentence in @buf: the user chose a backlight that the machine does not have. 0; -ENOMEM. */
int display_explain_choice(int root_fd, const char *wanted, char *buf, size_t size);
