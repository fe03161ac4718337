/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refuse.h"

#include <errno.h>
#include <math.h>

double refuse_start_percent(const struct hardware_description *description)
{
        return description->force_discharge ? 60 : 25;
}

double refuse_floor_percent(const struct hardware_description *description)
{
        return description->force_discharge ? 40 : 20;
}

int refuse_start(const struct hardware_description *description, const struct look *look,
                 enum observation_method method, const struct log *log)
{
        bool resting = look->status == BATTERY_FULL || look->status == BATTERY_NOT_CHARGING;

        if (!description->force_discharge && (look->status == BATTERY_CHARGING || resting)) {
                log_error(log, "the battery is not discharging; unplug the charger and start again");
                return -EINVAL;
        }
        if (method == METHOD_GAUGE ? isnan(look->power_mw) : isnan(look->level_percent)) {
                log_error(log, "the battery shows no %s; choose another --method",
                          method == METHOD_GAUGE ? "power_now or current_now" :
                          method == METHOD_TICKS ? "charge_now or energy_now" : "capacity");
                return -EINVAL;
        }
        if (isnan(look->capacity_percent)) {
                log_error(log, "the battery's charge in percent is unknown, so the calibration could empty "
                               "it; see `joulecast doctor`");
                return -EINVAL;
        }
        if (look->capacity_percent < refuse_start_percent(description)) {
                log_error(log,
                          "the battery is at %.0f %%, and a calibration starts at %.0f %% or more; charge it "
                          "first",
                          look->capacity_percent, refuse_start_percent(description));
                return -EINVAL;
        }
        return 0;
}
