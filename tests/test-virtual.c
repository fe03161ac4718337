/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The physics of the virtual device, against the formula of docs/physics.md worked out by hand. */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "units.h"
#include "util.h"
#include "virtual/virtual-truth.h"

/* A device without any noise: what happens can be worked out with a pencil. */
#define PLAIN                                                                                                \
        "[profile]\nversion = 1\ndevice = plain\n"                                                           \
        "[battery]\nenergy_full_mwh = 10000\n"                                                               \
        "[base]\npower_mw = 100\n"                                                                           \
        "[cpu 0]\ncpus = 0-3\n"                                                                              \
        "active_mw.500000 = 200\nactive_mw.1000000 = 500\n"                                                  \
        "shared_mw.500000 = 40\nshared_mw.1000000 = 80\n"                                                    \
        "idle_mw.500000 = 0\nidle_mw.1000000 = 20\n"                                                         \
        "[display]\nmax_brightness = 255\npower_mw.5 = 300\npower_mw.255 = 800\n"                            \
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n"                                                 \
        "[wifi]\non_mw = 30\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n"                        \
        "[gpu]\nactive_mw = 900\n"                                                                           \
        "[virtual]\nseed = 7\n"

#define VOLTAGE "voltage_mv.0 = 3000\nvoltage_mv.50 = 3800\nvoltage_mv.100 = 4200\n"
#define ALL                                                                                                  \
        VOLTAGE "level_step_percent = 1\nlevel_refresh_s = 10\nresistance_mohm = 120\n"                      \
        "nonlinearity_percent = 1.2\nbackground_mw = 12\nbackground_tau_s = 300\nspike_mw = 250\n"           \
        "spike_s = 60\nspike_per_h = 1\nsub_additivity_percent = 4\nleakage_percent_per_c = 0.15\n"          \
        "thermal_c_per_w = 8\nthermal_tau_s = 400\nambient_sd_c = 2\nrate_variation_percent = 10\n"          \
        "gauge_period_s = 3.5\ngauge_noise_percent = 1\ngauge_quantum_mw = 4\ngauge_gain_percent = 1\n"      \
        "gauge_offset_mw = 3\n"

static void print_log(void *data, enum log_level level, const char *sentence)
{
        fprintf(stderr, "%s\n", sentence);
}

static const struct log log_all = { .handler = print_log };

static struct virtual_device *open_device(const char *text, enum virtual_stream stream, uint64_t seed, double percent)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        struct virtual_device *device = NULL;

        check_int(profile_parse(text, strlen(text), "test", &log_all, &truth), 0);
        check_int(truth ? virtual_open(truth, stream, seed, percent, &log_all, &device) : -EINVAL, 0);
        if (!device)
                exit(1);
        return device;
}

/* One look at the device, as the poller takes it. */
static void look(struct virtual_device *device, struct sample *sample)
{
        static struct source *source;
        static struct virtual_device *of;

        if (of != device) {
                if (source)
                        source->ops->close(source);
                check_int(virtual_source_open(device, &source), 0);
                of = device;
        }
        sample_reset(sample);
        check_int(source->ops->read(source, sample), 0);
        if (!(sample->have & SAMPLE_BATTERY))
                exit(1);
}

static void run(struct virtual_device *device, double s)
{
        check_int(virtual_advance(device, (uint64_t)(s * 1e9)), 0);
}

static struct virtual_work game = {
        .app = "game",
        .policy_khz = { 1000000 },
        .utilisation = { 0.8, 0.5, 0.5, 0 },
        .read_mb_per_s = 0.5,
        .write_mb_per_s = 0.25,
        .rx_mb_per_s = 0.125,
        .tx_mb_per_s = 0.0625,
        .wakes_per_s = 0.1,
        .gpu = 0.5,
        .foreground = true,
};

static void test_formula(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 50);
        struct virtual_truth truth;
        double any = 1 - 0.2 * 0.5 * 0.5, base_w, app_w;

        check_near(virtual_truth_power_w(device), 0.1, 1e-12);
        check_int(virtual_set_khz(device, 0, 1000000), 0);
        check_near(virtual_truth_power_w(device), 0.12, 1e-12);
        check_int(virtual_set_wifi(device, true), 0);
        check_int(virtual_set_screen(device, true, 130), 0);
        check_near(virtual_truth_power_w(device), 0.12 + 0.03 + 0.55, 1e-12);
        check_int(virtual_set_work(device, &game, 1), 0);
        base_w = 0.1 + 0.02 * (1 - any) + 0.03;
        app_w = (0.08 + 0.02) * any + 0.5 * 1.8 + 0.55 + 0.5 * 0.006 + 0.25 * 0.025 + 0.125 * 0.35 + 0.0625 * 0.55 +
                0.1 * 0.12 + 0.5 * 0.9;
        check_near(virtual_truth_power_w(device), base_w + app_w, 1e-12);
        run(device, 1000);
        virtual_truth_read(device, &truth);
        check_int(truth.n_apps, 1);
        check_near(truth.total_j, 1000 * (base_w + app_w), 1e-6);
        check_near(truth.base_j, 1000 * base_w, 1e-6);
        check_text(truth.apps[0].app, "game");
        check(truth.apps[0].foreground);
        check_near(truth.apps[0].energy_j, 1000 * app_w, 1e-6);
        /* without a voltage curve, percent is energy */
        check_near(truth.percent_start - truth.percent_end, truth.total_j / 360, 1e-9);
        virtual_truth_reset(device);
        virtual_truth_read(device, &truth);
        check_near(truth.total_j, 0, 0);
        check_int(truth.n_apps, 0);
        virtual_free(device);
}

static void test_sub_additivity(void)
{
        struct virtual_device *device = open_device(PLAIN "sub_additivity_percent = 4\n", VIRTUAL_SIMULATE, 1, 50);
        struct virtual_work work = { .app = "spin", .utilisation = { 1 } };

        check_int(virtual_set_work(device, &work, 1), 0);
        check_near(virtual_truth_power_w(device), 0.1 + 0.04 + 0.2, 1e-12);
        for (unsigned i = 1; i < 4; i++)
                work.utilisation[i] = 1;
        check_int(virtual_set_work(device, &work, 1), 0);
        check_near(virtual_truth_power_w(device), 0.1 + 0.04 + 0.8 * 0.96, 1e-12);
        virtual_free(device);
}

static void test_leakage(void)
{
        struct virtual_device *device = open_device(PLAIN "leakage_percent_per_c = 1\nthermal_c_per_w = 10\n"
                                                    "thermal_tau_s = 100\n", VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work = { .app = "spin", .utilisation = { 1, 1, 1, 1 }, .gpu = 1 };
        struct virtual_truth truth;
        double power_w = 1.84, steady_w;

        check_near(virtual_truth_power_w(device), 0.1 * 0.92 / (1 - 0.01 * 10 * 0.1), 1e-12);
        check_int(virtual_set_work(device, &work, 1), 0);
        for (unsigned i = 0; i < 100; i++)
                power_w = 0.94 * (1 + 0.01 * (25 + 10 * power_w - 33)) + 0.9;
        check_near(virtual_truth_power_w(device), power_w, 1e-9);
        run(device, 2000);
        virtual_truth_reset(device);
        run(device, 100);
        virtual_truth_read(device, &truth);
        steady_w = truth.total_j / 100;
        check_near(steady_w, power_w, 1e-6);
        check_near(truth.base_j / 100, 0.1 * (power_w - 0.9) / 0.94, 1e-6); /* base is P0*L */
        virtual_free(device);
}

/* Warming up after a step of load, against the same law in steps of a hundredth of a second. */
static void test_warming(void)
{
        struct virtual_device *device = open_device(PLAIN "leakage_percent_per_c = 1\nthermal_c_per_w = 10\n"
                                                    "thermal_tau_s = 100\n", VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work = { .app = "spin", .utilisation = { 1, 1, 1, 1 }, .gpu = 1 };
        struct virtual_truth truth;
        double celsius = 25 + 10 * virtual_truth_power_w(device), energy_j = 0;

        for (unsigned i = 0; i < 15000; i++) {
                double power_w = 0.94 * (1 + 0.01 * (celsius - 33)) + 0.9;

                energy_j += power_w * 0.01;
                celsius += (25 + 10 * power_w - celsius) * 0.01 / 100;
        }
        check_int(virtual_set_work(device, &work, 1), 0);
        run(device, 150);
        virtual_truth_read(device, &truth);
        check_near(truth.total_j / energy_j, 1, 3e-4);
        check_near(truth.base_j + truth.apps[0].energy_j, truth.total_j, 1e-9);
        virtual_free(device);
}

/* Joules are volts times coulombs, step by step; and V = OCV - I*R holds at every look. */
static void test_battery(void)
{
        struct virtual_device *device = open_device(PLAIN VOLTAGE "resistance_mohm = 200\n", VIRTUAL_SIMULATE, 1, 100);
        struct sample sample = { 0 };
        struct virtual_truth truth, before;
        double full_c = 36000 / 3.7, sum_j = 0;

        check_int(virtual_set_work(device, &game, 1), 0);
        virtual_truth_read(device, &before);
        for (unsigned i = 0; i < 3000; i++) {
                double power_w = virtual_truth_power_w(device) - 0.1 * 0.12 * 0, ocv, volt;

                look(device, &sample);
                volt = (double)sample.battery.voltage_uv / 1e6;
                ocv = before.percent_end >= 50 ? 3.8 + (before.percent_end - 50) / 50 * 0.4
                                               : 3 + before.percent_end / 50 * 0.8;
                check_near(volt, ocv - power_w / volt * 0.2, 2e-6);
                run(device, 1);
                virtual_truth_read(device, &truth);
                sum_j += (before.percent_end - truth.percent_end) / 100 * full_c * volt;
                before = truth;
        }
        check_near(sum_j / truth.total_j, 1, 1e-6);
        check_int(sample.battery.charge_full_uah, llround(full_c / 3600 * 1e6));
        check(truth.percent_end < 95);
        sample_clear(&sample);
        virtual_free(device);
}

static void test_empty(void)
{
        struct virtual_device *device = open_device(PLAIN VOLTAGE, VIRTUAL_SIMULATE, 1, 0.5);
        struct virtual_truth truth;

        check_int(virtual_advance(device, 7200 * NS_PER_S), -ENODATA);
        check_int(virtual_advance(device, NS_PER_S), -ENODATA);
        virtual_truth_read(device, &truth);
        check_near(truth.percent_end, 0, 0);
        check(virtual_now_ns(device) < 7200 * NS_PER_S);
        virtual_free(device);
}

static void test_levels(void)
{
        struct sample sample = { 0 };
        struct virtual_device *device = open_device(PLAIN VOLTAGE "level_step_percent = 1\nlevel_refresh_s = 10\n",
                                                    VIRTUAL_SIMULATE, 1, 90);
        unsigned changes = 0;
        uint32_t last = 90;
        uint64_t phase_ns = 0;

        look(device, &sample);
        check_int(sample.battery.have, BATTERY_CAPACITY | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE);
        check_int(sample.battery.capacity_percent, 90);
        check_int(sample.battery.status, BATTERY_DISCHARGING);
        check_int(virtual_set_screen(device, true, 255), 0);
        for (unsigned i = 0; i < 40000 && sample.battery.capacity_percent > 80; i++) {
                check_int(virtual_advance(device, NS_PER_S / 4), 0);
                look(device, &sample);
                if (sample.battery.capacity_percent == last)
                        continue;
                check_int(sample.battery.capacity_percent, last - 1);
                last = sample.battery.capacity_percent;
                if (changes++ == 0)
                        phase_ns = sample.boottime_ns % (10 * NS_PER_S);
                check_int(sample.boottime_ns % (10 * NS_PER_S), phase_ns); /* only when refreshed */
        }
        check_int(changes, 10);
        virtual_free(device);

        device = open_device(PLAIN VOLTAGE "level_step_percent = 0.1\n", VIRTUAL_SIMULATE, 1, 54.37);
        look(device, &sample);
        check_int(sample.battery.capacity_percent, 54);
        check(sample.battery.have & BATTERY_CHARGE_NOW);
        check_near((double)sample.battery.charge_now_uah, 0.543 * (double)sample.battery.charge_full_uah, 1);
        virtual_free(device);

        device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 54.37); /* no step, no voltage */
        look(device, &sample);
        check_int(sample.battery.have, BATTERY_CAPACITY | BATTERY_ENERGY_FULL | BATTERY_ENERGY_NOW);
        check_int(sample.battery.energy_full_uwh, 10000000);
        check_int(sample.battery.energy_now_uwh, 5437000);
        sample_clear(&sample);
        virtual_free(device);
}

static void test_gauge(void)
{
        struct sample sample = { 0 };
        struct virtual_device *device = open_device(PLAIN "gauge_period_s = 3.5\ngauge_quantum_mw = 4\n",
                                                    VIRTUAL_CALIBRATE, 1, 90);
        uint64_t last_uw, last_ns = 0;
        unsigned updates = 0;

        check_int(virtual_set_screen(device, true, 6), 0); /* 402 mW */
        look(device, &sample);
        check(sample.battery.have & BATTERY_POWER);
        check_int(sample.battery.power_uw, 100000);
        run(device, 8);
        look(device, &sample);
        check_int(sample.battery.power_uw, 404000); /* 402 rounded to 4 */
        last_uw = sample.battery.power_uw;
        for (unsigned i = 0; i < 4000; i++) {
                /* another brightness every tenth of a second, so that no two means are equal */
                check_int(virtual_set_screen(device, true, 6 + (i * i) % 249), 0);
                check_int(virtual_advance(device, NS_PER_S / 10), 0);
                look(device, &sample);
                check_int(sample.battery.power_uw % 4000, 0);
                if (sample.battery.power_uw == last_uw)
                        continue;
                last_uw = sample.battery.power_uw;
                if (last_ns)
                        check_near(remainder((double)(sample.boottime_ns - last_ns) / 1e9, 3.5), 0, 1e-9);
                last_ns = sample.boottime_ns;
                updates++;
        }
        check(updates > 90);
        virtual_free(device);
        device = open_device(PLAIN, VIRTUAL_CALIBRATE, 1, 90);
        look(device, &sample);
        check(!(sample.battery.have & BATTERY_POWER));
        sample_clear(&sample);
        virtual_free(device);
}

/* Mean of the gauge over a long quiet time: what the hidden gain and offset make of 100 mW. */
static double gauge_mean_mw(const char *text, uint64_t seed)
{
        struct virtual_device *device = open_device(text, VIRTUAL_CALIBRATE, seed, 90);
        struct sample sample = { 0 };
        double sum = 0;

        for (unsigned i = 0; i < 4000; i++) {
                run(device, 1);
                look(device, &sample);
                sum += (double)sample.battery.power_uw / 1e3;
        }
        sample_clear(&sample);
        virtual_free(device);
        return sum / 4000;
}

static void test_hidden_constants(void)
{
        const char *text = PLAIN "gauge_period_s = 1\ngauge_noise_percent = 1\ngauge_offset_mw = 30\n";
        const char *gain = PLAIN "gauge_period_s = 1\ngauge_noise_percent = 1\ngauge_gain_percent = 20\n";
        double one = gauge_mean_mw(text, 1), other_seed = gauge_mean_mw(text, 2);

        check(fabs(one - 100) > 1);
        check_near(other_seed, one, 0.1); /* the device is the same ... */
        check(other_seed != one);         /* ... its noise is not */
        check(gauge_mean_mw(text, 1) == one);
        check(fabs(gauge_mean_mw(gain, 1) - 100) > 0.1);
        check_near(gauge_mean_mw(PLAIN "gauge_period_s = 1\n", 1), 100, 1e-9);
}

/* True charge of each shown percent from 90 down to 10, on a device that drains evenly. */
static void percent_sizes(const char *text, uint64_t seed, double sizes[80])
{
        struct virtual_device *device = open_device(text, VIRTUAL_CALIBRATE, seed, 100);
        struct sample sample = { 0 };
        struct virtual_truth truth;
        uint32_t last = 101;
        double before = NAN;

        check_int(virtual_set_screen(device, true, 255), 0); /* 0.9 W: a percent lasts 400 s */
        do {
                run(device, 1);
                look(device, &sample);
                if (sample.battery.capacity_percent == last)
                        continue;
                last = sample.battery.capacity_percent;
                virtual_truth_read(device, &truth);
                if (last >= 9 && last <= 88)
                        sizes[88 - last] = before - truth.percent_end;
                before = truth.percent_end;
        } while (last > 8);
        sample_clear(&sample);
        virtual_free(device);
}

/* The curve is the device's, not the night's; without the key every percent is one. */
static void test_nonlinearity(void)
{
        const char *bent = PLAIN "level_step_percent = 1\nnonlinearity_percent = 3\nbackground_mw = 1\n";
        double straight[80], one[80], two[80], most = 0, roughest = 0;

        percent_sizes(PLAIN "level_step_percent = 1\n", 1, straight);
        percent_sizes(bent, 1, one);
        percent_sizes(bent, 2, two);
        for (unsigned i = 0; i < 80; i++) {
                check_near(straight[i], 1, 0.003);
                check_near(one[i], two[i], 0.006); /* to the second in which we looked */
                most = fmax(most, fabs(one[i] - 1));
                if (i > 0)
                        roughest = fmax(roughest, fabs(one[i] - one[i - 1]));
        }
        check(most > 0.01 && most < 0.3);
        check(roughest < 0.2 * most + 0.006); /* slow: three cosines */
}

static double energy_after(const char *text, enum virtual_stream stream, uint64_t seed, double s)
{
        struct virtual_device *device = open_device(text, stream, seed, 95);
        struct virtual_truth truth;

        check_int(virtual_set_wifi(device, true), 0);
        check_int(virtual_set_work(device, &game, 1), 0);
        run(device, s);
        virtual_truth_read(device, &truth);
        virtual_free(device);
        return truth.total_j;
}

static void test_determinism(void)
{
        double one = energy_after(PLAIN ALL, VIRTUAL_SIMULATE, 1, 3000);

        check(energy_after(PLAIN ALL, VIRTUAL_SIMULATE, 1, 3000) == one);
        check(energy_after(PLAIN ALL, VIRTUAL_SIMULATE, 2, 3000) != one);
        check(energy_after(PLAIN ALL, VIRTUAL_CALIBRATE, 1, 3000) != one);
}

/* Each effect of the file alone makes another night; without any the night is the formula's. */
static void test_effects(void)
{
        static const struct {
                const char *keys;
                double relative; /* how far it may be from the plain night: 0 is not at all */
        } effects[] = {
                { "background_mw = 12\nbackground_tau_s = 300\n", 0.02 },
                { "spike_mw = 250\nspike_s = 60\nspike_per_h = 10\n", 0.1 },
                { "sub_additivity_percent = 4\n", 0.03 },
                { "leakage_percent_per_c = 0.15\n", 0.03 },
                { "leakage_percent_per_c = 0.15\nthermal_c_per_w = 8\nthermal_tau_s = 400\n", 0.03 },
                { "leakage_percent_per_c = 0.15\nambient_sd_c = 2\n", 0.03 },
                { "rate_variation_percent = 10\n", 0.01 },
        };
        double plain = energy_after(PLAIN, VIRTUAL_SIMULATE, 1, 3000);

        for (size_t i = 0; i < ARRAY_SIZE(effects); i++) {
                char text[4096];
                double got;

                snprintf(text, sizeof(text), "%s%s", PLAIN, effects[i].keys);
                got = energy_after(text, VIRTUAL_SIMULATE, 1, 3000);
                check(got != plain);
                check_near(got / plain, 1, effects[i].relative);
        }
}

/* Daemons: mean 12 mW, log sd 0.8, so a sd of 12*sqrt(exp(0.64) - 1); spikes: 250 mW * 60 s * 10 per hour. */
static void test_daemons(void)
{
        struct virtual_device *device = open_device(PLAIN "background_mw = 12\nbackground_tau_s = 30\n",
                                                    VIRTUAL_SIMULATE, 3, 100);
        struct virtual_truth truth;
        double sum = 0, squares = 0;
        const unsigned n = 50000;

        for (unsigned i = 0; i < n; i++) {
                double mw;

                virtual_truth_reset(device);
                run(device, 1);
                virtual_truth_read(device, &truth);
                mw = truth.total_j * 1e3 - 100;
                sum += mw;
                squares += mw * mw;
        }
        check_near(sum / n, 12, 1.2);
        check_near(sqrt(squares / n - sum / n * sum / n), 11.36, 3);
        virtual_free(device);

        device = open_device(PLAIN "spike_mw = 250\nspike_s = 60\nspike_per_h = 10\n", VIRTUAL_SIMULATE, 4, 100);
        check_near(virtual_truth_power_w(device), 0.1 + 0.25 / 6, 1e-12);
        run(device, 60 * 3600.0);
        virtual_truth_read(device, &truth);
        check_near(truth.total_j / 216000 - 0.1, 0.25 / 6, 0.25 / 6 * 0.1);
        virtual_free(device);
}

/* Byte rates: sd 10 %, and after 120 s only 1/e of a deviation is left. Energy follows the bytes that were counted. */
static void test_rates(void)
{
        struct virtual_device *device = open_device(PLAIN "rate_variation_percent = 10\n", VIRTUAL_SIMULATE, 5, 100);
        struct virtual_work work = { .app = "copy", .read_mb_per_s = 1, .write_mb_per_s = 1 };
        struct sample sample = { 0 };
        struct virtual_truth truth;
        enum { N = 60000 };
        double *rate = calloc(N, sizeof(*rate)), sum = 0, squares = 0, products = 0, crossed = 0;
        uint64_t read_bytes = 0, write_bytes = 0;

        check_int(virtual_set_work(device, &work, 1), 0);
        for (unsigned i = 0; rate && i < N; i++) {
                double written;

                run(device, 1);
                look(device, &sample);
                rate[i] = (double)(sample.read_bytes - read_bytes) / 1e6 - 1;
                written = (double)(sample.write_bytes - write_bytes) / 1e6 - 1;
                read_bytes = sample.read_bytes;
                write_bytes = sample.write_bytes;
                sum += rate[i];
                squares += rate[i] * rate[i];
                products += i >= 120 ? rate[i] * rate[i - 120] : 0;
                crossed += rate[i] * written;
        }
        check_near(sum / N, 0, 0.02);
        check_near(sqrt(squares / N), 0.1, 0.015);
        check_near(products / squares, exp(-1), 0.12);
        check_near(crossed / squares, 0, 0.2); /* each kind wanders by itself */
        virtual_truth_read(device, &truth);
        check_near(truth.apps[0].energy_j, (double)read_bytes * 6e-9 + (double)write_bytes * 25e-9, 1e-5);
        free(rate);
        sample_clear(&sample);
        virtual_free(device);
}

/* Counters are what the work said, to the nanosecond, the byte and the burst. */
static void test_counters(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90);
        struct sample sample = { 0 };
        struct process *process;

        check_int(virtual_set_wifi(device, true), 0);
        check_int(virtual_set_screen(device, true, 100), 0);
        check_int(virtual_set_work(device, &game, 1), 0);
        virtual_set_realtime(device, 1000);
        for (unsigned i = 0; i < 40; i++) {
                run(device, 30);
                look(device, &sample);
        }
        check_int(sample.boottime_ns, 1200 * NS_PER_S);
        check_int(sample.realtime_ns, 1200 * NS_PER_S + 1000);
        check_int(sample.n_opps, 2);
        check(sample.opps_counted);
        check_int(sample.opps[0].time_ns, 0);
        check_int(sample.opps[1].khz, 1000000);
        check_int(sample.opps[1].time_ns, 1200 * NS_PER_S);
        check_int(sample.opps[1].busy_ns, 2160 * NS_PER_S);
        check_int(sample.opps[1].any_ns, 1140 * NS_PER_S);
        check_int(sample.n_cores, 4);
        check_int(sample.cores[0].busy_ns, 960 * NS_PER_S);
        check_int(sample.n_processes, 1);
        process = &sample.processes[0];
        check_int(process->cpu_ns, 2160 * NS_PER_S);
        check_int(process->cpu_opp_ns[1], 2160 * NS_PER_S);
        check_int(process->read_bytes, 600000000);
        check_int(process->write_bytes, 300000000);
        check_int(process->wifi_rx_bytes, 150000000);
        check_int(process->wifi_tx_bytes, 75000000);
        check_int(process->wifi_wakes, 120);
        check_int(process->gpu_busy_ns, 600 * NS_PER_S);
        check_int(sample.wifi_rx_bytes, 150000000);
        check_int(sample.wifi_wakes, 120);
        check(sample.wifi_on);
        check_text(sample.screen.app, "game");

        check_int(virtual_set_wifi(device, false), 0); /* no association, no bytes */
        run(device, 10);
        look(device, &sample);
        check_int(sample.wifi_rx_bytes, 150000000);
        check_int(sample.wifi_wakes, 120);
        check(!sample.wifi_on);
        sample_clear(&sample);
        virtual_free(device);
}

/* Overlapping work: highest frequency, cores cut at 1 in proportion, the rest adds up. */
static void test_overlap(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work[2] = {
                { .app = "one", .policy_khz = { 500000 }, .utilisation = { 0.9, 0.2 } },
                { .app = "two", .policy_khz = { 1000000 }, .utilisation = { 0.6, 0.1 }, .gpu = 0.3 },
        };
        struct sample sample = { 0 };

        check_int(virtual_set_work(device, work, 2), 0);
        run(device, 100);
        look(device, &sample);
        check_int(sample.n_processes, 2);
        check_int(sample.processes[0].cpu_opp_ns[1], 80 * NS_PER_S);
        check_int(sample.processes[1].cpu_opp_ns[1], 50 * NS_PER_S);
        check_int(sample.opps[1].any_ns, 100 * NS_PER_S);

        check_int(virtual_set_work(device, work, 1), 0);
        run(device, 100);
        look(device, &sample); /* "two" ended, and is seen once more */
        check_int(sample.n_processes, 2);
        check_int(sample.processes[1].ended_ns, 100 * NS_PER_S);
        check_int(sample.processes[0].ended_ns, 0);
        check_int(sample.opps[0].time_ns, 100 * NS_PER_S);
        look(device, &sample);
        check_int(sample.n_processes, 1);
        check_int(virtual_set_work(device, work, 2), 0);
        run(device, 1);
        look(device, &sample);
        check_int(sample.n_processes, 2);
        check_int(sample.processes[1].began_ns, 200 * NS_PER_S);
        check_int(sample.processes[1].gpu_busy_ns, NS_PER_S * 3 / 10);
        sample_clear(&sample);
        virtual_free(device);
}

static void test_screen_events(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90);
        struct sample sample = { 0 };

        look(device, &sample);
        check_int(sample.n_events, 0);
        check(!sample.screen.screen_on);
        run(device, 7.25);
        check_int(virtual_set_screen(device, true, 178), 0);
        check_int(virtual_set_work(device, &game, 1), 0);
        run(device, 5);
        check_int(virtual_set_screen(device, true, 20), 0);
        run(device, 5);
        check_int(virtual_set_screen(device, false, 20), 0);
        run(device, 5);
        look(device, &sample);
        check_int(sample.n_events, 3);
        check_int(sample.events[0].boottime_ns, 7250 * NS_PER_MS);
        check_text(sample.events[0].app, "game");
        check_int(sample.events[0].brightness, 178);
        check(sample.events[1].screen_on);
        check_int(sample.events[2].boottime_ns, 17250 * NS_PER_MS);
        check(!sample.events[2].screen_on);
        check_text(sample.events[2].app, "");
        look(device, &sample);
        check_int(sample.n_events, 0);
        sample_clear(&sample);
        virtual_free(device);
}

static void test_refusals(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work[2] = { { .app = "one", .foreground = true }, { .app = "two", .foreground = true } };
        _cleanup_(profile_freep) struct profile *truth = NULL;
        struct virtual_device *none = NULL;

        check_int(virtual_set_khz(device, 0, 123), -EINVAL);
        check_int(virtual_set_khz(device, 1, 500000), -EINVAL);
        check_int(virtual_set_screen(device, true, 256), -EINVAL);
        check_int(virtual_set_work(device, work, 2), -EINVAL);
        work[1].foreground = false;
        check_int(virtual_set_work(device, work, 2), 0);
        work[1].policy_khz[0] = 1;
        check_int(virtual_set_work(device, work, 2), -EINVAL);
        work[1] = (struct virtual_work){ .app = "two", .utilisation = { 1.5 } };
        check_int(virtual_set_work(device, work, 2), -EINVAL);
        work[1] = (struct virtual_work){ .app = "two", .utilisation = { [4] = 0.5 } };
        check_int(virtual_set_work(device, work, 2), -EINVAL);
        work[1] = (struct virtual_work){ .app = "two", .gpu = NAN };
        check_int(virtual_set_work(device, work, 2), -EINVAL);
        work[1] = (struct virtual_work){ .app = "two", .rx_mb_per_s = -1 };
        check_int(virtual_set_work(device, work, 2), -EINVAL);
        check_int(profile_new("real", 10000, &truth), 0);
        check_int(virtual_open(truth, VIRTUAL_SIMULATE, 1, 50, NULL, &none), -EINVAL);
        check(!none);
        virtual_free(device);
}

static void test_shipped(void)
{
        static const char *const names[] = { "nexus-7", "nexus-one", "big-little", "laptop", "handheld", "hybrid-laptop" };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_(profile_freep) struct profile *truth = NULL;
                _cleanup_(virtual_freep) struct virtual_device *device = NULL;

                check_int(virtual_load(names[i], &log_all, &truth), 0);
                if (!truth)
                        continue;
                check_text(truth->device, names[i]);
                check_int(virtual_open(truth, VIRTUAL_CALIBRATE, 1, 95, &log_all, &device), 0);
                check_int(virtual_advance(device, 600 * NS_PER_S), 0);
        }
}

/* 5 W into a device of 0.1 W: an hour is 4.9 of its 10 Wh, and it never gets more than full. */
static void test_charger(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 20);
        struct sample sample = { 0 };
        struct virtual_truth truth;

        check_int(virtual_set_charger(device, -1), -EINVAL);
        check_int(virtual_set_charger(device, 5), 0);
        run(device, 3600);
        look(device, &sample);
        check_int(sample.battery.status, BATTERY_CHARGING);
        virtual_truth_read(device, &truth);
        check_near(truth.percent_end, 20 + 49, 1e-6);
        check_near(truth.total_j, 0.1 * 3600, 1e-6);
        run(device, 3600);
        look(device, &sample);
        check_int(sample.battery.status, BATTERY_FULL);
        check_int(sample.battery.capacity_percent, 100);
        check_int(virtual_set_charger(device, 0), 0);
        run(device, 3600);
        look(device, &sample);
        check_int(sample.battery.status, BATTERY_DISCHARGING);
        virtual_truth_read(device, &truth);
        check_near(truth.percent_end, 99, 1e-6);
        check_int(virtual_set_percent(device, 101), -EINVAL);
        check_int(virtual_set_percent(device, 0), 0);
        check_int(virtual_advance(device, 1), -ENODATA);
        check_int(virtual_set_charger(device, 5), 0);
        check_int(virtual_advance(device, 1), 0);
        sample_clear(&sample);
        virtual_free(device);
}

int main(void)
{
        test_formula();
        test_sub_additivity();
        test_leakage();
        test_warming();
        test_battery();
        test_charger();
        test_empty();
        test_levels();
        test_gauge();
        test_hidden_constants();
        test_nonlinearity();
        test_determinism();
        test_effects();
        test_daemons();
        test_rates();
        test_counters();
        test_overlap();
        test_screen_events();
        test_refusals();
        test_shipped();
        return check_result();
}
