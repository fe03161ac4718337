/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Fits the automaton of a radio (radio.h) to its power at traffic of different rates.
 *
 * Method: for each rung of the ladder (radio-ladder.h), the time that a radio with this inactivity timer is
 * up is known. The power is a sum over timers, packets, bytes and time above a rate. So it is a regression
 * with no coefficient below 0, which leaves most of them at 0. DRAWS models are drawn in proportion to their
 * likelihood (radio-solve.c); the one closest to their median for typical uses is chosen, and their spread is
 * its error.
 */

#include "radio/radio-ladder.h"

/* Properties that radios of a kind may have. */
struct radio_traits {
        const char *name;     /* the radio's name in [radio NAME] */
        int64_t timer_max_ms; /* longest timer; longer silences in the modes of a calibration are chance */
        bool thresholds;      /* it may take more power above a rate of packets */
};

extern const struct radio_traits radio_traits_wifi, radio_traits_cellular;

/* A mode of a calibration, measured once. */
struct radio_row {
        const char *mode;   /* name of the mode; rows of one mode are alike */
        struct radio_amounts amounts;
        double seconds;
        double wakes;       /* bursts after a second of silence */
        double power_mw;    /* power of the radio above its rest; may be below 0 by error */
        double sd_mw;
};

struct radio_fit {
        struct radio radio; /* has the name of its kind, and a rest power of 0 mW */
        double error;       /* relative standard error of typical traffic */
        double chi2;        /* chi square of the rows with this radio */
        double chi2_linear; /* and with a price per byte and burst instead */
};

/*
 * Returns 0; -ENODATA: the rows do not determine a radio; -ENOMEM. @offset_sd_mw: error common to all rows.
 * End the result's radio with radio_clear().
 */
int radio_fit(const struct radio_traits *traits, const struct radio_shape *shape, const struct radio_row *rows,
              size_t n, double offset_sd_mw, struct radio_fit *ret);
