/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The load of a mode, and the power that it is expected to take. */

#include "plan.h"

#include <math.h>

#include "hardware/group.h"
#include "model/model.h"
#include "util/units.h"
#include "util/util.h"

/* ten seconds of a mode, so that rates below one per second become whole numbers */
#define USAGE_S 10

/* Number of shared units (as of a cluster) that are awake with @cores busy. */
static uint32_t awake(const struct hardware_policy *policy, uint32_t cores)
{
        uint32_t sharing = group_sharing(policy);

        return (cores + sharing - 1) / sharing;
}

int plan_usage(const struct hardware_description *description, const struct mode *mode, struct usage *ret)
{
        struct usage usage = { .have = USAGE_CPU, .time_ns = USAGE_S * NS_PER_S };
        int err = 0;

        for (size_t i = 0; !err && i < description->n_policies; i++) {
                const struct hardware_policy *policy = &description->policies[i];
                uint32_t khz = mode->policy_khz[i] ? mode->policy_khz[i] : policy->n_khz ? policy->khz[0] : 0;

                if (mode->policy_cores[i])
                        err = usage_add_cpu(&usage, policy->policy, khz,
                                            mode->policy_cores[i] * usage.time_ns,
                                            awake(policy, mode->policy_cores[i]) * usage.time_ns);
                else if (mode->policy_khz[i])
                        err = usage_add_point(&usage, KEYED_IDLE, &(struct point){ .policy = policy->policy, .khz = khz,
                                                                                   .idle_ns = usage.time_ns });
        }
        if (!err && mode->screen_on)
                err = usage_add_screen(&usage, mode->brightness, usage.time_ns);
        if (err) {
                usage_clear(&usage);
                return err;
        }
        usage.have |= description->max_brightness ? USAGE_DISPLAY : 0;
        usage.have |= description->n_disks ? USAGE_DISK : 0;
        usage.have |= description->wifi ? USAGE_WIFI : 0;
        usage.have |= description->gpu ? USAGE_GPU : 0;
        usage.read_bytes = (uint64_t)llround(USAGE_S * mode->read_mb_per_s * BYTES_PER_MB);
        usage.write_bytes = (uint64_t)llround(USAGE_S * mode->write_mb_per_s * BYTES_PER_MB);
        usage.wifi_on_ns = mode->wifi_on ? usage.time_ns : 0;
        if (mode->air == AIR_WIFI) {
                usage.wifi_rx_bytes = (uint64_t)llround(USAGE_S * mode->rx_mb_per_s * BYTES_PER_MB);
                usage.wifi_tx_bytes = (uint64_t)llround(USAGE_S * mode->tx_mb_per_s * BYTES_PER_MB);
        }
        usage.wifi_wakes = (uint64_t)llround(USAGE_S * mode->wakes_per_s);
        usage.gpu_busy_ns = (uint64_t)llround(mode->gpu * (double)usage.time_ns);
        *ret = usage;
        return 0;
}

#define BATTERY_UNKNOWN_MWH 15000

double plan_percent_j(const struct hardware_description *description)
{
        return J_PER_PERCENT(isnan(description->rough_mwh) ? BATTERY_UNKNOWN_MWH : description->rough_mwh);
}

/* Right within this factor. */
#define GUESS_FACTOR 1.5
#define GUESS_SD 0.25

/*
 * The power of a mode without a model, or with components that the model lacks: AppScope's and SApp's phones of 15 Wh,
 * scaled by the battery's size.
 */
static double guess_mw(const struct hardware_description *description, const struct mode *mode)
{
        double scale = isnan(description->rough_mwh) ? 1 : description->rough_mwh / BATTERY_UNKNOWN_MWH;
        double mw = 180;

        for (size_t i = 0; i < description->n_policies; i++) {
                const struct hardware_policy *policy = &description->policies[i];
                double top = policy->n_khz ? policy->khz[policy->n_khz - 1] : 0;
                double at = top > 0 ? mode->policy_khz[i] / top : 1;

                if (mode->policy_cores[i])
                        mw += 60 + 60 * at + mode->policy_cores[i] * (100 + 320 * at);
        }
        if (mode->screen_on)
                mw += 360 + 500.0 * mode->brightness / MAX(description->max_brightness, 1u);
        mw += mode->read_mb_per_s * 6 + mode->write_mb_per_s * 25 + mode->wifi_on * 30 +
              mode->rx_mb_per_s * 350 + mode->tx_mb_per_s * 550 + mode->wakes_per_s * 120 +
              (mode->packets_per_s > 0) * 250 + (mode->air == AIR_CELLULAR) * 400 + mode->gpu * 900;
        return mw * scale;
}

/* One second of a mode: the part that the model predicts, and a guess of the rest. */
struct second {
        struct model_vector vector;
        double guessed_mw;
};

static void second_clear(struct second *second)
{
        model_vector_clear(&second->vector);
}

static int price(const struct profile *model, const struct hardware_description *description, const struct mode *mode,
                 struct second *second)
{
        _cleanup_(model_vector_clear) struct model_vector whole = { 0 };
        struct usage usage = { 0 };
        int err = plan_usage(description, mode, &usage);

        if (!err)
                err = model_vector_make(model, &usage, &whole);
        usage_clear(&usage);
        return err ? err : model_vector_add_scaled(&second->vector, &whole, 1.0 / USAGE_S);
}

/* Does plan_usage() include everything that the mode does? It does not include packets and a modem's traffic. */
static bool is_in_usage(const struct mode *mode)
{
        return !(mode->packets_per_s > 0) && mode->air != AIR_CELLULAR;
}

/* A mode with a load that the model does not predict is idle by the model, plus a guess of that load. */
static int make_second(const struct hardware_description *description, const struct plan *plan, const struct mode *mode,
                       struct second *second)
{
        static const struct mode idle = { .kind = "idle" };
        int err;

        if (!plan->model) {
                second->guessed_mw = guess_mw(description, mode);
                return 0;
        }
        err = price(plan->model, description, mode, second);
        if (err || (is_in_usage(mode) && !second->vector.unpriced))
                return err;
        second_clear(second);
        second->guessed_mw = guess_mw(description, mode) - guess_mw(description, &idle);
        return price(plan->model, description, &idle, second);
}

int plan_guess(const struct hardware_description *description, struct plan *plan)
{
        for (size_t i = 0; i < plan->n; i++) {
                _cleanup_(second_clear) struct second second = { 0 };
                int err = make_second(description, plan, &plan->modes[i].mode, &second);

                if (err)
                        return err;
                plan->modes[i].guess_w = second.guessed_mw / 1000;
                if (plan->model)
                        plan->modes[i].guess_w += model_energy_mj(plan->model, &second.vector) / 1000;
        }
        return 0;
}

static int add_all(const struct hardware_description *description, const struct plan *plan, const double *seconds,
                   struct second *sum)
{
        for (size_t i = 0; i < plan->n; i++) {
                _cleanup_(second_clear) struct second second = { 0 };
                int err = make_second(description, plan, &plan->modes[i].mode, &second);

                if (!err && plan->model)
                        err = model_vector_add_scaled(&sum->vector, &second.vector, seconds[i]);
                if (err)
                        return err;
                sum->guessed_mw += second.guessed_mw * seconds[i];
        }
        return 0;
}

/* Powers of devices differ by factors, so the interval is as wide downwards: by a factor. */
int plan_energy(const struct hardware_description *description, const struct plan *plan, const double *seconds,
                struct plan_energy *ret)
{
        _cleanup_(second_clear) struct second sum = { 0 };
        struct model_energy energy = { .half_width_j = NAN };
        double guessed_j, joules, factor = GUESS_FACTOR;
        int err = add_all(description, plan, seconds, &sum);

        if (err)
                return err;
        guessed_j = sum.guessed_mw / 1000;
        if (plan->model)
                model_energy(plan->model, &sum.vector, 0.95, GUESS_SD * guessed_j, &energy);
        joules = energy.value_j + guessed_j;
        if (isfinite(energy.half_width_j))
                factor = 1 + energy.half_width_j / joules;
        *ret = (struct plan_energy){ joules, joules / factor, joules * factor };
        return 0;
}
