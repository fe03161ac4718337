/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Conditions that end a dwell, or that make its observation unusable. */

#include <errno.h>

#include "check.h"
#include "hardware/group.h"
#include "run/plan.h"
#include "run/refuse.h"
#include "runner-fixture.h"

static volatile sig_atomic_t a_signal = 1;

static void stops_when_asked(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct observation observation;
        struct runner runner;
        struct plan plan;

        open_quiet("level_step_percent = 1\n", 90.5, &hardware, &description);
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &a_signal, false, &runner), 0);
        check_int(runner_burn(&runner, &plan.modes[plan.burn].mode, &observation), -EINTR);
        runner.stop = &no_signal;
        runner.deadline_ns = runner.look.at_ns + 5000000000;
        check_int(runner_steps(&runner, &plan.modes[0].mode, 1, &observation), -ETIME);
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops->close(hardware);
}

/* Loads that did not run, or without what they need. */
static void refuses_loads(void)
{
        static const struct {
                struct mode mode;
                struct usage usage;
                const char *want;
        } cases[] = {
                { { .read_mb_per_s = 2 }, { .have = USAGE_DISK, .read_bytes = 60000000 }, "" }, /* it may be slow */
                { { .read_mb_per_s = 2 }, { .have = USAGE_DISK, .read_bytes = 6000000 },
                  "read 6.0 of the 200.0 MB asked for" },
                { { .read_mb_per_s = 2 }, { .have = USAGE_WIFI }, "" }, /* not counted */
                { { .write_mb_per_s = 1 }, { .have = USAGE_DISK }, "wrote 0.0 of the 100.0 MB asked for" },
                { { .wifi_on = true, .rx_mb_per_s = 1 }, { .have = USAGE_WIFI, .wifi_on_ns = 100000000000 },
                  "received 0.0 of the 100.0 MB asked for" },
                { { .wifi_on = true, .tx_mb_per_s = 1 },
                  { .have = USAGE_WIFI, .wifi_on_ns = 99000000000, .wifi_tx_bytes = 101000000 }, "" },
                { { .wifi_on = true, .wakes_per_s = 0.8 },
                  { .have = USAGE_WIFI, .wifi_on_ns = 100000000000, .wifi_wakes = 60 }, "" },
                { { .wifi_on = true, .wakes_per_s = 0.8 }, { .have = USAGE_WIFI, .wifi_on_ns = 100000000000 },
                  "only 0 of the 80 wake-ups asked for were counted" },
                { { .wifi_on = true, .tx_mb_per_s = 1 },
                  { .have = USAGE_WIFI, .wifi_on_ns = 40000000000, .wifi_tx_bytes = 40000000 },
                  "WiFi was associated only 40 % of the time" },
        };
        struct hardware_description description = { 0 };
        struct runner runner = { .description = &description };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct observation observation = { .elapsed_ns = 100000000000, .usage = cases[i].usage };

                runner_reject(&runner, &cases[i].mode, &observation);
                check_text(observation.rejected, cases[i].want);
                check_int(runner_rejected_away(&observation), strstr(cases[i].want, "associated") != NULL);
        }
}

/* A mode without an access point reports that; the run tries again later. */
static int not_connected(struct hardware *hardware, const struct mode *mode)
{
        return -ENOTCONN;
}

/* A mode that takes long to set up gives up on a signal, without blaming the mode. */
static volatile sig_atomic_t later;

static int interrupted(struct hardware *hardware, const struct mode *mode)
{
        later = 1;
        return -EINTR;
}

static void stops_while_a_mode_is_set_up(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct observation observation;
        struct hardware_ops ops;
        struct runner runner;
        struct plan plan;

        open_quiet("level_step_percent = 1\n", 90.5, &hardware, &description);
        ops = *hardware->ops;
        ops.apply = interrupted;
        hardware->ops = &ops;
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &later, false, &runner), 0);
        check_int(runner_burn(&runner, &plan.modes[plan.burn].mode, &observation), -EINTR);
        check_int(runner.hindrance, 0);
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops->close(hardware);
}

static void passes_on_that_nothing_is_connected(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct observation observation;
        struct hardware_ops ops;
        struct runner runner;
        struct plan plan;

        open_quiet("level_step_percent = 1\ngauge_period_s = 3.5\n", 90.5, &hardware, &description);
        ops = *hardware->ops;
        ops.apply = not_connected;
        hardware->ops = &ops;
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &no_signal, false, &runner), 0);
        runner.gauge_period_s = 3.5;
        check_int(runner_steps(&runner, &plan.modes[0].mode, 1, &observation), -ENOTCONN);
        check_int(runner.hindrance, 0);
        check_int(runner_dwell(&runner, &plan.modes[0].mode, &observation), -ENOTCONN);
        check_int(runner.hindrance, 0);
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops->close(hardware);
}

/*
 * A load on one core of a group: background work on the other cores at the lowest frequency is no throttling.
 */
static void refuses_a_throttled_group(void)
{
        static const struct {
                uint64_t at_ns, below_ns;
                const char *rejected;
        } cases[] = {
                { 99000000000, 0, "" },
                { 99000000000, 5000000000, "" }, /* by cycles all four are counted as one: other cores' work */
                { 97500000000, 2500000000, "policy 4 ran at 1000000 kHz only 98 % of the time" },
                { 50000000000, 50000000000, "policy 4 ran at 1000000 kHz only 50 % of the time" },
        };
        struct hardware_description description = { 0 };
        struct runner runner = { .description = &description, .step_percent = 1 };
        struct mode mode = { .name = "m", .policy_khz = { 1000000 }, .policy_cores = { 1 } };

        for (uint32_t cpu = 4; cpu < 8; cpu++) {
                const struct hardware_policy policy = { .policy = cpu, .n_cpus = 1, .khz = { 384000, 1000000 },
                                                        .n_khz = 2 };

                check_int(group_add(&description, &policy, 4, true), 0);
        }
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct observation observation = { .elapsed_ns = 100000000000, .usage.have = USAGE_CPU };

                check_int(usage_add_cpu(&observation.usage, 4, 1000000, cases[i].at_ns, cases[i].at_ns), 0);
                check_int(usage_add_cpu(&observation.usage, 4, 384000, cases[i].below_ns, cases[i].below_ns), 0);
                check_int(usage_add_cpu(&observation.usage, 6, 384000, 5000000000, 5000000000), 0);
                runner_reject(&runner, &mode, &observation);
                check_text(observation.rejected, cases[i].rejected);
                observation_clear(&observation);
        }
}

static void refuses(void)
{
        struct hardware_policy policy = { .n_cpus = 4, .khz = { 384000, 1000000 }, .n_khz = 2 };
        struct hardware_description description = { .n_policies = 1, .policies = { policy } };
        struct runner runner = { .description = &description, .step_percent = 1 };
        struct mode mode = { .name = "m", .policy_khz = { 1000000 }, .policy_cores = { 1 } };
        struct observation good = { .elapsed_ns = 100000000000 }, observation;

        refresh_start(&runner.refresh);
        good.usage.have = USAGE_CPU;
        check_int(usage_add_cpu(&good.usage, 0, 1000000, 99000000000, 99000000000), 0);

        observation = good;
        runner_reject(&runner, &mode, &observation);
        check_text(observation.rejected, "");

        mode.policy_khz[0] = 384000; /* it ran at another frequency than asked for */
        runner_reject(&runner, &mode, &observation);
        check_text(observation.rejected, "policy 0 ran at 384000 kHz only 0 % of the time");

        mode.policy_khz[0] = 1000000;
        mode.policy_cores[0] = 4;
        observation = good;
        runner_reject(&runner, &mode, &observation);
        check_text(observation.rejected, "policy 0 was busy only 25 % of the time asked");

        mode.policy_cores[0] = 0;
        observation = good;
        runner_reject(&runner, &mode, &observation);
        check_text(observation.rejected, "other programs kept 0.99 cores busy");

        mode.tx_mb_per_s = 2; /* sending costs CPU time itself: of a slow CPU more than a core, but not two */
        observation = good;
        observation.usage.cpu.list[0].busy_ns = 200000000000;
        runner_reject(&runner, &mode, &observation);
        check_text(observation.rejected, "other programs kept 2.00 cores busy");
        observation = good;
        observation.usage.cpu.list[0].busy_ns = 130000000000;
        runner_reject(&runner, &mode, &observation);
        check(strstr(observation.rejected, "other programs") == NULL);
        mode.tx_mb_per_s = 0;

        mode.policy_cores[0] = 1;
        runner.span.disturbed = true;
        observation = good;
        runner_reject(&runner, &mode, &observation);
        check_text(observation.rejected, "the charger was plugged in");

        runner.span.disturbed = false;
        runner.span.suspend_ns = 3000000000;
        observation = good;
        runner_reject(&runner, &mode, &observation);
        check_text(observation.rejected, "the machine slept for 3 s");

        observation = good;
        runner_reject_steps(&runner, -1, 0, 1, &observation);
        check_text(observation.rejected, "the level rose by 1.00 %");
        observation = good;
        observation.steps = 3;
        observation.elapsed_ns = 600000000000;
        runner_reject_steps(&runner, 3, 3, 1, &observation);
        check_text(observation.rejected, "the level jumped by 3.00 % at once");

        runner.look = (struct look){ .status = BATTERY_CHARGING,
                                     .level_percent = 90,
                                     .capacity_percent = 90 };
        check_int(refuse_start(&description, &runner.look, METHOD_PERCENT, NULL), -EINVAL);
        runner.look.status = BATTERY_DISCHARGING;
        check_int(refuse_start(&description, &runner.look, METHOD_PERCENT, NULL), 0);
        runner.look.power_mw = NAN;
        check_int(refuse_start(&description, &runner.look, METHOD_GAUGE, NULL), -EINVAL);
        runner.look.capacity_percent = 24;
        check_int(refuse_start(&description, &runner.look, METHOD_PERCENT, NULL), -EINVAL);

        check(!runner_rejected_too_many(3, 3) && runner_rejected_too_many(4, 10) && !runner_rejected_too_many(5, 50));
        usage_clear(&good.usage);
}

int main(void)
{
        stops_when_asked();
        refuses_a_throttled_group();
        refuses();
        refuses_loads();
        passes_on_that_nothing_is_connected();
        stops_while_a_mode_is_set_up();
        return check_result();
}
