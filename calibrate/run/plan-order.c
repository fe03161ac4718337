/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan.h"

#include <limits.h>
#include <string.h>

#include "hardware/random.h"
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
        case ROLE_LEVEL:
                return !extras && pass == 0 && mode->visits_max > 0;
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
 * Idle and one state of each component come first, in case that not even the short block can be completed; idle is the
 * second, because it takes longest and has little information alone.
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

/* visits of idle in a pass of a gauge */
static size_t plan_idles(const struct plan *plan)
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
 * A modem is never off, and its tail lasts into the next state, where it is known only if that has packets,
 * too: so these states come together, after the others. Small packets may leave it in the channel where the
 * state before had it: the fast
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
