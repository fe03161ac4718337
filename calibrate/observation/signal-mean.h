/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How strongly the radios heard, as the mean of several readings. */

#include <math.h>

#include "source/sample.h"

struct signal_mean {
        double wifi_dbm, wifi_weight; /* weighted sum, and the weight of the readings in it */
        double cellular_percent, cellular_weight;
};

static inline void signal_mean_add(struct signal_mean *mean, const struct signal *signal, double weight)
{
        if (signal->have & SIGNAL_WIFI) {
                mean->wifi_dbm += weight * signal->wifi_signal_dbm;
                mean->wifi_weight += weight;
        }
        if (signal->have & SIGNAL_CELLULAR) {
                mean->cellular_percent += weight * signal->cellular_signal_percent;
                mean->cellular_weight += weight;
        }
}

/* NaN: unknown. */
static inline double signal_mean_wifi_dbm(const struct signal_mean *mean)
{
        return mean->wifi_weight > 0 ? mean->wifi_dbm / mean->wifi_weight : NAN;
}

static inline double signal_mean_cellular_percent(const struct signal_mean *mean)
{
        return mean->cellular_weight > 0 ? mean->cellular_percent / mean->cellular_weight : NAN;
}
