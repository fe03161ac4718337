/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The battery of the virtual device and its gauge's readings, compared with docs/physics.md worked out by hand. */

#include "virtual-fixture.h"

/* Joules are volts times coulombs, step by step; and V = OCV - I*R holds at every look. */
static void test_battery(void)
{
        struct virtual_device *device = open_device(PLAIN VOLTAGE "resistance_mohm = 200\n", VIRTUAL_SIMULATE,
                                                    1, 100);
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

/* Ten hours at 30 mW are 3 % of 10 Wh, in which nothing else counts; then its game goes on where it was. */
static void test_suspend(void)
{
        struct virtual_device *device = open_device(PLAIN "[suspend]\npower_mw = 30\n", VIRTUAL_SIMULATE, 1, 80);
        struct sample sample = { 0 };
        struct virtual_truth truth, before;
        uint64_t busy_ns;
        double power_w;

        check_int(virtual_set_work(device, &game, 1), 0);
        run(device, 100);
        look(device, &sample);
        busy_ns = sample.cores[0].busy_ns;
        power_w = virtual_truth_power_w(device);
        virtual_truth_read(device, &before);
        virtual_set_suspended(device, true);
        run(device, 36000);
        look(device, &sample);
        virtual_truth_read(device, &truth);
        check_near(before.percent_end - truth.percent_end, 3, 1e-6);
        check_near(truth.total_j - before.total_j, 0.03 * 36000, 1e-6);
        check_near(truth.base_j - before.base_j, 0.03 * 36000, 1e-6);
        check_int(sample.boottime_ns - sample.monotonic_ns, 36000 * NS_PER_S);
        check_int(sample.cores[0].busy_ns, busy_ns);
        check(busy_ns > 0);
        virtual_set_suspended(device, false);
        check_near(virtual_truth_power_w(device), power_w, 1e-9);
        run(device, 100);
        look(device, &sample);
        check_int(sample.cores[0].busy_ns, 2 * busy_ns);
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

/* Mean of the gauge over a long quiet time: 100 mW with the hidden gain and offset. */
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
        check_near(gauge_mean_mw(text, 1), one, 0);
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

int main(void)
{
        test_battery();
        test_charger();
        test_suspend();
        test_empty();
        test_levels();
        test_gauge();
        test_hidden_constants();
        test_nonlinearity();
        return check_result();
}
