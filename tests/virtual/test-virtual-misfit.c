/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The physics of a virtual device that the power model has no term for, against docs/physics.md worked out by hand. */

#include "virtual-fixture.h"

#define N 200000

static const struct virtual_truth_app *only_app(struct virtual_device *device, struct virtual_truth *truth)
{
        virtual_truth_read(device, truth);
        check_int(truth->n_apps, 1);
        if (truth->n_apps != 1)
                exit(1);
        return &truth->apps[0];
}

/* Its CPU time, with its part of S and of idling, costs 1.3 of the calibration's; nothing else changes. */
static void test_kind_of_work(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work = game;
        struct virtual_truth truth;
        double any = 1 - 0.2 * 0.5 * 0.5, cpu_w = 1.3 * ((0.08 + 0.02) * any + 0.5 * 1.8);
        const struct virtual_truth_app *app;

        work.cpu_factor = 1.3;
        check_int(virtual_set_work(device, &work, 1), 0);
        run(device, 1000);
        app = only_app(device, &truth);
        check_near(app->part_j[VIRTUAL_CPU], 1000 * cpu_w, 1e-6);
        check_near(app->part_j[VIRTUAL_GPU], 1000 * 0.45, 1e-6);
        check_near(app->part_j[VIRTUAL_DISK], 1000 * (0.5 * 0.006 + 0.25 * 0.025), 1e-6);
        check_near(app->energy_j, 1000 * (cpu_w + 0.45 + 0.5 * 0.006 + 0.25 * 0.025), 1e-6);
        check_near(truth.base_j, 1000 * (0.1 + 0.02 * (1 - any)), 1e-6);
        check_near(truth.total_j, truth.base_j + app->energy_j, 1e-6);
        work.cpu_factor = -1;
        check_int(virtual_set_work(device, &work, 1), -EINVAL);
        work.cpu_factor = NAN;
        check_int(virtual_set_work(device, &work, 1), -EINVAL);
        virtual_free(device);
}

/* Pieces of work of one app on one core have the mean of their factors by CPU time, and are cut like any. */
static void test_kinds_that_overlap(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work[3] = {
                { .app = "one", .utilisation = { 0.6 }, .cpu_factor = 0.5 },
                { .app = "one", .utilisation = { 0.2, 0.4 }, .cpu_factor = 2 },
                { .app = "two", .utilisation = { 0.8 } },
        };
        struct virtual_truth truth;
        double shared_w = 0.04 / 1.4; /* S is on all the time, for 1.4 busy cores */

        check_int(virtual_set_work(device, work, 3), 0);
        run(device, 100);
        virtual_truth_read(device, &truth);
        check_int(truth.n_apps, 2);
        check_near(truth.apps[0].energy_j,
                   100 * (0.2 + shared_w) * (0.5 * (0.6 * 0.5 + 0.2 * 2) / 0.8 + 0.4 * 2), 1e-9);
        check_near(truth.apps[1].energy_j, 100 * (0.2 + shared_w) * 0.5, 1e-9);
        virtual_free(device);
}

/* Its energy is the app's, in its state, and in no counter. */
static void test_unseen(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work = { .app = "camera", .unseen_mw = 400, .foreground = true };
        const struct virtual_truth_app *app;
        struct sample sample = { 0 };
        struct virtual_truth truth;

        check_int(virtual_set_work(device, &work, 1), 0);
        check_near(virtual_truth_power_w(device), 0.5, 1e-12);
        run(device, 100);
        app = only_app(device, &truth);
        check_near(app->energy_j, 40, 1e-9);
        check_near(app->part_j[VIRTUAL_UNSEEN], 40, 1e-9);
        check_near(truth.base_j, 10, 1e-9);
        look(device, &sample);
        check_int(sample.processes[0].cpu_ns, 0);
        check_int(sample.gpu_busy_ns, 0);
        work.unseen_mw = -1;
        check_int(virtual_set_work(device, &work, 1), -EINVAL);
        sample_clear(&sample);
        virtual_free(device);
}

/* D + content * emission, each linear between its own levels. */
static void test_content(void)
{
        struct virtual_device *device = open_device(PLAIN "[display]\nemission_mw.55 = 100\nemission_mw.155 = 500\n",
                                                    VIRTUAL_SIMULATE, 1, 90);
        const struct virtual_work reader = { .app = "reader", .foreground = true };
        const struct {
                uint32_t brightness;
                double content, watt;
        } cases[] = { { 5, 1, 0.3 + 0.1 }, { 55, 1, 0.4 + 0.1 },    { 105, 1, 0.5 + 0.3 }, { 105, 0.4, 0.5 + 0.12 },
                      { 155, 1, 0.6 + 0.5 }, { 255, 0.5, 0.8 + 0.25 }, { 255, 0, 0.8 } };
        struct virtual_truth truth;

        check_int(virtual_set_work(device, &reader, 1), 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                check_int(virtual_set_screen(device, true, cases[i].brightness), 0);
                if (cases[i].content < 1 || i > 4) /* white until it is asked for another */
                        check_int(virtual_set_content(device, cases[i].content), 0);
                check_near(virtual_truth_power_w(device), 0.1 + cases[i].watt, 1e-12);
                if (cases[i].content < 1)
                        check_int(virtual_set_content(device, 1), 0);
        }
        check_int(virtual_set_screen(device, true, 105), 0);
        check_int(virtual_set_content(device, 0.4), 0);
        virtual_truth_reset(device);
        run(device, 100);
        check_near(only_app(device, &truth)->part_j[VIRTUAL_DISPLAY], 62, 1e-9);
        check_int(virtual_set_content(device, 1.01), -EINVAL);
        check_int(virtual_set_content(device, NAN), -EINVAL);
        check_int(virtual_set_screen(device, false, 105), 0);
        check_near(virtual_truth_power_w(device), 0.1, 1e-12);
        virtual_free(device);

        device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90); /* a backlight: the picture does not matter */
        check_int(virtual_set_screen(device, true, 130), 0);
        check_int(virtual_set_content(device, 0.1), 0);
        check_near(virtual_truth_power_w(device), 0.1 + 0.55, 1e-12);
        virtual_free(device);
}

struct prices {
        double mean, low, high, correlation;
        double wifi_j, rx_mb;
};

/* The price of a received byte, second by second, against the file's. */
static struct prices watch_prices(const char *keys, uint64_t seed)
{
        const struct virtual_work work = { .app = "radio", .rx_mb_per_s = 0.01, .read_mb_per_s = 0.01 };
        struct virtual_device *device;
        struct prices prices = { .low = INFINITY };
        double *factor = calloc(N, sizeof(*factor)), squares = 0, products = 0, before_j = 0, disk_j = 0;
        struct virtual_truth truth;
        char text[4096];

        snprintf(text, sizeof(text), "%s%s", PLAIN, keys);
        device = open_device(text, VIRTUAL_SIMULATE, seed, 90);
        check_int(virtual_set_charger(device, 5), 0);
        check_int(virtual_set_wifi(device, true), 0);
        check_int(virtual_set_work(device, &work, 1), 0);
        for (unsigned i = 0; factor && i < N; i++) {
                run(device, 1);
                prices.wifi_j = only_app(device, &truth)->part_j[VIRTUAL_WIFI];
                disk_j = truth.apps[0].part_j[VIRTUAL_DISK];
                factor[i] = (prices.wifi_j - before_j) / (0.01 * 0.35);
                before_j = prices.wifi_j;
                prices.mean += factor[i] / N;
                prices.low = fmin(prices.low, factor[i]);
                prices.high = fmax(prices.high, factor[i]);
        }
        for (unsigned i = 60; factor && i < N; i++) {
                squares += (factor[i] - prices.mean) * (factor[i] - prices.mean);
                products += (factor[i] - prices.mean) * (factor[i - 60] - prices.mean);
        }
        prices.correlation = products / squares;
        check_near(disk_j, N * 0.01 * 0.006, 1e-6); /* bytes of a disk have one price */
        free(factor);
        virtual_free(device);
        return prices;
}

/* A log-normal factor, cut, whose mean is 1: the file's price is the mean price. The bytes stay what they are. */
static void test_radio(void)
{
        struct prices steady = watch_prices("", 1), wild, other, faint;

        check_near(steady.low, 1, 1e-6);
        check_near(steady.high, 1, 1e-6);
        wild = watch_prices("radio_variation = 0.6\nradio_variation_tau_s = 60\n", 1);
        check_near(wild.mean, 1, 0.03);
        check_near(wild.low, 0.5, 1e-6);
        check_near(wild.high, 3, 1e-6);
        check_near(wild.correlation, exp(-1), 0.06);
        other = watch_prices("radio_variation = 0.6\nradio_variation_tau_s = 60\n", 2);
        check(other.wifi_j != wild.wifi_j);
        faint = watch_prices("radio_variation = 0.05\nradio_variation_tau_s = 60\n", 1);
        check_near(faint.mean, 1, 0.003);
        check(faint.low > 0.7 && faint.high < 1.3 && faint.high > 1.1);
        wild = watch_prices("radio_variation = 5\nradio_variation_tau_s = 0\n", 1); /* nearly always at a limit */
        check_near(wild.mean, 1, 0.01);
}

/* Random numbers drawn for one effect do not depend on other effects. */
static void test_radio_is_alone(void)
{
        const char *radio = "radio_variation = 0.6\nradio_variation_tau_s = 600\n";
        char text[4096];
        double one_j[2];

        for (unsigned i = 0; i < 2; i++) {
                struct virtual_work work = { .app = "radio", .rx_mb_per_s = 0.1 };
                struct virtual_device *device;
                struct virtual_truth truth;

                snprintf(text, sizeof(text), "%s%s%s", PLAIN, radio,
                         i ? "spike_mw = 250\nspike_s = 60\nspike_per_h = 10\nbackground_mw = 12\ngauge_pieces = 5\n"
                             "gauge_piece_percent = 2\nambient_sd_c = 2\n" : "");
                device = open_device(text, VIRTUAL_SIMULATE, 1, 90);
                check_int(virtual_set_wifi(device, true), 0);
                check_int(virtual_set_work(device, &work, 1), 0);
                run(device, 3000);
                one_j[i] = only_app(device, &truth)->energy_j;
                virtual_free(device);
        }
        check_near(one_j[1], one_j[0], 1e-9);
        check(fabs(one_j[0] / (3000 * 0.1 * 0.35) - 1) > 0.01);
}

/* Shown is true * 1.1, of the charge now as well; the percentage and the energies are what they are. */
static void test_stale_full(void)
{
        struct virtual_device *device = open_device(PLAIN VOLTAGE "level_step_percent = 0.1\n"
                                                    "charge_full_error_percent = 10\n", VIRTUAL_SIMULATE, 1, 54.37);
        double full_uah = 36000 / 3.7 / 3600 * 1e6;
        struct sample sample = { 0 };
        struct virtual_truth truth;

        look(device, &sample);
        check_int(sample.battery.charge_full_uah, llround(1.1 * full_uah));
        check_near((double)sample.battery.charge_now_uah, 0.543 * 1.1 * full_uah, 1);
        check_int(sample.battery.capacity_percent, 54);
        virtual_truth_read(device, &truth);
        check_near(truth.percent_end, 54.37, 1e-9);
        virtual_free(device);
        device = open_device(PLAIN "charge_full_error_percent = -10\n", VIRTUAL_SIMULATE, 1, 50);
        look(device, &sample);
        check_int(sample.battery.energy_full_uwh, 9000000);
        check_int(sample.battery.energy_now_uwh, 4500000);
        run(device, 3600);
        virtual_truth_read(device, &truth);
        check_near(truth.percent_end, 49, 1e-9); /* 0.1 Wh of 10 */
        sample_clear(&sample);
        virtual_free(device);
}

/* Change of the shown charge for each hundredth of the true charge. */
static void slopes(const char *keys, uint64_t seed, double slope[100])
{
        struct virtual_device *device;
        struct sample sample = { 0 };
        double before = 0;
        char text[4096];

        snprintf(text, sizeof(text), "%s%s", PLAIN, keys);
        device = open_device(text, VIRTUAL_SIMULATE, seed, 100);
        for (unsigned percent = 0; percent <= 100; percent++) {
                double shown;

                check_int(virtual_set_percent(device, percent), 0);
                look(device, &sample);
                shown = (double)sample.battery.energy_now_uwh / 1e5;
                if (percent > 0)
                        slope[percent - 1] = shown - before;
                before = shown;
        }
        check_near(before, 100, 1e-3);
        sample_clear(&sample);
        virtual_free(device);
}

/* Ten pieces of ten percent each; they are the device's, and drawn apart from all else. */
static void test_pieces(void)
{
        const char *keys = "gauge_pieces = 10\ngauge_piece_percent = 1.5\n";
        double one[100], two[100], waves[100], both[100], straight[100], sum = 0, squares = 0;

        slopes("gauge_pieces = 10\n", 1, straight);
        slopes(keys, 1, one);
        slopes("gauge_pieces = 10\ngauge_piece_percent = 1.5\nbackground_mw = 12\n", 2, two);
        slopes("nonlinearity_percent = 1.2\n", 1, waves);
        slopes("nonlinearity_percent = 1.2\ngauge_pieces = 10\ngauge_piece_percent = 1.5\n", 1, both);
        for (unsigned i = 0; i < 100; i++) {
                check_near(straight[i], 1, 1e-4);
                check_near(one[i], two[i], 1e-9);
                /* The curve has 1024 pieces of its own. */
                check_near(one[i], one[i / 10 * 10 + 5], i % 10 % 9 ? 1e-4 : 2e-3);
                check_near((1 / both[i] - 1 / waves[i] - 1 / one[i]) + 1, 0, 5e-3);
                sum += one[i] - 1;
                squares += (one[i] - 1) * (one[i] - 1);
        }
        check_near(sum, 0, 1e-3);
        check(sqrt(squares / 100) > 0.006 && sqrt(squares / 100) < 0.03);
        check(fabs(one[5] - one[15]) > 1e-3);
}

/* Four cores, some of which work for part of the time; in the rest of it their clock is at its lowest. */
static void test_governor(void)
{
        struct virtual_device *device = open_device(PLAIN "governor = idle-lowers\n", VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work = { .app = "spin", .policy_khz = { 1000000 }, .utilisation = { 0.5, 0.2 } };
        double any = 1 - 0.5 * 0.8;
        struct sample sample = { 0 };
        struct virtual_truth truth;
        struct process *process;

        check_int(virtual_set_work(device, &work, 1), 0);
        run(device, 100);
        look(device, &sample);
        check_int(sample.opps[1].time_ns, llround(any * 100e9));
        check_int(sample.opps[0].time_ns, llround((1 - any) * 100e9));
        check(!sample.opps_counted);
        check_int(sample.opps[1].busy_ns, 0);
        check_int(sample.opps[1].any_ns, 0);
        process = &sample.processes[0];
        check(process->have & USAGE_CPU);
        check(!(process->have & PROCESS_CPU_OPPS) && !process->cpu_opp_ns);
        check_int(process->cpu_ns, 70 * NS_PER_S);
        check_int(sample.cores[0].busy_ns, 50 * NS_PER_S);
        check_near(only_app(device, &truth)->energy_j, 100 * (0.5 * 0.7 + (0.08 + 0.02) * any), 1e-9);
        check_near(truth.base_j, 10, 1e-9); /* idling at the lowest frequency, without its 20 mW */
        /* A clock that is pinned stays. */
        check_int(virtual_set_work(device, NULL, 0), 0);
        check_int(virtual_set_khz(device, 0, 1000000), 0);
        virtual_truth_reset(device);
        run(device, 100);
        look(device, &sample);
        check_int(sample.opps[1].time_ns, llround(any * 100e9) + 100 * NS_PER_S);
        virtual_truth_read(device, &truth);
        check_near(truth.base_j, 12, 1e-9);
        virtual_free(device);

        device = open_device(PLAIN "collector = proc\n", VIRTUAL_SIMULATE, 1, 90);
        check_int(virtual_set_work(device, &work, 1), 0);
        run(device, 100);
        look(device, &sample);
        check_int(sample.opps[1].time_ns, 100 * NS_PER_S);
        check(!sample.opps_counted && !sample.processes[0].cpu_opp_ns);
        virtual_truth_read(device, &truth);
        check_near(truth.base_j, 100 * (0.1 + 0.02 * (1 - any)), 1e-9);
        sample_clear(&sample);
        virtual_free(device);
}

/* Between two looks 45 s at 0.4 and 15 s at 2 GHz: 0.8 GHz in the mean, so two thirds at 0.5 and one at 1.4. */
static void test_hidden_frequencies(void)
{
        static const char four[] = "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 10000\n"
                                    "[base]\npower_mw = 100\n"
                                    "[cpu 0]\ncpus = 0-1\nactive_mw.400000 = 100\nactive_mw.500000 = 120\n"
                                    "active_mw.1400000 = 500\nactive_mw.2000000 = 900\n[virtual]\nseed = 1\n"
                                    "frequencies = hidden\n";
        static const uint64_t want_s[] = { 0, 80, 40, 0 };
        struct virtual_device *device = open_device(four, VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work = { .app = "spin", .policy_khz = { 400000 }, .utilisation = { 1, 1 } };
        struct sample sample = { 0 };
        struct virtual_truth truth;

        look(device, &sample);
        check_int(sample.n_opps, 4);
        check_int(virtual_set_work(device, &work, 1), 0);
        run(device, 45);
        work.policy_khz[0] = 2000000;
        check_int(virtual_set_work(device, &work, 1), 0);
        run(device, 15);
        look(device, &sample);
        check(sample.opps_counted);
        check(sample.processes[0].have & PROCESS_CPU_OPPS);
        for (size_t i = 0; i < 4; i++) {
                check_int(sample.opps[i].time_ns, 0);
                check_near((double)sample.opps[i].busy_ns, (double)want_s[i] * 1e9, 1);
                check_near((double)sample.opps[i].any_ns, (double)want_s[i] * 5e8, 1);
                check_near((double)sample.processes[0].cpu_opp_ns[i], (double)want_s[i] * 1e9, 1);
        }
        run(device, 10); /* only at 2 GHz: all time is at that operating point */
        look(device, &sample);
        check_int(sample.opps[3].busy_ns, 20 * NS_PER_S);
        check_int(sample.processes[0].cpu_ns, 140 * NS_PER_S);
        virtual_truth_read(device, &truth);
        check_near(only_app(device, &truth)->energy_j, 90 * 0.1 + 50 * 0.9, 1e-9);
        virtual_free(device);
        sample_clear(&sample);
}

/* No data show the frequency, unless a calibration pins the clock and reads it. */
static void test_no_cycles(void)
{
        static const char *const nothing[] = { PLAIN "frequencies = hidden\ncycles = none\n",
                                               PLAIN "frequencies = hidden\ncollector = proc\n" };
        struct virtual_work work = { .app = "spin", .policy_khz = { 1000000 }, .utilisation = { 1 } };
        struct sample sample = { 0 };

        for (size_t i = 0; i < 2 * ARRAY_SIZE(nothing); i++) {
                bool pinned = i % 2;
                enum virtual_stream stream = pinned ? VIRTUAL_CALIBRATE : VIRTUAL_SIMULATE;
                struct virtual_device *device = open_device(nothing[i / 2], stream, 1, 90);

                check_int(virtual_set_work(device, &work, 1), 0);
                run(device, 10);
                look(device, &sample);
                check_int(sample.n_opps, pinned ? 2 : 1);
                check_int(sample.opps[pinned].khz, pinned ? 1000000 : KHZ_UNKNOWN);
                check_int(sample.opps[pinned].time_ns, 10 * NS_PER_S);
                check(!sample.opps_counted && !sample.processes[0].cpu_opp_ns);
                check_int(sample.processes[0].cpu_ns, 10 * NS_PER_S);
                check_int(sample.cores[0].busy_ns, 10 * NS_PER_S);
                virtual_free(device);
        }
        sample_clear(&sample);
}

int main(void)
{
        test_kind_of_work();
        test_kinds_that_overlap();
        test_unseen();
        test_content();
        test_radio();
        test_radio_is_alone();
        test_stale_full();
        test_pieces();
        test_governor();
        test_hidden_frequencies();
        test_no_cycles();
        return check_result();
}
