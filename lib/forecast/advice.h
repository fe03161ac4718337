/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The few changes that would gain most now. */

#include "whatif.h"

#define ADVICE_MAX 8
#define ADVICE_LEAST_MINUTES 1.0

enum advice_kind {
        ADVICE_CLOSE,
        ADVICE_BRIGHTNESS,
        ADVICE_WIFI,      /* off */
        ADVICE_CELLULAR,  /* off */
        ADVICE_KINDS
};

extern const char *const advice_words[ADVICE_KINDS]; /* as in JSON */

struct advice {
        enum advice_kind kind;
        char app[APP_ID_MAX], name[APP_ID_MAX]; /* the app to close; "" for other kinds */
        double brightness_percent;              /* NaN: for other kinds */
        struct gain gain;
};

struct advice_list {
        struct advice list[ADVICE_MAX]; /* the best first */
        size_t n;
};

/* Indices of the apps that used most in the last minutes and can be closed, at most @most. 0; -ENOMEM. */
int advice_running(const struct history *history, const struct mixed *mixed, size_t most, size_t *ret, size_t *ret_n);

/**
 * advice_make() - what would gain most
 * @ret: gets up to ADVICE_MAX, the best first
 *
 * It tries to close each of the apps that used most in the last minutes, to halve the brightness, and to switch WiFi
 * or a modem off. Services of the system or of a session are not closed. A change that gains less than a minute is
 * left out, and so is one whose interval reaches 0, as it may gain nothing.
 *
 * Return: how many; or a negative errno, as whatif_gain().
 */
ssize_t advice_make(const struct history *history, const struct forecast_battery *battery,
                    struct advice ret[ADVICE_MAX]);
