/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Limits on the wear of storages and on WiFi data, and how the plan is lowered to meet them. */

#include "plan.h"

#include <math.h>
#include <string.h>

#include "runner.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

/* Factor by which the guessed length of a mode may be wrong (plan_guess()) */
#define GUESS_FACTOR 1.5

/* Our part of a limit; the rest is for the writes and transfers of other programs meanwhile. */
#define OURS 0.95

/* Below this part of its rate a load is not clear of the noise: make the mode rarer instead. */
#define RATE_SHARE_MIN 0.25

#define ROUNDS 12

static double written(const struct mode *mode)
{
        return mode->write_mb_per_s * BYTES_PER_MB;
}

#define SMALL_PACKET_BYTES 120 /* with headers */
#define LARGE_PACKET_BYTES 1500

double plan_air_bytes_per_s(const struct mode *mode, enum air air)
{
        double packet = mode->large_packets ? LARGE_PACKET_BYTES : SMALL_PACKET_BYTES;

        return mode->air != air ?
                       0 :
                       (mode->rx_mb_per_s + mode->tx_mb_per_s) * BYTES_PER_MB + mode->packets_per_s * packet;
}

/* Its small packets do not count beside that. */
static double moved(const struct mode *mode)
{
        return mode->air == AIR_WIFI ? (mode->rx_mb_per_s + mode->tx_mb_per_s) * BYTES_PER_MB : 0;
}

static double moved_by_modem(const struct mode *mode)
{
        return plan_air_bytes_per_s(mode, AIR_CELLULAR);
}

static double less(double mb_per_s, double share)
{
        double lowered = floor(1000 * mb_per_s * share) / 1000; /* joulecast-traffic counts in kB/s */

        return mb_per_s > 0 ? fmax(lowered, 0.001) : 0;
}

static void write_less(struct mode *mode, double share)
{
        mode->write_mb_per_s = less(mode->write_mb_per_s, share);
}

static void move_less(struct mode *mode, double share)
{
        if (mode->air != AIR_WIFI)
                return;
        mode->rx_mb_per_s = less(mode->rx_mb_per_s, share);
        mode->tx_mb_per_s = less(mode->tx_mb_per_s, share);
}

static void move_less_by_modem(struct mode *mode, double share)
{
        if (mode->air != AIR_CELLULAR)
                return;
        mode->rx_mb_per_s = less(mode->rx_mb_per_s, share);
        mode->tx_mb_per_s = less(mode->tx_mb_per_s, share);
}

/* One kind of limited bytes. */
struct budget {
        const char *option;
        const char *coefficients;
        double limit_bytes;
        double (*bytes_per_s)(const struct mode *mode);
        void (*lower)(struct mode *mode, double share);
};

double plan_expected_s(const struct hardware_description *description, enum observation_method method,
                       const struct planned_mode *mode)
{
        switch (method) {
        case METHOD_GAUGE:
                return runner_dwell_s(GAUGE_PERIOD_GUESS_S);
        case METHOD_TICKS:
                return TICKS_DWELL_GUESS_S;
        case METHOD_PERCENT:
                break;
        }
        return GUESS_FACTOR * plan_percent_j(description) / mode->guess_w;
}

/* How often a mode comes for certain. Visits chosen for their gain are checked when they are chosen. */
static uint32_t visits(const struct plan *plan, const struct planned_mode *mode,
                       enum observation_method method, uint32_t passes)
{
        switch (mode->role) {
        case ROLE_BLOCK:
                return plan->sapp ? PLAN_ITERATIONS : method == METHOD_GAUGE ? passes : 1;
        case ROLE_LEVEL:
                return method == METHOD_GAUGE ? 0 : 1;
        case ROLE_HELD_BACK:
                return 1;
        case ROLE_FINE:
                return method == METHOD_GAUGE ? passes : 0;
        case ROLE_LATER:
                return method == METHOD_GAUGE ? passes - 1 : 0;
        case ROLE_EXTRA:
        case ROLE_CANDIDATE:
        case ROLE_BURN:
                return 0;
        }
        return 0;
}

struct limiter {
        const struct hardware_description *description;
        enum observation_method method;
        uint32_t passes;
        struct plan *plan;
};

static double visit_bytes(const struct limiter *limiter, const struct budget *budget, size_t i)
{
        const struct planned_mode *mode = &limiter->plan->modes[i];

        return budget->bytes_per_s(&mode->mode) *
               plan_expected_s(limiter->description, limiter->method, mode);
}

static double needed_bytes(const struct limiter *limiter, const struct budget *budget)
{
        double bytes = 0;

        for (size_t i = 0; i < limiter->plan->n; i++)
                bytes += visits(limiter->plan, &limiter->plan->modes[i], limiter->method, limiter->passes) *
                         visit_bytes(limiter, budget, i);
        return bytes;
}

/* In rounds: each mode once before any comes twice; modes of the block before held-back ones. */
static void limit_visits(const struct limiter *limiter, const struct budget *budget)
{
        double left = OURS * budget->limit_bytes;

        for (size_t i = 0; i < limiter->plan->n; i++)
                if (budget->bytes_per_s(&limiter->plan->modes[i].mode) > 0)
                        limiter->plan->modes[i].visits_max = 0;
        for (uint32_t round = 0; round < limiter->passes + PLAN_ITERATIONS; round++) {
                for (size_t i = 0; i < limiter->plan->n; i++) {
                        struct planned_mode *mode = &limiter->plan->modes[i];
                        double bytes = visit_bytes(limiter, budget, i);

                        if (!(bytes > 0) || bytes > left || mode->visits_max != round ||
                            round >= visits(limiter->plan, mode, limiter->method, limiter->passes))
                                continue;
                        mode->visits_max++;
                        left -= bytes;
                }
        }
}

static size_t come_less(const struct limiter *limiter, const struct budget *budget, size_t *never)
{
        size_t less_often = 0;

        *never = 0;
        for (size_t i = 0; i < limiter->plan->n; i++) {
                const struct planned_mode *mode = &limiter->plan->modes[i];

                if (!(budget->bytes_per_s(&mode->mode) > 0) || mode->role == ROLE_CANDIDATE)
                        continue;
                *never += mode->visits_max == 0;
                less_often += mode->visits_max > 0 &&
                              mode->visits_max <
                                      visits(limiter->plan, mode, limiter->method, limiter->passes);
        }
        return less_often;
}

/* At a lower rate a mode lasts longer until the battery's next step: repeat until rate and length agree. */
static int lower_rates(const struct limiter *limiter, const struct budget *budget, double *ret)
{
        double lowest = 1;
        int err = 0;

        for (unsigned round = 0; !err && round < ROUNDS && lowest > RATE_SHARE_MIN; round++) {
                double needed = needed_bytes(limiter, budget);
                double share = needed > 0 ? OURS * budget->limit_bytes / needed : 1;

                if (!(share < 1))
                        break;
                share = fmax(share, RATE_SHARE_MIN / lowest);
                for (size_t i = 0; i < limiter->plan->n; i++)
                        budget->lower(&limiter->plan->modes[i].mode, share);
                err = plan_guess(limiter->description, limiter->plan);
                lowest *= share;
        }
        *ret = lowest;
        return err;
}

static int fit_budget(const struct limiter *limiter, const struct budget *budget, const struct log *log)
{
        size_t never = 0, less_often = 0;
        double share;
        int err = lower_rates(limiter, budget, &share);

        if (err || share == 1)
                return err;
        if (needed_bytes(limiter, budget) > budget->limit_bytes) {
                limit_visits(limiter, budget);
                less_often = come_less(limiter, budget, &never);
        }
        if (never + less_often == 0)
                log_warning(log,
                            "--%s leaves %.0f MB: the rates are lowered to %.0f %%, and %s will be less "
                            "certain",
                            budget->option, budget->limit_bytes / 1e6, 100 * share, budget->coefficients);
        else
                log_warning(log,
                            words_counted("--%s leaves %.0f MB: the rates are lowered to %.0f %%, %zu state comes less "
                                          "often and %zu not at all, and %s will be less certain or missing",
                                          "--%s leaves %.0f MB: the rates are lowered to %.0f %%, %zu states come less "
                                          "often and %zu not at all, and %s will be less certain or missing",
                                          less_often),
                            budget->option, budget->limit_bytes / 1e6, 100 * share, less_often, never,
                            budget->coefficients);
        return 0;
}

int plan_limit(const struct hardware_description *description, enum observation_method method,
               uint32_t passes, const struct plan_limits *limits, const struct log *log, struct plan *plan)
{
        const struct budget budgets[] = {
                { "write-limit", "disk.write_mj_per_mb", limits->write_bytes, written, write_less },
                { "wifi-limit", "wifi.rx_mj_per_mb and wifi.tx_mj_per_mb", limits->wifi_bytes, moved,
                  move_less },
                { "cellular-limit", "cellular.radio", limits->cellular_bytes, moved_by_modem, move_less_by_modem },
        };
        const struct limiter limiter = { description, method, passes, plan };
        int err;

        for (size_t i = 0; i < plan->n; i++)
                plan->modes[i].mode.write_mb_per_s = fmin(plan->modes[i].mode.write_mb_per_s,
                                                          limits->write_mb_per_s);
        err = plan_guess(description, plan);
        for (size_t i = 0; !err && i < ARRAY_SIZE(budgets); i++)
                err = fit_budget(&limiter, &budgets[i], log);
        return err;
}
