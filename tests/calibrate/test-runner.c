/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The runner on virtual devices without noise: observations equal the device's true power. */

#include <errno.h>

#include "check.h"
#include "hardware/group.h"
#include "run/plan.h"
#include "run/refuse.h"
#include "runner-fixture.h"

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

        open_quiet("gauge_period_s = 3.5\ngauge_noise_percent = 0.1\ngauge_quantum_mw = 0.1\n", 90, &hardware,
                   &description);
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

static int looked_back;

/* Somebody changes a setting in the first state, and again in the third. */
static int look_back(struct hardware *hardware, char *reason, size_t size)
{
        int turn = looked_back++;

        if (turn % 2)
                return 0;
        snprintf(reason, size, "another program changed scaling_governor");
        return turn == 0 ? -EIO : -EBUSY;
}

static void changed_by_others(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct observation observation;
        struct hardware_ops ops;
        struct runner runner;
        struct plan plan;

        open_quiet("gauge_period_s = 1\n", 90, &hardware, &description);
        device_ops = hardware->ops;
        ops = *device_ops;
        ops.look_back = look_back;
        hardware->ops = &ops;
        check_int(plan_make(&description, &plan), 0);
        check_int(runner_open(hardware, &description, &no_signal, false, &runner), 0);
        check_int(runner_learn_gauge(&runner, &plan.modes[plan.burn].mode), 0);
        check_int(runner_dwell(&runner, &plan.modes[0].mode, &observation), 0);
        check_text(observation.rejected, "another program changed scaling_governor");
        check(runner.changed[0] && !runner_rejected_pause(&observation));
        observation_clear(&observation);
        check_int(runner_dwell(&runner, &plan.modes[0].mode, &observation), 0);
        check_text(observation.rejected, "");
        check(!runner.changed[0]);
        observation_clear(&observation);
        check_int(runner_dwell(&runner, &plan.modes[0].mode, &observation), -EBUSY);
        plan_clear(&plan);
        runner_close(&runner);
        hardware->ops = device_ops;
        hardware->ops->close(hardware);
}

#define LOOK_NS UINT64_C(100000000)

static int read_slowly(struct hardware *hardware, struct sample *sample)
{
        int err = device_ops->read(hardware, sample);

        return err ? err : device_ops->wait(hardware, device_ops->now_ns(hardware) + LOOK_NS);
}

/*
 * Looks that take a while let no update of a fast gauge pass. No two readings are alike: the second could not be told
 * from an update that did not come, after which a dwell begins later.
 */
static void slow_looks(void)
{
        struct hardware_description description;
        struct hardware *hardware = NULL;
        struct hardware_ops ops;
        struct runner runner;
        struct plan plan;

        open_quiet("gauge_period_s = 0.75\ngauge_noise_percent = 0.3\ngauge_quantum_mw = 0.001\n", 90, &hardware,
                   &description);
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
                check_near((double)(runner.look.at_ns - began_ns) / 1e9, runner_dwell_s(0.75), 1);
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
        check_near(runner_mode_s(&(struct mode){ .kind = "idle" }, 3.5, 300), 74, 2); /* by the daemons' time */
        check_near(runner_mode_s(&(struct mode){ .kind = "idle" }, 3.5, 30), runner_dwell_s(3.5), 0);
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
        changed_by_others();
        dwells_follow_the_gauge();
        ticks();
        return check_result();
}
