/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Estimated duration and charge of a run. tests/accuracy/announced compares estimates with runs. */

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "observation/daemons.h"
#include "plan-fixture.h"
#include "run/run.h"
#include "util/util.h"

/* By gauge the estimate counts every dwell of each pass, idle as often as it comes. */
static void estimates_by_gauge(unsigned only)
{
        const struct run_request request = { .stop_percent = 3, .passes = 4, .daemons_tau_s = DAEMONS_TAU_S,
                                             .battery_limit_percent = INFINITY, .time_limit_h = INFINITY };
        struct hardware_description description;
        enum component missing;
        struct run_estimate estimate = { 0 };
        struct plan plan = { 0 };
        struct profile *before;
        size_t order[256], n = 0;

        check_int(profile_new("phone", 15000, &before), 0);
        phone(&description, 1, 12);
        check_int(plan_make(&description, &plan), 0);
        if (only)
                check_int(plan_only(&plan, only, before, &missing), 0);
        for (uint32_t pass = 0; pass < request.passes; pass++)
                n += plan_order(&plan, 7, pass, SIZE_MAX, true, order);
        check_int(run_estimate(&description, &plan, METHOD_GAUGE, &request, &estimate), 0);
        check_int(estimate.observations, n);
        plan_clear(&plan);
        profile_free(before);
}

static void estimates(void)
{
        struct run_request request = { .stop_percent = 3, .passes = 4, .daemons_tau_s = DAEMONS_TAU_S,
                                       .battery_limit_percent = INFINITY, .time_limit_h = INFINITY };
        struct hardware_description description;
        struct run_estimate estimate = { 0 }, finer = { 0 };
        struct plan plan = { 0 };

        phone(&description, 1, 12);
        check_int(plan_make(&description, &plan), 0);
        check_int(run_estimate(&description, &plan, METHOD_PERCENT, &request, &estimate), 0);
        check(estimate.percent.usual > 15 && estimate.percent.usual < 35);
        check(estimate.hours.usual > 4 && estimate.hours.usual < 12);
        request.stop_percent = 2;
        check_int(run_estimate(&description, &plan, METHOD_PERCENT, &request, &finer), 0);
        check(finer.percent.usual > estimate.percent.usual && finer.hours.usual > estimate.hours.usual);
        check_int(run_estimate(&description, &plan, METHOD_GAUGE, &request, &estimate), 0);
        check(estimate.percent.usual > 1 && estimate.percent.usual < 4);
        check(estimate.hours.usual > 0.6 && estimate.hours.usual < 1.1);
        request.gauge_period_s = 1;
        check_int(run_estimate(&description, &plan, METHOD_GAUGE, &request, &estimate), 0);
        request.kernel = (struct gauge_kernel){ .kind = GAUGE_MEAN, .seconds = 61, .delay_s = 3 };
        check_int(run_estimate(&description, &plan, METHOD_GAUGE, &request, &finer), 0);
        check_near(finer.hours.usual - estimate.hours.usual, 63.0 / 3600 * (double)estimate.observations, 1e-9);
        request.battery_limit_percent = 10;
        check_int(run_estimate(&description, &plan, METHOD_PERCENT, &request, &estimate), 0);
        check(estimate.percent.high <= 10 && estimate.observations <= 10 && estimate.hours.usual < 4);
        plan_clear(&plan);
}

static struct profile *make_model(void)
{
        const struct coefficient coefficients[] = {
                { .term = TERM_BASE, .value = 500, .standard_error = 50 },
                { .term = TERM_DISPLAY, .point = 5, .value = 300 },
                { .term = TERM_DISPLAY, .point = 255, .value = 800 },
        };
        struct profile *model = NULL;

        check_int(profile_new("phone", 15000, &model), 0);
        check_int(profile_add_policy(model, 0, "0-3"), 0);
        model->max_brightness = 255;
        model->degrees_of_freedom = 1000;
        for (size_t i = 0; i < ARRAY_SIZE(coefficients); i++)
                check_int(profile_add(model, &coefficients[i]), 0);
        return model;
}

/* A state's power is the model's; without a price in the model, it is the model's idle power plus a guess. */
static void prices_by_a_model(void)
{
        struct hardware_description description;
        struct plan_energy energy = { 0 };
        struct plan plan = { 0 };
        double more_w, *seconds;

        phone(&description, 1, 4);
        description.gpu = true;
        check_int(plan_make(&description, &plan), 0);
        more_w = plan_find(&plan, "gpu.full")->guess_w - plan.modes[PLAN_IDLE].guess_w;
        plan.model = make_model();
        check_int(plan_guess(&description, &plan), 0);
        check_near(plan.modes[PLAN_IDLE].guess_w, 0.5, 1e-9);
        check_near(plan_find(&plan, "display.255")->guess_w, 1.3, 1e-9);
        check_near(plan_find(&plan, "gpu.full")->guess_w, 0.5 + more_w, 1e-9);
        seconds = calloc(plan.n, sizeof(*seconds));
        if (seconds) {
                seconds[PLAN_IDLE] = 1000;
                check_int(plan_energy(&description, &plan, seconds, &energy), 0);
                check_near(energy.joules, 500, 1e-9);
                check_near(energy.high_j, 598, 1); /* 1.96 standard errors of 10 % */
                check_near(energy.low_j, 500.0 * 500 / energy.high_j, 1e-9);
        }
        free(seconds);
        plan_clear(&plan);
}

/* Twice; four times with packets, or three policies. */
static void usual_passes(void)
{
        struct hardware_description description;
        struct plan plan = { 0 };

        for (size_t i = 0; i < 6; i++) {
                phone(&description, 1 + i / 2, 12);
                description.wifi_packets = i % 2;
                check_int(plan_make(&description, &plan), 0);
                check_int(run_usual_passes(&description, &plan), i % 2 || i / 2 == 2 ? 4 : 2);
                plan_clear(&plan);
        }
}

int main(void)
{
        estimates();
        estimates_by_gauge(0);
        estimates_by_gauge(1u << COMPONENT_DISPLAY);
        estimates_by_gauge(1u << COMPONENT_CPU);
        prices_by_a_model();
        usual_passes();
        return check_result();
}
