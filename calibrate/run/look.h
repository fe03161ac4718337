/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "source/sample.h"

/* What the battery shows at one moment. NaN: not shown. */
struct look {
        uint64_t at_ns;             /* boottime */
        int64_t realtime_ns;
        enum battery_status status;
        double level_percent;       /* the watched level, in percent of charge */
        double capacity_percent;
        double charge_full_uah;
        double voltage_mv;
        double power_mw;
        double sensor;              /* power_now, or current_now, which does not change with the voltage */
        double temperature_c;
};

/* @fine: the level is charge_now or energy_now instead of the percentage. */
void look_at(const struct sample *sample, bool fine, struct look *look);
