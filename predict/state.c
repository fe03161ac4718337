/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state.h"

#include <errno.h>
#include <math.h>

#include "api/joulecast-private.h"
#include "util/units.h"

void state_clear(struct state *state)
{
        joulecast_budget_free(state->budget);
        ask_close(&state->ask);
}

static void read_battery(struct state *state)
{
        const struct forecast_battery *battery = NULL;

        state->power_w = state->percent_per_hour = state->percent = state->counted_percent = NAN;
        if (joulecast_usage_battery(state->ask.usage, &state->percent, &state->plugged) < 0)
                state->plugged = -1;
        if (api_usage_battery(state->ask.usage, state->ask.profile, &battery) < 0)
                return;
        state->live = battery->live;
        state->counted_percent = api_usage_counted_percent(state->ask.usage);
        if (state->live)
                state->plugged = api_usage_plugged(battery);
        if (!(battery->battery.have & BATTERY_POWER) || battery->battery.status != BATTERY_DISCHARGING)
                return;
        state->power_w = (double)battery->battery.power_uw / UJ_PER_J;
        state->percent_per_hour =
                state->power_w * 3600 / J_PER_PERCENT(joulecast_profile_energy_full_mwh(state->ask.profile));
}

int state_budget(const struct ask *ask, struct joulecast_budget **ret)
{
        struct joulecast_plan *plan = NULL;
        int err = joulecast_plan_new(NULL, &plan);

        if (!err)
                err = joulecast_budget_new(ask->profile, ask->usage, plan, ret);
        joulecast_plan_free(plan);
        return err == -ENODATA || err == -ENODEV ? 0 : err;
}

int state_read(const struct options *options, struct state *ret)
{
        struct state state = { .plugged = -1 };
        int code = ask_open(options, &state.ask), err;

        if (code != CODE_OK)
                return code;
        read_battery(&state);
        err = state_budget(&state.ask, &state.budget);
        if (err) {
                state_clear(&state);
                return ask_failed(err);
        }
        *ret = state;
        return CODE_OK;
}
