/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Decides whether the screen is lit, from the kernel's values of connectors and backlight. Reads no file. */

#include <stdbool.h>
#include <stddef.h>

enum lit { LIT_UNKNOWN, LIT_OFF, LIT_ON };

enum connector_kind {
        CONNECTOR_PANEL = 1 << 0,   /* eDP, LVDS: of laptops */
        /* DSI, DPI, SPI: of phones and tablets; beside a laptop's panel a second screen */
        CONNECTOR_DSI = 1 << 1,
        CONNECTOR_STRIP = 1 << 2,   /* built in, but a strip: a Touch Bar */
        CONNECTOR_MONITOR = 1 << 3, /* on a cable; the battery does not power it */
        CONNECTOR_OTHER = 1 << 4,   /* Virtual, Unknown: the panel where no connector is built in */
};

/* A connector of sys/class/drm, as its files say. */
struct connector_says {
        enum connector_kind kind;
        unsigned card;
        bool connected;    /* or not known not to be */
        enum lit enabled, dpms; /* LIT_UNKNOWN: there is no such file */
        bool silent;       /* its driver sets neither: nvidia-drm */
};

struct screen_lit {
        bool has_panel;
        enum lit panel;
        enum lit monitor; /* LIT_OFF: none is connected, or all are off */
};

/**
 * display_connector_kind() - judge a connector of sys/class/drm
 * @name:  "card1-eDP-1"
 * @modes: its file, as "60x2008\n"; "": unknown
 */
enum connector_kind display_connector_kind(const char *name, const char *modes);

/**
 * display_lit() - judge what is lit
 * @power:     bl_power of the panel's backlight; LIT_UNKNOWN: there is no such file
 * @backlight: the panel has one, with a brightness
 */
struct screen_lit display_lit(const struct connector_says *list, size_t n, enum lit power, bool backlight);
