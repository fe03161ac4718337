/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Gauges that smooth, average, lag, skip, compute and scatter, against docs/physics.md worked out by hand. */

#include <math.h>

#include "virtual-fixture.h"

#define SENSOR "gauge_period_s = 2\n"
#define UPDATES 60

/* Half of a core at its highest frequency, from the 20th second on. */
static const struct virtual_work load = { .app = "load",
                                          .policy_khz = { 1000000 },
                                          .utilisation = { 1, 1, 1, 1 } };

struct series {
        double idle_w, load_w;
        double shown_w[UPDATES]; /* after each update, the first of them being the first with the load */
};

static void shown_series(const char *keys, struct series *ret)
{
        struct virtual_device *device;
        struct sample sample = { 0 };
        uint64_t before;
        char text[4096];

        snprintf(text, sizeof(text), "%s%s%s", PLAIN, SENSOR, keys);
        device = open_device(text, VIRTUAL_SIMULATE, 1, 90);
        ret->idle_w = virtual_truth_power_w(device);
        check_int(virtual_set_work(device, &load, 1), 0);
        ret->load_w = virtual_truth_power_w(device);
        check_int(virtual_set_work(device, NULL, 0), 0);
        run(device, 20);
        look(device, &sample);
        before = sample.battery.power_uw;
        check_int(virtual_set_work(device, &load, 1), 0);
        for (unsigned i = 0; i < UPDATES;) {
                run(device, i > 0 ? 2 : 0.01);
                look(device, &sample);
                if (i > 0 || sample.battery.power_uw != before)
                        ret->shown_w[i++] = (double)sample.battery.power_uw / 1e6;
        }
        sample_clear(&sample);
        virtual_free(device);
}

/* The part of the step that is not shown yet falls by the same part at each update. */
static void test_smoothing(void)
{
        double keep = exp(-2.0 / 17);
        struct series s;

        shown_series("gauge_smoothing_s = 17\n", &s);
        for (unsigned i = 1; i < UPDATES; i++)
                check_near((s.load_w - s.shown_w[i]) / (s.load_w - s.shown_w[i - 1]), keep, 2e-3);
        check(s.shown_w[0] > s.idle_w && s.shown_w[0] < s.idle_w + (1 - keep) * (s.load_w - s.idle_w) + 1e-6);
        /* telescoped: what a calibration has to undo */
        for (unsigned n = 3; n < 30; n += 9) {
                double sum = 0, c = keep / (1 - keep);

                for (unsigned i = 1; i <= n; i++)
                        sum += s.shown_w[i];
                check_near(sum / n + c * (s.shown_w[n] - s.shown_w[0]) / n, s.load_w, 1e-4);
        }
}

/* It rises at once and falls slowly, or it would be no attack. */
static void test_attack(void)
{
        struct series slow, fast;

        shown_series("gauge_smoothing_s = 40\n", &slow);
        shown_series("gauge_smoothing_s = 40\ngauge_attack = 0.8\n", &fast);
        check(fast.shown_w[2] > fast.load_w / 1.6);
        check(slow.shown_w[2] < slow.idle_w + 0.2 * (slow.load_w - slow.idle_w));
}

static void test_average(void)
{
        struct series s;

        shown_series("gauge_average_s = 20\n", &s);
        for (unsigned i = 1; i < 10; i++)
                check_near(s.shown_w[i] - s.shown_w[i - 1], (s.load_w - s.idle_w) / 10, 2e-5);
        check_near(s.shown_w[10], s.load_w, 1e-5);
        check(s.shown_w[9] < s.load_w + 1e-6);
}

/* The first change comes later by the delay, and is the same. */
static double first_change_s(const char *keys, double *shown_w)
{
        struct virtual_device *device;
        struct sample sample = { 0 };
        double before, s = 0;
        char text[4096];

        snprintf(text, sizeof(text), "%s%s%s", PLAIN, SENSOR, keys);
        device = open_device(text, VIRTUAL_SIMULATE, 1, 90);
        run(device, 30);
        look(device, &sample);
        before = (double)sample.battery.power_uw;
        check_int(virtual_set_work(device, &load, 1), 0);
        for (; (double)sample.battery.power_uw == before && s < 100; s += 0.01) {
                run(device, 0.01);
                look(device, &sample);
        }
        *shown_w = (double)sample.battery.power_uw / 1e6;
        sample_clear(&sample);
        virtual_free(device);
        return s;
}

static void test_delay(void)
{
        double at_once_w, late_w, at_once_s = first_change_s("", &at_once_w), late_s;

        late_s = first_change_s("gauge_delay_s = 7.3\n", &late_w);
        check_near(late_s - at_once_s, 7.3, 0.021);
        check_near(late_w, at_once_w, 1e-9);
}

/* A fifth of the updates of a noisy sensor repeats the one before. */
static void test_skip(void)
{
        struct virtual_device *device = open_device(
                PLAIN SENSOR "gauge_noise_percent = 1\ngauge_skip_percent = 20\n", VIRTUAL_SIMULATE, 1, 100);
        struct sample sample = { 0 };
        uint64_t before = 0;
        unsigned repeats = 0;

        for (unsigned i = 0; i < 5000; i++) {
                run(device, 2);
                look(device, &sample);
                repeats += sample.battery.power_uw == before;
                before = sample.battery.power_uw;
        }
        check(repeats > 900 && repeats < 1100);
        sample_clear(&sample);
        virtual_free(device);
}

static void test_gain_at_load(void)
{
        struct series s;

        shown_series("gauge_gain_at_load_percent = -10\ngauge_load_mw = 1000\n", &s);
        check_near(s.shown_w[UPDATES - 1], s.load_w * (1 - 0.1 * s.load_w), 1e-5);
}

/*
 * Energy by the percentage over whole minutes; and the charge moves by whole percents although the level is
 * finer.
 */
static void test_derived(void)
{
        struct virtual_device *device =
                open_device(PLAIN SENSOR "gauge_derived = yes\n", VIRTUAL_SIMULATE, 1, 53.2);
        struct sample sample = { 0 };
        double left_j, minutes;

        check_int(virtual_set_work(device, &load, 1), 0);
        run(device, 10);
        look(device, &sample);
        check_int(sample.battery.have & BATTERY_ENERGY_NOW, BATTERY_ENERGY_NOW);
        check_int(sample.battery.energy_now_uwh, 5300000);
        left_j = 0.53 * 36000;
        minutes = left_j / ((double)sample.battery.power_uw / 1e6) / 60;
        check_near(minutes, round(minutes), 0.1);
        check_near((double)sample.battery.power_uw / 1e6 / virtual_truth_power_w(device), 1, 0.02);
        sample_clear(&sample);
        virtual_free(device);
}

/* True charge of each shown percent, in percents, downwards from full. The first has ended where full has. */
static void widths(const char *keys, uint64_t seed, double width[100])
{
        struct virtual_device *device;
        struct sample sample = { 0 };
        uint32_t last = 100;
        double began = 100;
        char text[4096];

        snprintf(text, sizeof(text), "%s%s%s", PLAIN, "level_step_percent = 1\n", keys);
        device = open_device(text, VIRTUAL_SIMULATE, seed, 100);
        for (unsigned i = 1; i <= 50000 && last > 0; i++) {
                double percent = 100 - i * 0.002;

                check_int(virtual_set_percent(device, fmax(percent, 0)), 0);
                look(device, &sample);
                check(sample.battery.capacity_percent <= last);
                for (; last > sample.battery.capacity_percent; last--, began = percent)
                        width[100 - last] = began - percent;
        }
        check_int(last, 0);
        sample_clear(&sample);
        virtual_free(device);
}

struct spread {
        double sd, neighbours,
                ten; /* single percents, their correlation, and of sums of ten relative to ten */
};

static struct spread spread_of(const char *keys)
{
        double one = 0, next = 0, tens = 0;

        for (uint64_t seed = 1; seed <= 20; seed++) {
                double width[100];

                widths(keys, seed, width);
                for (unsigned k = 1; k < 100; k++) {
                        one += pow(width[k] - 1, 2) / 1980;
                        next += k > 1 ? (width[k] - 1) * (width[k - 1] - 1) / 1960 : 0;
                }
                for (unsigned k = 1; k + 10 <= 100; k += 10) {
                        double sum = -10;

                        for (unsigned i = 0; i < 10; i++)
                                sum += width[k + i];
                        tens += pow(sum / 10, 2) / 180;
                }
        }
        return (struct spread){ sqrt(one), next / one, sqrt(tens) };
}

/*
 * Independent percents, ten of which scatter by 1/sqrt(10) (a little less: they add up to a hundred); a slow
 * scale; a bounded lag.
 */
static void test_level(void)
{
        struct spread scatter = spread_of("level_scatter_percent = 30\n");
        struct spread drift = spread_of("level_drift_percent = 12\nlevel_drift_length_percent = 25\n");
        struct spread lag = spread_of("level_lag_percent = 0.3\n");

        check_near(scatter.sd, 0.3, 0.02);
        check_near(scatter.neighbours, 0, 0.06);
        check_near(scatter.ten, 0.09, 0.015);
        check_near(drift.sd, 0.1, 0.025);
        check(drift.neighbours > 0.9);
        check(drift.ten > 0.9 * drift.sd * 0.9);
        check(lag.sd > 0.25 && lag.sd < 0.45);
        check(lag.neighbours < -0.1);
        check(lag.ten < 0.06);
}

/* The next discharge has other percents, and so has another run. */
static void test_each_discharge(void)
{
        struct virtual_device *device = open_device(
                PLAIN "level_step_percent = 0.1\nlevel_scatter_percent = 30\n", VIRTUAL_SIMULATE, 1, 50);
        struct sample sample = { 0 };
        uint64_t shown[4];
        const double way[] = { 50, 60, 100, 50 };

        for (unsigned i = 0; i < 4; i++) {
                check_int(virtual_set_percent(device, way[i]), 0);
                look(device, &sample);
                if (i == 1) {
                        check_int(virtual_set_percent(device, 50), 0);
                        look(device, &sample);
                }
                shown[i] = sample.battery.energy_now_uwh;
        }
        check_int(shown[1], shown[0]);
        check(shown[3] != shown[0]);
        sample_clear(&sample);
        virtual_free(device);
}

/* No key changes anything else that is drawn. */
static void test_alone(void)
{
        const char *keys[] = {
                "", "gauge_smoothing_s = 20\ngauge_skip_percent = 5\ngauge_delay_s = "
                    "3\nlevel_scatter_percent = 20\n"
                    "level_lag_percent = 1\nlevel_drift_percent = 5\nlevel_drift_length_percent = 10\n"
        };
        double total_j[2];

        for (unsigned i = 0; i < 2; i++) {
                struct virtual_device *device;
                struct virtual_truth truth;
                char text[4096];

                snprintf(text, sizeof(text), "%s%s%s", PLAIN, ALL, keys[i]);
                device = open_device(text, VIRTUAL_SIMULATE, 3, 90);
                run(device, 3000);
                virtual_truth_read(device, &truth);
                total_j[i] = truth.total_j;
                virtual_free(device);
        }
        check_near(total_j[1], total_j[0], 1e-4); /* more steps of time round otherwise */
}

static char said[512];

static void keep_sentence(void *data, enum log_level level, const char *sentence)
{
        snprintf(said, sizeof(said), "%s", sentence);
}

static void test_refused(void)
{
        static const struct log log = { .handler = keep_sentence };
        static const struct {
                const char *keys, *says;
        } bad[] = {
                { "gauge_smoothing_s = 5\n", "gauge_smoothing_s of [virtual] needs gauge_period_s" },
                { "gauge_average_s = 5\n", "gauge_average_s of [virtual] needs gauge_period_s" },
                { "gauge_delay_s = 5\n", "gauge_delay_s of [virtual] needs gauge_period_s" },
                { "gauge_derived = yes\n", "gauge_derived of [virtual] needs gauge_period_s" },
                { "gauge_derived = no\ngauge_period_s = 2\n",
                  "gauge_derived = no is unknown; it may be yes" },
                { "gauge_attack = 0.5\ngauge_period_s = 2\n",
                  "gauge_attack of [virtual] needs gauge_smoothing_s" },
                { "gauge_period_s = 2\ngauge_smoothing_s = 5\ngauge_attack = 1.5\n", "gauge_attack" },
                { "gauge_smoothing_s = -1\ngauge_period_s = 2\n", "gauge_smoothing_s" },
                { "gauge_average_s = 1e9\ngauge_period_s = 2\n", "gauge_average_s" },
                { "gauge_skip_percent = 100\ngauge_period_s = 2\n", "gauge_skip_percent" },
                { "gauge_gain_at_load_percent = 5\n",
                  "gauge_gain_at_load_percent of [virtual] needs gauge_load_mw" },
                { "level_scatter_percent = nan\n", "level_scatter_percent" },
                { "level_drift_percent = 5\n",
                  "level_drift_percent of [virtual] needs level_drift_length_percent" },
                { "level_lag_percent = 11\n", "level_lag_percent" },
        };

        for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
                struct profile *truth = NULL;
                char text[4096];

                snprintf(text, sizeof(text), "%s%s", PLAIN, bad[i].keys);
                said[0] = '\0';
                check(profile_parse(text, strlen(text), "test", &log, &truth) < 0);
                if (!strstr(said, bad[i].says))
                        check_text(said, bad[i].says);
                profile_free(truth);
        }
}

/* The printed file has the same values. */
static void test_printed(void)
{
        const char *text = PLAIN SENSOR "gauge_smoothing_s = 5\ngauge_attack = 0.5\ngauge_derived = yes\n"
                                        "level_scatter_percent = 12.5\n";
        _cleanup_(profile_freep) struct profile *truth = NULL, *again = NULL;
        _cleanup_free_ char *printed = NULL;

        check_int(profile_parse(text, strlen(text), "test", &log_all, &truth), 0);
        check_int(profile_print(truth, &printed), 0);
        check_int(profile_parse(printed, strlen(printed), "printed", &log_all, &again), 0);
        check_near(again->virtual_device.gauge_smoothing_s, 5, 0);
        check_near(again->virtual_device.gauge_attack, 0.5, 0);
        check_near(again->virtual_device.level_scatter_percent, 12.5, 0);
        check(again->virtual_device.gauge_derived);
}

int main(void)
{
        test_smoothing();
        test_attack();
        test_average();
        test_delay();
        test_skip();
        test_gain_at_load();
        test_derived();
        test_level();
        test_each_discharge();
        test_alone();
        test_refused();
        test_printed();
        return check_result();
}
