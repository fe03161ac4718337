/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the answer, the two ends of the battery's life, and their error share. */

#include "future.h"
#include "saved.h"
#include "whatif.h"

struct whatif {
        const struct history *history;
        const struct forecast_battery *battery;
        double said_percent;
        struct budget budget;      /* without the change */
        struct future future;      /* its drain is of no app */
        struct charge charge;
        double available_j, available_sd_j;
};

/* One question. */
struct question {
        const struct whatif *whatif;
        const struct changes *changes;
        struct saved saved;
        struct drain drain;        /* of the apps to close */
        double keep_s;
};

/* When nothing is left, and how fast it went: minutes per J are 1 / 60 / power_w. */
struct end {
        struct sum sum;
        double seconds, power_w;
        double kept_now_s, kept_usual_s; /* in which the change saved */
        double now_s;
};

/* How much is left at a time, the change made or not. 0; -ENOMEM. */
int whatif_left_at(const struct question *question, bool changed, double seconds, struct end *end, double *left_j);
/* From a time @low that has so much left to the one that has none. 0; -ERANGE: it lasts for ever; -ENOMEM. */
int whatif_find_end(const struct question *question, double low, double low_j, double high, struct end *end);
/* How fast it goes at the end, with what the load takes of the voltage; W. 0; -ENOMEM. */
int whatif_find_power(const struct question *question, bool changed, struct end *end);
void whatif_end_clear(struct end *end);

/* The minutes between both ends, and until the one with the change, each with its interval. 0; -ENOMEM. */
int whatif_gained(const struct question *question, const struct end *with, const struct end *without, struct cost_value *ret);
int whatif_changed(const struct question *question, const struct end *with, const struct end *without, struct cost_value *ret);
