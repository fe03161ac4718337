/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A profile's answers for the windows of a trace, compared with the measured energies. */

#include "measured/measured.h"
#include "model/profile.h"

struct replay_window {
        double measured_j, predicted_j, low_j, high_j; /* NaN: unknown */
        double constant_j, least_squares_j;            /* by baselines; NaN: unknown */
        double rail_j[MEASURED_RAILS_MAX];             /* measured */
        double component_j[COMPONENT_COUNT];           /* predicted; NaN: unknown */
        bool own_level;                                /* measured by this battery's level, whose errors cancel */
};

struct replay_error { /* percent; NaN: unknown */
        double median, p90, bias;
};

struct replay_rail {
        const char *word;          /* name of the rail in the trace */
        int component;             /* below 0: no component has that name */
        double measured_j, predicted_j, correlation; /* NaN: unknown */
};

struct replay {
        struct replay_window *windows;
        size_t n;                  /* windows with a measured and a predicted energy */
        size_t n_unpriced;         /* further windows that the profile cannot price */
        struct replay_error error, constant, least_squares;
        double hold_percent, half_width_percent; /* NaN: the profile has no intervals */
        struct replay_rail rails[MEASURED_RAILS_MAX];
        size_t n_rails;
        char **not_measured;       /* keys that the profile does not price, or that are missing in the trace */
        size_t n_not_measured;
};

/*
 * @trace: energies of all spans are known. @baseline: trace on which the baselines are fitted; NULL: each span's on all
 * other spans. @window_s: 0: each span is a window. 0; -ENOMEM; -EOVERFLOW.
 */
int replay_make(const struct profile *profile, struct measured_trace *trace, const struct measured_trace *baseline,
                double window_s, struct replay *ret);
void replay_clear(struct replay *replay);
