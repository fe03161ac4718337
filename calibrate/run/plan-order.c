/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "hardware/group.h"
#include "hardware/random.h"
#include "util/units.h"
#include "util/util.h"

/* Does the @k-th extra frequency mode come in this pass? They are in pairs, one core and all cores. */
static bool extra_comes(size_t k, uint32_t pass)
{
        size_t point = k / 2;

        return (point + pass) % 3 == 0 && (k + point + pass) % 2 == 0;
}

static bool comes(const struct planned_mode *mode, uint32_t pass, bool extras, size_t *n_extra)
{
        switch (mode->role) {
        case ROLE_BLOCK:
                return pass < mode->visits_max;
        case ROLE_HELD_BACK:
                return pass == 0 && mode->visits_max > 0;
        case ROLE_EXTRA:
                return extra_comes((*n_extra)++, pass) && extras;
        case ROLE_FINE:
                return extras && pass < mode->visits_max;
        case ROLE_LATER:
                return extras && pass > 0 && pass < mode->visits_max;
        case ROLE_CANDIDATE:
        case ROLE_BURN:
                return false;
        }
        return false;
}

/*
 * A gauge's pass measures idle about every four dwells: the base is part of every row, and idle shows
 * background activity best and costs little charge.
 */
static size_t spread_idle(size_t *order, size_t n, size_t most)
{
        size_t all = n + most;

        for (size_t to = all, from = n, idles = most; to-- > 0;) {
                if (idles > 0 && to == (2 * idles - 1) * all / (2 * most)) {
                        order[to] = PLAN_IDLE;
                        idles--;
                } else {
                        order[to] = order[--from];
                }
        }
        return all;
}

/*
 * Idle and one state of each component first, in case that not even the short block can be completed; idle second,
 * because it takes longest and tells little alone.
 */
static unsigned rank(const struct planned_mode *mode)
{
        if (!strcmp(mode->mode.kind, "idle"))
                return 0;
        return mode->core ? mode->core : UINT_MAX;
}

static void swap(size_t *a, size_t *b)
{
        size_t kept = *a;

        *a = *b;
        *b = kept;
}

static void order_by_rank(const struct plan *plan, size_t *order, size_t n)
{
        for (size_t i = 1; i < n; i++) {
                size_t mode = order[i], at = i;

                for (; at > 0 && rank(&plan->modes[order[at - 1]]) > rank(&plan->modes[mode]); at--)
                        order[at] = order[at - 1];
                order[at] = mode;
        }
        if (n > 1 && rank(&plan->modes[order[0]]) == 0)
                swap(&order[0], &order[1]);
}

size_t plan_idles(const struct plan *plan)
{
        if (plan->only)
                return MIN(MAX(plan->n / 2, (size_t)1), (size_t)PLAN_IDLES);
        return plan->n > 3 * PLAN_IDLES ? PLAN_IDLES : 1;
}

/* The modes from @from on that come in this pass. */
static size_t find_those(const struct plan *plan, uint32_t pass, bool extras, size_t from, enum air air, size_t *ret)
{
        size_t n = 0, n_extra = 0;

        for (size_t i = from; i < plan->n; i++)
                if (plan->modes[i].mode.air == air && comes(&plan->modes[i], pass, extras, &n_extra))
                        ret[n++] = i;
        return n;
}

static bool is_fast(const struct mode *mode)
{
        return mode->packets_per_s <= 0 || mode->packets_per_s > 0.5;
}

/*
 * A modem is never off, and its tail lasts into the next state, where it is known only if that has packets, too: so these
 * states come together, after the others. Small packets may leave it in the channel where the state before had it: the fast
 * ones come first, after both transfers, and so find it as a use that goes on for long does.
 */
size_t plan_order(const struct plan *plan, uint64_t seed, uint32_t pass, size_t last, bool extras,
                  size_t *ret)
{
        bool repeat_idle = extras && plan_idles(plan) > 1;
        struct random random;
        size_t n = find_those(plan, pass, extras, repeat_idle ? 1 : 0, AIR_WIFI, ret), n_modem, n_fast;

        random_start(&random, seed, pass);
        random_shuffle(&random, ret, n);
        if (plan->brief && pass == 0)
                order_by_rank(plan, ret, n);
        /* Two dwells of one mode in a row would see the same background activity. */
        if (n > 1 && ret[0] == last) {
                ret[0] = ret[n / 2];
                ret[n / 2] = last;
        }
        if (repeat_idle)
                n = spread_idle(ret, n, plan_idles(plan));
        n_modem = find_those(plan, pass, extras, 0, AIR_CELLULAR, ret + n);
        for (n_fast = 0; n_fast < n_modem && is_fast(&plan->modes[ret[n + n_fast]].mode);)
                n_fast++;
        random_shuffle(&random, ret + n + n_fast, n_modem - n_fast);
        return n + n_modem;
}

/* ten seconds of a mode, so that rates below one a second become whole numbers */
#define USAGE_S 10

/* In how many places something that cores share is awake. */
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

/*
 * Expected power of a mode, only for estimates of time: AppScope's and SApp's phones with a 15 Wh battery,
 * scaled by the battery's size. Right within a factor of 1.5.
 */
static double guess_mw(const struct hardware_description *description, const struct mode *mode)
{
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
        return mw;
}

void plan_guess(const struct hardware_description *description, struct plan *plan)
{
        double scale = isnan(description->rough_mwh) ? 1 : description->rough_mwh / 15000;

        for (size_t i = 0; i < plan->n; i++)
                plan->modes[i].guess_w = guess_mw(description, &plan->modes[i].mode) * scale / 1000;
}

size_t plan_order_repeated(const struct plan *plan, uint64_t seed, size_t *ret)
{
        size_t cpu[256], n_cpu = 0, taken = 0, n = 0;
        struct random random;

        for (size_t i = 0; i < plan->n && n_cpu < ARRAY_SIZE(cpu); i++)
                if (!strcmp(plan->modes[i].mode.kind, "cpu"))
                        cpu[n_cpu++] = i;
        random_start(&random, seed, 0);
        random_shuffle(&random, cpu, n_cpu);
        for (size_t i = 0; i < plan->n; i++) {
                bool is_cpu = taken < n_cpu && !strcmp(plan->modes[i].mode.kind, "cpu");
                size_t mode = is_cpu ? cpu[taken] : i;
                uint32_t times = MIN((uint32_t)PLAN_ITERATIONS, plan->modes[mode].visits_max);

                for (size_t k = 0; plan->modes[i].role == ROLE_BLOCK && k < times; k++)
                        ret[n++] = mode;
                taken += is_cpu;
        }
        return n;
}
