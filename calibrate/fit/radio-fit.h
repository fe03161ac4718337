/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The automaton of a radio (radio.h) from what it took with traffic of different rates. The time that a radio with one
 * inactivity timer is up is known for each rung of the ladder (radio-ladder.h), and its power is a sum over timers, packets,
 * bytes and time above a rate: so it is a regression with no coefficient below 0, which leaves most of them 0.
 */

#include "radio/radio-ladder.h"

/* What radios of a kind may have. */
struct radio_traits {
        const char *name;     /* of its [radio NAME] */
        int64_t timer_max_ms; /* states of a calibration have longer silences only by chance */
        bool thresholds;      /* above a rate of packets it may take more power */
};

extern const struct radio_traits radio_traits_wifi, radio_traits_cellular;

/* A state of a calibration. */
struct radio_row {
        const char *mode;   /* its name; rows of one state are alike */
        struct radio_amounts amounts;
        double seconds;
        double wakes;       /* bursts after a second of silence */
        double power_mw;    /* of the radio above its rest; may be below 0 by error */
        double sd_mw;
};

struct radio_fit {
        struct radio radio; /* of the name of its kind; rest 0 mW */
        double error;       /* relative standard error of typical traffic */
        double chi2;        /* of the rows ... */
        double chi2_linear; /* ... and with a price for each byte and burst instead */
};

/*
 * 0; -ENODATA: the rows tell nothing of a radio; -ENOMEM. @offset_sd_mw: error that all rows have in common. The result's
 * radio is cleared by radio_clear().
 */
int radio_fit(const struct radio_traits *traits, const struct radio_shape *shape, const struct radio_row *rows, size_t n, double offset_sd_mw,
              struct radio_fit *ret);
