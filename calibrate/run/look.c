/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "look.h"

#include <math.h>

#include "source/battery.h"

static double known(uint32_t have, uint32_t bit, double value)
{
        return have & bit ? value : NAN;
}

/* The finest level that the battery shows, in percent; NaN: it shows whole percents alone. */
static double fine_level(const struct battery *battery)
{
        return battery_step(battery) > 0 ? NAN : battery_fine_percent(battery);
}

void look_at(const struct sample *sample, bool fine, struct look *look)
{
        const struct battery *battery = &sample->battery;
        uint32_t have = sample->have & SAMPLE_BATTERY ? battery->have : 0;

        *look = (struct look){
                .at_ns = sample->boottime_ns,
                .realtime_ns = sample->realtime_ns,
                .status = have ? battery->status : BATTERY_UNKNOWN,
                .capacity_percent = known(have, BATTERY_CAPACITY, battery->capacity_percent),
                .charge_full_uah = known(have, BATTERY_CHARGE_FULL, (double)battery->charge_full_uah),
                .voltage_mv = known(have, BATTERY_VOLTAGE, (double)battery->voltage_uv / 1e3),
                .power_mw = known(have, BATTERY_POWER, (double)battery->power_uw / 1e3),
                .sensor = known(have, BATTERY_POWER,
                                (double)(battery->current_ua ? battery->current_ua : battery->power_uw)),
                .temperature_c = known(have, BATTERY_TEMPERATURE, battery->temperature_dc / 10.0),
        };
        look->fine_percent = have ? fine_level(battery) : NAN;
        look->level_percent = fine ? look->fine_percent : look->capacity_percent;
}
