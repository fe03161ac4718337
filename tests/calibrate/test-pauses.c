/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Disturbances of a run on a virtual device: it is plugged in, its load ends, it gets too hot, its readings
 * are wrong.
 */

#include "watched-run.h"

#define PLUGGED "paused: the charger is plugged in"

/* The interrupted dwell is repeated, and every mode of the block is measured. */
static void gauge_pauses(void)
{
        struct test calm = { 0 }, test = { .hardware = { .answer = -EAGAIN, .from_s = 430, .until_s = 730 } };

        run(&calm, METHOD_GAUGE);
        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check_text(test.run.stopped, "all passes made");
        check_int(test.hardware.begins, 2);
        check_int(count(&test, NULL, PLUGGED), 1);
        check_int(test.n, calm.n + 1);
        check_int(test.run.n_rejected, 0);
        for (size_t i = 0; i < calm.run.plan.n; i++)
                check_int(count(&test, calm.run.plan.modes[i].mode.name, ""),
                          count(&calm, calm.run.plan.modes[i].mode.name, ""));
        for (size_t i = 0; i + 1 < test.n; i++)
                if (test.list[i].rejected[0])
                        check_text(test.list[i + 1].mode, test.list[i].mode);
        end(&calm);
        end(&test);
}

/* Plugged in before the gauge's period is known. */
static void gauge_pauses_while_learning(void)
{
        struct test test = { .hardware = { .answer = -EAGAIN, .from_s = 1, .until_s = 100 } };

        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check_text(test.run.stopped, "all passes made");
        check_int(test.hardware.begins, 2);
        check_int(count(&test, NULL, PLUGGED), 0);
        check_near(test.run.runner.gauge_period_s, 3.5, 0.1);
        end(&test);
}

/* Plugged in just after the check at the start. */
static void begins_plugged_in(void)
{
        struct test test = { .hardware = { .answer = -EAGAIN, .from_s = 0, .until_s = 100 } };

        run(&test, METHOD_PERCENT);
        check_int(test.err, 0);
        check_int(test.hardware.begins, 2);
        check_int(test.run.n_rejected, 0);
        check(test.n > 10);
        end(&test);
}

/* The level's steps are lost: the rest of a step is skipped, then the mode is repeated. */
static void percent_pauses(void)
{
        struct test test = { .hardware = { .answer = -EAGAIN, .from_s = 9000, .until_s = 12000 } };
        size_t paused = 0;

        run(&test, METHOD_PERCENT);
        check_int(test.err, 0);
        check_int(test.hardware.begins, 2);
        check_int(count(&test, NULL, PLUGGED), 1);
        while (paused < test.n && strcmp(test.list[paused].rejected, PLUGGED) != 0)
                paused++;
        if (paused + 2 < test.n) {
                check(test.list[paused + 1].burn);
                check_text(test.list[paused + 2].mode, test.list[paused].mode);
                check_text(test.list[paused + 2].rejected, "");
        }
        check(paused + 2 < test.n);
        end(&test);
}

static void pauses_end(void)
{
        struct test test = { .hardware = { .answer = -EAGAIN, .from_s = 4000, .until_s = 1e9 } };

        run(&test, METHOD_PERCENT);
        check_int(test.err, 0);
        check_text(test.run.stopped, "paused for two hours");
        check_int(test.hardware.begins, 1);
        end(&test);
}

/* On a charger, which the first mode switches off, and again after a pause. */
static void on_its_charger(enum observation_method method)
{
        struct test test = { .hardware = { .on_charger = true, .answer = -EAGAIN, .from_s = 1000, .until_s = 1100 } };

        run(&test, method);
        check_int(test.err, 0);
        check_int(test.hardware.begins, 2);
        check_int(count(&test, NULL, PLUGGED), 1);
        check_int(count(&test, NULL, "the charger was plugged in"), 0);
        check_int(test.run.n_rejected, 0);
        check(test.run.n > 10);
        end(&test);
}

static void too_hot(void)
{
        struct test test = { .hardware = { .answer = -ECANCELED, .from_s = 100, .until_s = 1e9 } };

        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check_text(test.run.stopped, "the charger is plugged in"); /* the hardware's reason */
        check_int(test.hardware.begins, 1);
        end(&test);
}

/* A load that ends only costs its own observations. */
static void load_ends(void)
{
        struct test test = { .hardware = { .load_of = "disk.read", .refuses = "disk.write" } };
        char why[64];

        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check_text(test.run.stopped, "all passes made");
        check_int(test.hardware.begins, 1);
        /* Its only pass, and once more at its end. */
        check_int(count(&test, "disk.read", "its load ended"), 2);
        snprintf(why, sizeof(why), "it cannot be held: %s", strerror(EHOSTUNREACH));
        check_int(count(&test, "disk.write", why), 2);
        check_int(count(&test, "disk.read", "") + count(&test, "disk.write", ""), 0);
        check_int(test.run.n_rejected, 4);
        end(&test);
}

/* A state that failed in its only pass is measured again at the end, and no coefficient is missing. */
static void rejected_comes_again(void)
{
        struct test test = { .hardware = { .load_of = "disk.read", .load_lasts_from = 2 } };

        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check_text(test.run.stopped, "all passes made");
        check_int(count(&test, "disk.read", "its load ended"), 1);
        check_int(count(&test, "disk.read", ""), 1);
        check_text(test.list[test.n - 1].mode, "disk.read");
        end(&test);
}

/* Observations during which the sensor showed nothing are rejected. */
static void sensor_goes_away(void)
{
        struct test test = { .hardware = { .mute_from_s = 430, .mute_until_s = 470 } };
        size_t n = 0;

        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check_text(test.run.stopped, "all passes made");
        for (size_t i = 0; i < test.n; i++)
                check(test.list[i].rejected[0] || test.list[i].power_mw > 0);
        n = count(&test, NULL, "the battery stopped showing its power");
        check(n >= 1 && n <= 3);
        check_int(test.run.n_rejected, n);
        end(&test);
}

/* Each pass is reported, also if its last mode is left out. */
static void tells_each_pass(void)
{
        struct test calm = { 0 }, test = { .aloud = true };

        run(&calm, METHOD_GAUGE);
        test.hardware.load_of = calm.list[calm.n - 1].mode;
        run(&test, METHOD_GAUGE);
        check_int(test.err, 0);
        check(count(&test, test.hardware.load_of, "its load ended") >= 1);
        check(strstr(test.told, "left out: its load ended\n") != NULL);
        check(strstr(test.told, "  pass 1 of 1: ") != NULL);
        check(!strstr(test.told, ", ;"));
        end(&calm);
        end(&test);
}

static void burn_must_run(void)
{
        struct test gauge = { .hardware = { .refuses = "burn" } },
                    percent = { .hardware = { .load_of = "burn" } };

        run(&gauge, METHOD_GAUGE);
        check_int(gauge.err, -EIO);
        end(&gauge);
        run(&percent, METHOD_PERCENT);
        check_int(percent.err, -EIO);
        end(&percent);
}

/* charge_now made from the percentage, constant, and at half the pace. */
static void charge_lies(void)
{
        struct test coarse = { .hardware = { .charge_coarse = true } },
                    stands = { .hardware = { .charge_share = 1e-9 } },
                    stray = { .hardware = { .charge_share = 0.5 }, .stop_percent = 1.5 }; /* it takes 9 % to show */

        run(&coarse, METHOD_TICKS);
        check_int(coarse.err, -EPROTO);
        check_text(coarse.said, "charge_now steps by 1.00 %, hardly finer than the percentage");
        end(&coarse);
        run(&stands, METHOD_TICKS);
        check_int(stands.err, -EPROTO);
        check_text(stands.said, "charge_now does not change while the percentage falls");
        end(&stands);
        run(&stray, METHOD_TICKS);
        check_int(stray.err, -EPROTO);
        check(strstr(stray.said, " % while the percentage fell by ") != NULL);
        end(&stray);
}

static double told_bytes;

static void limit_air(struct hardware *hardware, enum air air, double bytes)
{
        told_bytes = bytes;
}

/* The hardware gets the plan's limit: 4 GB by percent, 500 MB for short methods, unless a limit was given. */
static void moves_no_more_than_planned(void)
{
        static const struct {
                enum observation_method method;
                double said, want;
        } cases[] = {
                { METHOD_PERCENT, NAN, 4e9 }, { METHOD_GAUGE, NAN, 500e6 }, { METHOD_TICKS, NAN, 500e6 },
                { METHOD_PERCENT, 1e9, 1e9 }, { METHOD_GAUGE, 16e9, 16e9 }, { METHOD_GAUGE, 0, 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct hardware_ops ops = { .limit_air = limit_air };
                struct hardware hardware = { &ops };
                struct run_request request = { .passes = 4,
                                               .write_limit_bytes = 16e9,
                                               .wifi_limit_bytes = cases[i].said };
                struct run run = { .request = request, .hardware = &hardware, .method = cases[i].method };

                told_bytes = NAN;
                run_limits(&run);
                check_near(run.limits.wifi_bytes, cases[i].want, 0);
                check_near(told_bytes, cases[i].want, 0);
                run.request.virtual_device = true;
                told_bytes = NAN;
                run_limits(&run);
                check(isinf(run.limits.wifi_bytes) && isnan(told_bytes));
        }
}

/* A machine where looks cost: during a mode only the battery is read. */
static int read_battery(struct hardware *hardware, struct sample *sample)
{
        int err = read_sample(hardware, sample);

        sample->have &= SAMPLE_BATTERY;
        return err;
}

/* Components with a state instead of a counter count for their own mode, also if only its ends are read. */
static void states_are_the_modes(void)
{
        static const char device[] =
                "[profile]\nversion = 1\ndevice = lit\nmethod = virtual\n"
                "[battery]\nenergy_full_mwh = 15000\n"
                "[base]\npower_mw = 150\n"
                "[cpu 0]\ncpus = 0\nactive_mw.384000 = 160\nshared_mw.384000 = 40\n"
                "[display]\nmax_brightness = 255\npower_mw.5 = 300\npower_mw.255 = 800\n"
                "[wifi]\non_mw = 60\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n"
                "[virtual]\nseed = 7\nvoltage_mv.0 = 3500\nvoltage_mv.100 = 3500\nlevel_step_percent = 1\n"
                "level_refresh_s = 10\n";
        struct test test = { .device = device, .light = watched_ops };
        size_t lit = 0, associated = 0;

        test.light.read_battery = read_battery;
        run(&test, METHOD_PERCENT);
        check_int(test.err, 0);
        check_int(test.run.n_rejected, 0);
        for (size_t i = 0; i < test.n; i++) {
                const struct observation *observation = &test.list[i];
                const struct usage *usage = &observation->usage;
                double s = (double)observation->elapsed_ns;
                unsigned brightness;

                if (sscanf(observation->mode, "display.%u", &brightness) == 1) {
                        check_int(usage->screen.n, 1);
                        check_int(usage->screen.n ? usage->screen.list[0].brightness : 0, brightness);
                        check_near((double)(usage->screen.n ? usage->screen.list[0].on_ns : 0) / s, 1, 0.02);
                        lit++;
                } else if (!observation->burn && strcmp(observation->kind, "wifi") == 0) {
                        check_near((double)usage->wifi_on_ns / s, 1, 0.02);
                        associated++;
                } else if (strcmp(observation->kind, "idle") == 0) {
                        check_int(usage->screen.n, 0);
                        check_int(usage->wifi_on_ns, 0);
                }
        }
        check(lit >= 2 && associated >= 2);
        end(&test);
}

int main(void)
{
        signal(SIGPIPE, SIG_IGN);
        gauge_pauses();
        gauge_pauses_while_learning();
        begins_plugged_in();
        percent_pauses();
        pauses_end();
        on_its_charger(METHOD_PERCENT);
        on_its_charger(METHOD_TICKS);
        too_hot();
        load_ends();
        rejected_comes_again();
        states_are_the_modes();
        sensor_goes_away();
        tells_each_pass();
        burn_must_run();
        moves_no_more_than_planned();
        charge_lies();
        return check_result();
}
