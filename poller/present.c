/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dbus-private.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "api/joulecast-private.h"
#include "forecast/charging.h"
#include "util/units.h"
#include "util/util.h"

/*
 * usage.db is read again after this many polls (an hour at the usual 30 s), or when the charge has changed by
 * this much.
 */
#define POLLS_MOST 120
#define PERCENT_MOST 5.0

struct reading {
        struct joulecast_context *context;
        struct joulecast_profile *profile;
        struct joulecast_usage *usage;
        struct joulecast_plan *plan;
        struct joulecast_budget *budget;
};

static void reading_clear(struct reading *reading)
{
        joulecast_budget_free(reading->budget);
        joulecast_plan_free(reading->plan);
        joulecast_usage_free(reading->usage);
        joulecast_profile_free(reading->profile);
        joulecast_context_free(reading->context);
}

/* Messages are dropped, as a client with the same question gets them. */
static void say_nothing(void *data, enum joulecast_level level, const char *sentence)
{
}

static void take_battery(const struct battery *battery, struct present *present)
{
        const struct forecast_battery shown = { .known = true, .battery = *battery };

        present->status = battery->status;
        present->percent = present->percent_per_hour = NAN;
        (void)api_usage_percent(&shown, &present->percent);
        if (battery->have & BATTERY_POWER && battery->status == BATTERY_DISCHARGING)
                present->percent_per_hour =
                        (double)battery->power_uw / UJ_PER_J * 3600 / J_PER_PERCENT(present->energy_full_mwh);
}

static int read_all(struct reading *reading, const struct question_source *source, struct present *present)
{
        const struct forecast_battery *battery;
        int err = joulecast_context_new(&reading->context);

        if (err < 0)
                return err;
        joulecast_context_set_log(reading->context, say_nothing, NULL);
        err = joulecast_context_set_machine(reading->context, source->machine);
        if (err == 0)
                err = joulecast_profile_load(reading->context, source->profile, &reading->profile);
        if (err < 0)
                return err;
        snprintf(present->calibration, sizeof(present->calibration), "%s", profile_basis(reading->profile->profile));
        present->energy_full_mwh = joulecast_profile_energy_full_mwh(reading->profile);
        err = joulecast_usage_open(reading->context, source->database, &reading->usage);
        if (err < 0)
                return err;
        reading->usage->live = source->live;
        err = api_usage_battery(reading->usage, reading->profile, &battery);
        present->stale = reading->usage->stale;
        if (err == 0 && battery->known)
                take_battery(&battery->battery, present);
        if (err == 0)
                err = joulecast_plan_new(NULL, &reading->plan);
        return err < 0 ? err : joulecast_budget_new(reading->profile, reading->usage, reading->plan, &reading->budget);
}

void present_read(const struct question_source *source, struct present *present)
{
        _cleanup_(reading_clear) struct reading reading = { 0 };

        *present = (struct present)PRESENT_UNKNOWN;
        if (read_all(&reading, source, present) == 0) {
                present->minutes = joulecast_budget_minutes(reading.budget);
                present->minutes_to_full = joulecast_budget_minutes_to_full(reading.budget);
                present->charge_limit_percent = joulecast_budget_charge_limit_percent(reading.budget);
        }
        present->read_percent = present->percent;
        present->read_minutes = present->minutes;
        present->read_status = present->status;
}

static void scale(struct present *present)
{
        double part = present->percent / present->read_percent;

        if (!(present->read_percent > 0) || isnan(part))
                return;
        present->minutes = (struct joulecast_value){ present->read_minutes.value * part,
                                                     present->read_minutes.low * part,
                                                     present->read_minutes.high * part };
}

/* The judgement of the last reading of usage.db holds as long as the supply and the battery say what they said. */
static void take_poll(const struct battery *battery, struct present *present)
{
        struct battery now = *battery;

        present->stale = present->stale && charging_is_doubtful(battery);
        if (present->stale)
                now.status = BATTERY_DISCHARGING;
        take_battery(&now, present);
}

void present_follow(const struct question_source *source, const struct battery *battery, struct present *present)
{
        bool known = battery->have & (BATTERY_CAPACITY | BATTERY_CHARGE_NOW | BATTERY_ENERGY_NOW);

        if (known)
                take_poll(battery, present);
        if (++present->age >= POLLS_MOST || present->status != present->read_status ||
            fabs(present->percent - present->read_percent) >= PERCENT_MOST ||
            isnan(present->percent) != isnan(present->read_percent)) {
                present_read(source, present);
                if (known)
                        take_poll(battery, present);
        } else {
                scale(present);
        }
}

bool present_differs(double one, double other, double least, double part)
{
        if (isnan(one) || isnan(other))
                return isnan(one) != isnan(other);
        return fabs(one - other) >= fmax(least, part * fabs(other));
}
