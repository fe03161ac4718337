/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs whose access point disappears, comes back, or does not. */

#include "watched-run.h"

static const char wifi_text[] =
        "[profile]\nversion = 1\ndevice = connected\nmethod = virtual\n"
        "[battery]\nenergy_full_mwh = 15000\n"
        "[base]\npower_mw = 150\n"
        "[cpu 0]\ncpus = 0-1\n"
        "active_mw.384000 = 160\nactive_mw.1000000 = 300\nshared_mw.384000 = 40\nshared_mw.1000000 = 80\n"
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n"
        "[wifi]\non_mw = 60\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n"
        "[virtual]\nseed = 7\nvoltage_mv.0 = 3500\nvoltage_mv.100 = 3500\nlevel_step_percent = 1\n"
        "gauge_period_s = 3.5\ngauge_noise_percent = 0.3\n";

static size_t wifi_measured(const struct test *test)
{
        size_t n = 0;

        for (size_t i = 0; i < test->n; i++) {
                const struct planned_mode *mode = plan_find(&test->run.plan, test->list[i].mode);

                n += mode && mode->mode.wifi_on && test->list[i].rejected[0] == '\0';
        }
        return n;
}

/* Every mode of the block was measured. */
static void check_all_measured(const struct test *test)
{
        for (size_t i = 0; i < test->run.plan.n; i++)
                if (test->run.plan.modes[i].role == ROLE_BLOCK)
                        check(count(test, test->run.plan.modes[i].mode.name, "") > 0);
}

/*
 * The access point disappears and comes back: modes that need it are measured at the end of the pass or
 * block, and failed tries do no harm to what follows.
 */
static void access_point_comes_back(void)
{
        struct test calm = { .device = wifi_text }, gauge = { .device = wifi_text },
                    percent = { .device = wifi_text };

        run(&calm, METHOD_GAUGE);
        check_int(calm.hardware.tries, 0);
        gauge.hardware.away_until_s = 450;
        run(&gauge, METHOD_GAUGE);
        check_int(gauge.err, 0);
        check_text(gauge.run.stopped, "all passes made");
        check_int(gauge.hardware.tries, 1);
        check_int(gauge.n, calm.n);
        check(wifi_measured(&calm) > 0);
        check_int(wifi_measured(&gauge), wifi_measured(&calm));
        check_int(gauge.run.n_rejected, 0);
        check_int(gauge.run.away.tries, 0);
        check_all_measured(&gauge);
        end(&calm);
        end(&gauge);

        percent.hardware.away_until_s = 8600;
        run(&percent, METHOD_PERCENT);
        check_int(percent.err, 0);
        check(percent.hardware.tries >= 1 && percent.hardware.tries <= 4); /* after 0, 10, 30 and 70 minutes */
        check_int(percent.run.n_rejected, 0);
        check_int(percent.run.away.tries, 0);
        check_all_measured(&percent);
        end(&percent);
}

/* One that stays away costs six tries and no other mode. */
static void access_point_stays_away(void)
{
        struct test gauge = { .device = wifi_text }, percent = { .device = wifi_text };

        gauge.hardware.away_until_s = percent.hardware.away_until_s = 1e9;
        run(&gauge, METHOD_GAUGE);
        check_int(gauge.err, 0);
        check_text(gauge.run.stopped, "all passes made");
        check_int(gauge.hardware.tries, 2); /* once more at the end of its pass */
        check_int(wifi_measured(&gauge), 0);
        end(&gauge);
        run(&percent, METHOD_PERCENT);
        check_int(percent.err, 0);
        check(percent.hardware.tries >= 2 && percent.hardware.tries <= 6);
        check_int(wifi_measured(&percent), 0);
        check_int(percent.run.n_rejected, 0);
        end(&percent);
}

/*
 * With joulecast-fit: WiFi's coefficients are not waited for while they cannot be measured, and the run ends
 * when the rest is precise enough. Before that it tries once more.
 */
static void precision_without_access_point(void)
{
        struct test gone = { .device = wifi_text, .stop_percent = 4 },
                    back = { .device = wifi_text, .stop_percent = 4 };

        gone.hardware.away_until_s = 1e9;
        run(&gone, METHOD_PERCENT);
        check_int(gone.err, 0);
        check(gone.run.child != NULL);
        check_text(gone.run.stopped, "precision reached");
        check_int(wifi_measured(&gone), 0);

        back.hardware.away_until_s = gone.hardware.last_try_s - 1;
        end(&gone);
        run(&back, METHOD_PERCENT);
        check_int(back.err, 0);
        check(back.run.stopped != NULL); /* at this precision the block alone may be enough */
        check(wifi_measured(&back) > 0);
        check_int(back.run.away.tries, 0);
        end(&back);
}

/* Lost during a mode: the mode is repeated and not counted as failed. */
static void access_point_goes_in_between(void)
{
        struct test test = { .device = wifi_text, .hardware = { .loses = "wifi.on", .losses = 1 } };

        run(&test, METHOD_PERCENT);
        check_int(test.err, 0);
        check_int(count(&test, "wifi.on", "WiFi was associated only 0 % of the time"), 1);
        check_all_measured(&test);
        check_int(test.run.refused[plan_find(&test.run.plan, "wifi.on") - test.run.plan.modes], 0);
        check_int(test.run.away.tries, 0);
        end(&test);
}

/* With the folder of joulecast-fit as argument: runs that it follows. */
int main(int argc, char **argv)
{
        signal(SIGPIPE, SIG_IGN);
        if (argc > 1) {
                check_int(setenv("PATH", argv[1], 1), 0);
                precision_without_access_point();
                return check_result();
        }
        access_point_comes_back();
        access_point_stays_away();
        access_point_goes_in_between();
        return check_result();
}
