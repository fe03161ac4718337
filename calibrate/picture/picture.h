/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A way of holding the screen: a plain picture, or off. The display server or kernel restores the screen when the
 * process ends, however it ends; exceptions are noted in each file.
 */

#include <stdbool.h>

/* The shade on the screen: off, or an sRGB value. Grey emits half of white's light: 49.7 %; 50.5 % at gamma 2.2. */
#define PICTURE_OFF (-1)
#define PICTURE_BLACK 0
#define PICTURE_GREY 187
#define PICTURE_WHITE 255

#define PICTURE_BEAT_S 20 /* longest time between two calls of dispatch(); screen savers wait for a minute */

struct picture;

struct picture_ops {
        const char *name;
        bool white;                                       /* it can show pictures, not only switch */
        int (*open)(struct picture **ret);                /* changes nothing. -errno: not possible here */
        bool (*can_switch)(const struct picture *picture); /* switch the screen itself, not only its
                                                              picture */
        int (*show)(struct picture *picture, int shade);  /* PICTURE_...; lit, unless PICTURE_OFF */
        int (*fd)(const struct picture *picture);         /* to poll; -1: none */
        short events;                                     /* the events for poll(2) */
        int (*dispatch)(struct picture *picture);         /* after an event or a beat. -errno: it is lost */
        void (*close)(struct picture *picture);           /* restores the screen, lit */
};

struct picture { /* embedded as the first member of each */
        const struct picture_ops *ops;
};

extern const struct picture_ops picture_wayland, picture_x11, picture_kms, picture_console;
