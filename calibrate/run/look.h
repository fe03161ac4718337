/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "source/sample.h"

/* The readings of the battery at one moment. NaN: the battery does not show it. */
struct look {
        uint64_t at_ns;             /* boottime */
        int64_t realtime_ns;
        enum battery_status status;
        double level_percent;       /* the watched level, in percent of charge */
        double capacity_percent;
        double fine_percent;        /* the finest level; NaN: the battery shows whole percents alone */
        double charge_full_uah;
        double voltage_mv;
        double power_mw;
        double sensor;              /* power_now, or current_now, which does not change with the voltage */
        double temperature_c;
};

/* @fine: the level is charge_now or energy_now instead of the percentage. */
void look_at(const struct sample *sample, bool fine, struct look *look);
