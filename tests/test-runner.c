/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The runner on virtual devices without noise: observations equal the device's true power. */

#include <errno.h>

#include "check.h"
#include "hardware/group.h"
#include "model/profile.h"
#include "run/plan.h"
#include "run/refuse.h"
#include "run/runner-private.h"
#include "util/util.h"

static const char device_text[] =
        "[profile]\nversion = 1\ndevice = quiet\nmethod = virtual\n"
        "[battery]\nenergy_full_mwh = 15000\n"
        "[base]\npower_mw = 150\n"
        "[cpu 0]\ncpus = 0-3\n"
        "active_mw.384000 = 160\nactive_mw.1000000 = 300\nshared_mw.384000 = 40\nshared_mw.1000000 = 80\n"
        "[display]\nmax_brightness = 255\npower_mw.5 = 360\npower_mw.255 = 850\n"
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n"
        "[wifi]\non_mw = 30\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n"
        "[virtual]\nseed = 7\nvoltage_mv.0 = 3500\nvoltage_mv.100 = 3500\n";

static const volatile sig_atomic_t no_signal;
static volatile sig_atomic_t a_signal = 1;

static void open_quiet(const char *more, double start_percent, struct hardware **hardware,
                       struct hardware_description *description)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        char text[2048];
        int n = snprintf(text, sizeof(text), "%s%s", device_text, more);

        check_int(profile_parse(text, (size_t)n, "quiet", NULL, &truth), 0);
        check_int(hardware_virtual_open(truth, 1, start_percent, NULL, hardware), 0);
        check_int((*hardware)->ops->describe(*hardware, description), 0);
}

/* mW of a mode on the device above. */
static double true_mw(const struct mode *mode)
{
        bool fast = mode->policy_khz[0] == 1000000;
        double mw = 150;

        if (mode->policy_cores[0])
                mw += (fast ? 80 : 40) + mode->policy_cores[0] * (fast ? 300.0 : 160.0);
        if (mode->screen_on)
                mw += 360 + (850.0 - 360) * (mode->brightness - 5) / 250;
        return mw + mode->read_mb_per_s * 6 + mode->write_mb_per_s * 25 + mode->wifi_on * 30 +
               mode->rx_mb_per_s * 350 + mode->tx_mb_per_s * 550 + mode->wakes_per_s * 120;
}

static void describes(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;

        open_quiet("level_step_percent = 1\n", 90, &hardware, &description);
        check_text(description.device, "quiet");
        check_int(description.n_policies, 1);
        check_int(description.policies[0].n_khz, 2);
        check_int(description.policies[0].n_cpus, 4);
        check_text(description.policies[0].cpus, "0-3");
        check(description.wifi && description.voltage && !description.gpu && !description.current_sensor);
        check_int(description.n_disks, 1);
        check_int(description.max_brightness, 255);
        check_near(description.rough_mwh, 15000, 1);
        hardware->ops->close(hardware);
}

/* Every mode of the plan by percent: the energy of a step over its time is the mode's power. */
static void percent(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct observation observation;
        struct runner runner;
        struct plan plan;

        open_quiet("level_step_percent = 1\nlevel_refresh_s = 0\n", 90, &hardware, &description);
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &no_signal, false, &runner), 0);
        check_int(refuse_start(&description, &runner.look, METHOD_PERCENT, NULL), 0);
        check_int(runner_burn(&runner, &plan.modes[plan.burn].mode, &observation), 0);
        check(observation.burn && isnan(observation.steps));
        observation_clear(&observation);
        for (size_t i = 0; i < plan.n; i++) {
                const struct mode *mode = &plan.modes[i].mode;
                double joules, mw;

                check_int(runner_steps(&runner, mode, 1, &observation), 0);
                joules = observation.charge_full_uah * 1e-6 * 3600 * observation.steps / 100 *
                         observation.voltage_mv / 1e3;
                mw = 1e3 * joules / ((double)observation.elapsed_ns / 1e9);
                check_near(mw, true_mw(mode), 0.005 * true_mw(mode)); /* half a second in 100 s and more */
                check_text(observation.mode, mode->name);
                check_text(observation.rejected, "");
                check_near(observation.steps, 1, 1e-9);
                check_int(observation.held_back, mode->held_back);
                check_near((double)usage_busy_ns(&observation.usage),
                           mode->policy_cores[0] * (double)observation.elapsed_ns, 1e6);
                check_near((double)usage_screen_ns(&observation.usage),
                           mode->screen_on ? (double)observation.elapsed_ns : 0, 1e6);
                check_near((double)observation.usage.read_bytes,
                           mode->read_mb_per_s * (double)observation.elapsed_ns / 1e3, 1e6);
                check_near((double)observation.usage.time_ns, (double)observation.elapsed_ns, 1e3);
                observation_clear(&observation);
        }
        check_near(runner_used_percent(&runner), (double)plan.n + 0.5, 1.01);
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops->close(hardware);
}

static int (*read_device)(struct hardware *hardware, struct sample *sample);
static int wifi_dbm;

/* It weakens by a decibel from one reading to the next. */
static int read_with_signal(struct hardware *hardware, struct sample *sample)
{
        int err = read_device(hardware, sample);

        sample->signal = (struct signal){ SIGNAL_WIFI, --wifi_dbm, 0 };
        return err;
}

static void signal_of_an_observation(void)
{
        const struct mode mode = { .name = "wifi.on", .kind = "wifi", .wifi_on = true };
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct hardware_ops ops;
        struct observation observation;
        struct runner runner;
        struct plan plan;
        int first;

        open_quiet("gauge_period_s = 3.5\ngauge_noise_percent = 0.3\ngauge_quantum_mw = 1\n", 90, &hardware,
                   &description);
        ops = *hardware->ops;
        read_device = ops.read;
        ops.read = read_with_signal;
        hardware->ops = &ops;
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &no_signal, false, &runner), 0);
        check_int(runner_learn_gauge(&runner, &plan.modes[plan.burn].mode), 0);
        first = wifi_dbm;
        check_int(runner_dwell(&runner, &mode, &observation), 0);
        check(first - wifi_dbm > 10);
        check(observation.wifi_signal_dbm > wifi_dbm && observation.wifi_signal_dbm < first);
        check(isnan(observation.cellular_signal_percent));
        observation_clear(&observation);
        first = wifi_dbm;
        check_int(runner_dwell(&runner, &mode, &observation), 0);
        check(observation.wifi_signal_dbm < first); /* nothing of the one before */
        observation_clear(&observation);
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops->close(hardware);
}

static void gauge(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct observation observation;
        struct runner runner;
        struct plan plan;

        open_quiet("gauge_period_s = 3.5\ngauge_noise_percent = 0.3\ngauge_quantum_mw = 1\n", 90, &hardware,
                   &description);
        check(description.current_sensor);
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &no_signal, false, &runner), 0);
        check_int(runner_learn_gauge(&runner, &plan.modes[plan.burn].mode), 0);
        check_near(runner.gauge_period_s, 3.5, 0.1);
        check_near(runner.gauge_quantum_mw, 1, 4);
        for (size_t i = 0; i < plan.n; i++) {
                const struct mode *mode = &plan.modes[i].mode;
                double burst_mw = mode->wakes_per_s > 0 ? 12 : 1; /* one burst (120 mJ) more or less in 10
                                                                     s */

                check_int(runner_dwell(&runner, mode, &observation), 0);
                check_near(observation.power_mw, true_mw(mode), 0.006 * true_mw(mode) + burst_mw);
                check(observation.gauge_updates >= 3);
                check_text(observation.rejected, "");
                observation_clear(&observation);
        }
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops->close(hardware);
}

/* The bursts that are counted are those that the gauge's updates show: neither one more nor one less in each dwell. */
static void bursts_are_counted_where_paid(void)
{
        struct hardware_description description;
        const struct planned_mode *wake;
        struct hardware *hardware = NULL;
        double counted = 0, paid = 0;
        struct runner runner;
        struct plan plan;

        open_quiet("gauge_period_s = 3.5\ngauge_noise_percent = 0.1\ngauge_quantum_mw = 0.1\n", 90, &hardware, &description);
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &no_signal, false, &runner), 0);
        check_int(runner_learn_gauge(&runner, &plan.modes[plan.burn].mode), 0);
        wake = plan_find(&plan, "wifi.wake");
        for (size_t i = 0; i < 16; i++) {
                const struct mode *mode = i % 2 ? &wake->mode : &plan.modes[i].mode;
                struct mode silent = wake->mode;
                struct observation observation;

                silent.wakes_per_s = 0;
                check_int(runner_dwell(&runner, mode, &observation), 0);
                if (i % 2) {
                        double burst_mj = (true_mw(mode) - true_mw(&silent)) / mode->wakes_per_s;
                        double seconds = (double)observation.elapsed_ns / 1e9;

                        counted += (double)observation.usage.wifi_wakes;
                        paid += (observation.power_mw - true_mw(&silent)) * seconds / burst_mj;
                }
                observation_clear(&observation);
        }
        check(counted > 80);
        check_near(paid / counted, 1, 0.03);
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops->close(hardware);
}

/* Without noise and background a gauge shows a steady load as a constant. */
static void gauge_without_noise(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct runner runner;
        struct plan plan;

        open_quiet("gauge_period_s = 3.5\n", 90, &hardware, &description);
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &no_signal, false, &runner), 0);
        check_int(runner_learn_gauge(&runner, &plan.modes[plan.burn].mode), 0);
        check_near(runner.gauge_period_s, 3.5, 0.1);
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops->close(hardware);
}

static const struct hardware_ops *device_ops;

/* The same device by current_now, with a voltage_now that changes at each look. */
static int read_amperes(struct hardware *hardware, struct sample *sample)
{
        static unsigned looks;
        int err = device_ops->read(hardware, sample);

        sample->battery.current_ua = sample->battery.power_uw / 4;
        sample->battery.power_uw += ++looks % 2;
        return err;
}

/* Nothing of the mode before is left in a mean, however slow the gauge is and however it shows power. */
static void gauge_forgets(bool amperes)
{
        static const char *const periods[] = { "gauge_period_s = 1\n", "gauge_period_s = 3.5\n",
                                               "gauge_period_s = 30\n" };

        for (size_t p = 0; p < ARRAY_SIZE(periods); p++) {
                struct hardware_description description;
                struct hardware *hardware = NULL;
                struct observation observation;
                struct runner runner;
                struct hardware_ops ops;
                struct plan plan;

                open_quiet(periods[p], 90, &hardware, &description);
                device_ops = hardware->ops;
                ops = *device_ops;
                ops.read = amperes ? read_amperes : ops.read;
                hardware->ops = &ops;
                check_int(plan_make(&description, &plan), 0);
                check_int(runner_open(hardware, &description, &no_signal, false, &runner), 0);
                check_int(runner_learn_gauge(&runner, &plan.modes[plan.burn].mode), 0);
                for (size_t i = 0; i < 40; i++) { /* heaviest and idle in turn */
                        const struct mode *mode = &plan.modes[i % 2 ? plan.burn : 0].mode;

                        check_int(runner_dwell(&runner, mode, &observation), 0);
                        check_near(observation.power_mw, true_mw(mode), 1e-3 * true_mw(mode));
                        observation_clear(&observation);
                }
                plan_clear(&plan);
                runner_close(&runner);
                hardware->ops = device_ops;
                hardware->ops->close(hardware);
        }
}

#define LOOK_NS UINT64_C(100000000)

static int read_slowly(struct hardware *hardware, struct sample *sample)
{
        int err = device_ops->read(hardware, sample);

        return err ? err : device_ops->wait(hardware, device_ops->now_ns(hardware) + LOOK_NS);
}

/* Looks that take a while let no update of a fast gauge pass. */
static void slow_looks(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct hardware_ops ops;
        struct runner runner;
        struct plan plan;

        open_quiet("gauge_period_s = 0.75\ngauge_noise_percent = 0.3\ngauge_quantum_mw = 1\n", 90, &hardware, &description);
        device_ops = hardware->ops;
        ops = *device_ops;
        ops.read_battery = read_slowly;
        hardware->ops = &ops;
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &no_signal, false, &runner), 0);
        check_int(runner_learn_gauge(&runner, &plan.modes[plan.burn].mode), 0);
        check_near(runner.gauge_period_s, 0.75, 0.05);
        for (size_t i = 0; i < 10; i++) {
                const struct mode *mode = &plan.modes[plan.burn].mode;
                struct observation observation;
                uint64_t began_ns = runner.look.at_ns;

                check_int(runner_dwell(&runner, mode, &observation), 0);
                check_near(observation.power_mw, true_mw(mode), 0.006 * true_mw(mode));
                check_near((double)(runner.look.at_ns - began_ns) / 1e9, runner_dwell_s(0.75), 2);
                observation_clear(&observation);
        }
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops = device_ops;
        hardware->ops->close(hardware);
}

static void dwells_follow_the_gauge(void)
{
        check_near(runner_dwell_s(3.5), 18, 1);
        check_near(runner_dwell_s(10), 28, 2);
        check_near(runner_dwell_s(30), 78, 2);
        check_near(runner_idle_more_s(3.5, 300), 56, 2); /* 70 s of idle in all, as the daemons' time is */
        check_near(runner_idle_more_s(3.5, 30), 0, 0);
}

static void ticks(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct observation observation;
        struct runner runner;
        struct plan plan;

        open_quiet("level_step_percent = 0.1\nlevel_refresh_s = 1\n", 90, &hardware, &description);
        check(description.fine_level);
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &no_signal, true, &runner), 0);
        check_int(runner_burn(&runner, &plan.modes[plan.burn].mode, &observation), 0);
        check_near(runner.step_percent, 0.1, 1e-3);
        observation_clear(&observation);
        for (size_t i = 0; i < plan.n; i++) {
                const struct mode *mode = &plan.modes[i].mode;
                double mw;

                check_int(runner_steps(&runner, mode, 0.2, &observation), 0);
                mw = 1e3 * 15000 * 3.6 * observation.steps / 100 / ((double)observation.elapsed_ns / 1e9);
                check(observation.elapsed_ns >= UINT64_C(60000000000));
                check(observation.steps >= 0.199);
                check_near(mw, true_mw(mode), 0.03 * true_mw(mode)); /* a second of delay in a minute */
                check_int(observation.method, METHOD_TICKS);
                observation_clear(&observation);
        }
        check_near(runner.refresh.period_s, 1, 0.3);
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops->close(hardware);
}

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
                { { .read_mb_per_s = 2 }, { .have = USAGE_DISK, .read_bytes = 60000000 }, "" }, /* being
                                                                                                   slow is
                                                                                                   no fault */
                { { .read_mb_per_s = 2 }, { .have = USAGE_DISK, .read_bytes = 6000000 }, "read 6.0 of the 200.0 MB asked for" },
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
        describes();
        percent();
        gauge();
        signal_of_an_observation();
        bursts_are_counted_where_paid();
        gauge_without_noise();
        gauge_forgets(false);
        gauge_forgets(true);
        slow_looks();
        dwells_follow_the_gauge();
        ticks();
        stops_when_asked();
        refuses_a_throttled_group();
        refuses();
        refuses_loads();
        passes_on_that_nothing_is_connected();
        stops_while_a_mode_is_set_up();
        return check_result();
}
