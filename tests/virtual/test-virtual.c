/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The physics of the virtual device, against the formula of docs/physics.md worked out by hand. */

#include "virtual-fixture.h"

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
        app_w = (0.08 + 0.02) * any + 0.5 * 1.8 + 0.55 + 0.5 * 0.006 + 0.25 * 0.025 + 0.125 * 0.35 +
                0.0625 * 0.55 + 0.1 * 0.12 + 0.5 * 0.9;
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
                double relative; /* allowed difference from the plain night; 0: none */
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

static void test_refusals(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work[2] = { { .app = "one", .foreground = true },
                                        { .app = "two", .foreground = true } };
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
        static const char *const names[] = { "nexus-7", "nexus-one", "big-little",
                                             "laptop",  "handheld",  "hybrid-laptop" };

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

int main(void)
{
        test_formula();
        test_sub_additivity();
        test_leakage();
        test_warming();
        test_determinism();
        test_effects();
        test_refusals();
        test_shipped();
        return check_result();
}
