/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One way of holding the screen: white and lit, or off. A picture belongs to the process that shows it, so
 * that the screen is as it was as soon as that process is gone, however it went; what is not so says it where
 * it is done.
 */

#include <stdbool.h>

#define PICTURE_BEAT_S 20 /* dispatch() is called so often at least; screen savers wait for a minute */

struct picture;

struct picture_ops {
        const char *name;
        bool white;                                       /* it can show a picture; else it only switches */
        int (*open)(struct picture **ret);                /* changes nothing. -errno: not here */
        bool (*can_switch)(const struct picture *picture); /* the screen itself, not its picture alone */
        int (*light)(struct picture *picture, bool on);
        int (*fd)(const struct picture *picture);         /* to wait at; -1: none */
        short events;                                     /* for what, as poll(2) takes it */
        int (*dispatch)(struct picture *picture);         /* something came, or a beat passed. -errno: over */
        void (*close)(struct picture *picture);           /* the screen as it was, lit */
};

struct picture { /* embedded as the first member of each */
        const struct picture_ops *ops;
};

extern const struct picture_ops picture_wayland, picture_x11, picture_kms, picture_console;
