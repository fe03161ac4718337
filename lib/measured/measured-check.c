/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Values that no span can have, and values that are likely in another unit. A wrong unit is a factor of 1000 or more,
 * so that wide limits find it.
 */

#include <math.h>
#include <stdio.h>

#include "measured-private.h"
#include "util/units.h"

/* Counters are read one after another, and some count in ticks of 1/100 s: so much beyond a span is no other unit. */
#define CLOCKS_PART 0.1
#define CLOCKS_S 0.05

/* Battery life at the mean power, h: no battery is empty sooner, and no awake device lasts longer. */
#define LIFE_LEAST_H (5.0 / 60)
#define LIFE_MOST_H 1000.0

enum part {
        PART_CPU,
        PART_SHARED,
        PART_IDLE,
        PART_SCREEN,
        PART_ACTIVE,
        PART_GPU,
        PART_WIFI,
        PART_BLUETOOTH,
        PART_SUSPEND,
        PART_COUNT
};

/* Times relative to a span's length: the largest one of a likely trace, and the largest that is possible. */
static const struct {
        const char *word; /* CPU: its columns are WORD.POLICY.KHZ */
        double low, high, most;
} parts[PART_COUNT] = {
        [PART_CPU] = { "cpu", 0.01, 64, 1024 }, /* number of CPUs; ten busy ones in us are 0.01 */
        [PART_SHARED] = { "shared", 0.01, 1, 1 },
        [PART_IDLE] = { "idle", 0, 1, INFINITY }, /* with the time in which any CPU is busy */
        [PART_SCREEN] = { "screen.LEVEL", 0.01, 1, INFINITY },
        [PART_ACTIVE] = { "time_ms", 0.01, 1, INFINITY },
        [PART_GPU] = { "gpu_busy_ns", 0.001, 16, INFINITY }, /* summed over engines */
        [PART_WIFI] = { "wifi_on_ns", 0.01, 1, INFINITY },
        [PART_BLUETOOTH] = { "bluetooth_on_ns", 0.01, 1, INFINITY },
        [PART_SUSPEND] = { "suspend_ns", 0, 1, INFINITY },
};

struct check {
        const struct parser *parser;
        const struct measured_span *span;
        double most[PART_COUNT];                 /* largest time relative to a span's length ... */
        char columns[PART_COUNT][CSV_FIELD_MAX]; /* ... and its columns */
        double busy_s, any_s;                    /* CPU time, and that of any core, where this one is most above */
};

static double limit(double most, double elapsed_s)
{
        return most * elapsed_s * (1 + CLOCKS_PART) + CLOCKS_S;
}

static int check_time(struct check *check, enum part part, const char *columns, double ns)
{
        double elapsed_s = check->span->elapsed_s, seconds = ns / NS_PER_S;
        char what[CSV_FIELD_MAX + 128];

        if (seconds > limit(parts[part].most, elapsed_s)) {
                snprintf(what, sizeof(what), "%s: %.4g s in a span of %.4g s, which can have at most %.4g s; is the "
                         "unit right?", columns, seconds, elapsed_s, parts[part].most * elapsed_s);
                return measured_complain(check->parser, check->span->line, what, NULL);
        }
        if (seconds / elapsed_s > check->most[part]) {
                check->most[part] = seconds / elapsed_s;
                snprintf(check->columns[part], sizeof(check->columns[part]), "%s", columns);
        }
        return 0;
}

static int check_policy(struct check *check, enum part part, uint32_t policy, double ns)
{
        char columns[CSV_FIELD_MAX] = "CPU time by frequency";

        if (policy != POLICY_UNKNOWN)
                snprintf(columns, sizeof(columns), "%s.%u.KHZ", parts[part].word, policy);
        return check_time(check, part, columns, ns);
}

static void sum_policy(const struct points *points, uint32_t policy, double *ns, double *any_ns)
{
        *ns = *any_ns = 0;
        for (size_t i = 0; i < points->n; i++) {
                if (points->list[i].policy != policy)
                        continue;
                *ns += (double)points->list[i].ns;
                *any_ns += (double)points->list[i].any_ns;
        }
}

static int check_cpu(struct check *check, const struct usage *sum)
{
        bool shared = check->parser->keys[KEY_SHARED] > 0;
        double busy_ns, any_ns, idle_ns, none;
        int err = 0;

        for (size_t i = 0; !err && i < sum->cpu.n; i++) {
                uint32_t policy = sum->cpu.list[i].policy;

                if (i > 0 && policy == sum->cpu.list[i - 1].policy)
                        continue;
                sum_policy(&sum->cpu, policy, &busy_ns, &any_ns);
                err = check_policy(check, PART_CPU, policy, busy_ns);
                if (!err && shared)
                        err = check_policy(check, PART_SHARED, policy, any_ns);
                if (any_ns / NS_PER_S - busy_ns / NS_PER_S > check->any_s - check->busy_s) {
                        check->busy_s = busy_ns / NS_PER_S;
                        check->any_s = any_ns / NS_PER_S;
                }
        }
        for (size_t i = 0; !err && i < sum->idle.n; i++) {
                uint32_t policy = sum->idle.list[i].policy;

                if (i > 0 && policy == sum->idle.list[i - 1].policy)
                        continue;
                sum_policy(&sum->idle, policy, &idle_ns, &none);
                sum_policy(&sum->cpu, policy, &busy_ns, &any_ns);
                err = check_policy(check, PART_IDLE, policy, idle_ns + (shared ? any_ns : 0));
        }
        return err;
}

static double longest_active_s(const struct measured_span *span)
{
        double most = 0;

        for (size_t i = 0; i < span->n_owners; i++)
                most = fmax(most, span->owners[i].active_s);
        return most;
}

static int check_span(struct check *check)
{
        _cleanup_(usage_clear) struct usage sum = { 0 };
        int err = measured_sum(check->span, &sum);
        const double ns[PART_COUNT] = {
                [PART_SCREEN] = (double)usage_points_sum_ns(&sum.screen),
                [PART_ACTIVE] = longest_active_s(check->span) * NS_PER_S,
                [PART_GPU] = (double)sum.gpu_busy_ns,
                [PART_WIFI] = (double)sum.wifi_on_ns,
                [PART_BLUETOOTH] = (double)sum.bluetooth_on_ns,
                [PART_SUSPEND] = (double)sum.suspend_ns,
        };

        if (!err)
                err = check_cpu(check, &sum);
        for (enum part part = PART_SCREEN; !err && part < PART_COUNT; part++)
                err = check_time(check, part, parts[part].word, ns[part]);
        return err;
}

int measured_check_times(const struct parser *parser)
{
        struct check check = { .parser = parser };
        int err = 0;

        for (size_t i = 0; !err && i < parser->trace->n; i++) {
                check.span = &parser->trace->spans[i];
                if (!check.span->unknown) /* sums lack what empty cells would add */
                        err = check_span(&check);
        }
        for (size_t i = 0; !err && i < PART_COUNT; i++)
                if (check.most[i] > 0 && (check.most[i] < parts[i].low ||
                                          check.most[i] > limit(parts[i].high, 1)))
                        log_warning(parser->log, "%s: %s: the most in any span is %.2g times its length; expected are "
                                    "%g to %g times; is the unit right?", parser->file, check.columns[i], check.most[i],
                                    parts[i].low, parts[i].high);
        if (!err && check.any_s > limit(1, check.busy_s))
                log_warning(parser->log, "%s: a span has %.4g s in shared.POLICY.KHZ and %.4g s in cpu.POLICY.KHZ, but"
                            " some core is busy at most as long as all of them; are the units right?", parser->file,
                            check.any_s, check.busy_s);
        return err;
}

void measured_check_power(const struct measured_trace *trace, double full_mwh)
{
        static const char *const columns[] = { [MEASURED_BY_METER] = "power_mw or energy_j",
                                               [MEASURED_BY_CHARGE] = "charge_uah and voltage_mv" };

        for (enum measured_by by = MEASURED_BY_METER; by <= MEASURED_BY_CHARGE; by++) {
                double joules = 0, seconds = 0, mean_mw;

                for (size_t i = 0; i < trace->n; i++) {
                        const struct measured_span *span = &trace->spans[i];

                        if (span->by != by || !(span->energy_j > 0) || span->owners[0].usage.suspend_ns > 0)
                                continue;
                        joules += span->energy_j;
                        seconds += span->elapsed_s;
                }
                mean_mw = joules / seconds * 1e3;
                if (mean_mw < full_mwh / LIFE_MOST_H || mean_mw > full_mwh / LIFE_LEAST_H)
                        log_warning(trace->log, "%s: %s: the mean power is %.3g mW; expected are %.3g to %.3g mW of a "
                                    "battery of %.0f mWh; is the unit right?", trace->file, columns[by], mean_mw,
                                    full_mwh / LIFE_MOST_H, full_mwh / LIFE_LEAST_H, full_mwh);
        }
}
