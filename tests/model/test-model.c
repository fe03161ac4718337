/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The power model against numbers that were worked out by hand. */

#include <errno.h>

#include "check.h"
#include "model/model.h"
#include "util/units.h"
#include "util/util.h"

#define S(seconds) ((uint64_t)((seconds) * 1e9))

static const char text[] = "[profile]\n"
                           "version = 1\n"
                           "device = hand\n"
                           "[fit]\n"
                           "degrees_of_freedom = 10\n"
                           "scale_percent = 2\n"
                           "discrepancy_percent = 1\n"
                           "[battery]\n"
                           "energy_full_mwh = 10000\n"
                           "[base]\n"
                           "power_mw = 100 4\n"
                           "[cpu 0]\n"
                           "cpus = 0-3\n"
                           "active_mw.400000 = 200 10\n"
                           "active_mw.800000 = 600 20\n"
                           "shared_mw.400000 = 40 2\n"
                           "shared_mw.800000 = 80 4\n"
                           "[display]\n"
                           "max_brightness = 255\n"
                           "power_mw.5 = 300 3\n"
                           "power_mw.105 = 500 5\n"
                           "[disk]\n"
                           "read_mj_per_mb = 6 1\n"
                           "[wifi]\n"
                           "on_mw = 30 3\n"
                           "rx_mj_per_mb = 350 30\n"
                           "[covariance]\n"
                           "cpu.0.active_mw.400000,base.power_mw = -20\n";

static struct profile *parse(const char *string)
{
        struct profile *profile = NULL;

        check_int(profile_parse(string, strlen(string), "hand", NULL, &profile), 0);
        return profile;
}

static struct model_energy energy_of(const struct profile *profile, const struct usage *usage,
                                     double extra_sd_j)
{
        struct model_vector vector = { 0 };
        struct model_energy energy = { .value_j = NAN };

        check_int(model_vector_make(profile, usage, &vector), 0);
        model_energy(profile, &vector, 0.95, extra_sd_j, &energy);
        model_vector_clear(&vector);
        return energy;
}

static const char *missing_of(const struct profile *profile, const struct usage *usage)
{
        static char list[512];
        struct model_vector vector = { 0 };

        list[0] = '\0';
        check_int(model_vector_make(profile, usage, &vector), 0);
        for (size_t i = 0; i < vector.n_not_measured; i++) {
                strcat(list, list[0] ? ", " : "");
                strcat(list, vector.not_measured[i]);
        }
        model_vector_clear(&vector);
        return list;
}

/* Groups: a policy whose frequency is unknown is of its kind all the same. */
static void unknown_frequency_of_a_kind(void)
{
        static const char groups[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\n"
                                     "energy_full_mwh = 10000\n"
                                     "[cpu 0]\nactive_mw.400000 = 1000 0\nactive_mw.800000 = 3000 0\n"
                                     "shared_mw.400000 = 0 0\n"
                                     "shared_mw.800000 = 0 0\n[cpu 1]\nas = 0\n[cpu 2]\nactive_mw.300000 = 100 0\n"
                                     "active_mw.600000 = 200 0\nshared_mw.300000 = 0 0\n"
                                     "shared_mw.600000 = 40 0\n[cpu 3]\nas = 2\n";
        static const struct {
                uint32_t policy;
                double value_j, half_width_j;
        } cases[] = {
                { 1, 20, 10 },        /* 10 s at 1 to 3 W */
                { 3, 1.6, 0.6 },      /* at 0.1 W, to 0.2 W and 5 s at 0.04 W; */
                { 7, 15.5, 14.5 },    /* an unknown policy: the range over all policies */
        };
        struct profile *profile = parse(groups);

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct usage usage = { .have = USAGE_ALL };
                struct model_energy energy;

                check_int(usage_add_cpu(&usage, cases[i].policy, KHZ_UNKNOWN, S(10), S(5)), 0);
                energy = energy_of(profile, &usage, 0);
                check_near(energy.value_j, cases[i].value_j, 1e-9);
                check_near(energy.half_width_j, cases[i].half_width_j, 1e-9);
                usage_clear(&usage);
        }
        profile_free(profile);
}

/*
 * At 600 MHz, half way from nothing to 10 mW, for 20 s; where no frequency is known, half of the most is
 * not known better.
 */
static void idling_has_a_price(void)
{
        static const char idle[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\n"
                                   "energy_full_mwh = 10000\n"
                                   "[cpu 0]\nactive_mw.400000 = 100 0\nshared_mw.400000 = 0 0\nidle_mw.400000 = 0 0\n"
                                   "idle_mw.800000 = 10 0\n";
        static const struct {
                uint32_t khz;
                double value_j, half_width_j;
        } cases[] = { { 600000, 0.1, 0 }, { 800000, 0.2, 0 }, { KHZ_UNKNOWN, 0, 0.1 } };
        struct profile *profile = parse(idle);

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct usage usage = { .have = USAGE_ALL };
                struct model_energy energy;

                check_int(usage_add_point(&usage, KEYED_IDLE,
                                          &(struct point){ .khz = cases[i].khz, .idle_ns = S(20) }),
                          0);
                energy = energy_of(profile, &usage, 0);
                check_near(energy.value_j, cases[i].value_j, 1e-9);
                check_near(energy.half_width_j, cases[i].half_width_j, 1e-9);
                usage_clear(&usage);
        }
        profile_free(profile);
}

/*
 * 10 MB at 300 mJ each: 3 J. At -70 dBm half more; half way to -50 dBm a quarter more; at an unknown signal, the mean
 * of the highest and lowest price.
 */
static void weak_signals_cost_more(void)
{
        static const char signals[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\n"
                                      "energy_full_mwh = 10000\n"
                                      "[wifi]\nrx_mj_per_mb = 300 0\nsignal.50 = 0 0\nsignal.70 = 0.5 0\n";
        static const struct {
                uint32_t minus_dbm;
                double value_j, half_width_j;
        } cases[] = { { 70, 4.5, 0 }, { 90, 4.5, 0 }, { 60, 3.75, 0 }, { 30, 3, 0 }, { 0, 3, 0.75 } };
        struct profile *profile = parse(signals);

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct usage usage = { .have = USAGE_ALL, .wifi_rx_bytes = 10000000 };
                struct point point = { .minus_dbm = cases[i].minus_dbm, .bytes = 10000000 };
                struct model_energy energy;

                if (cases[i].minus_dbm)
                        check_int(usage_add_point(&usage, KEYED_SIGNAL, &point), 0);
                energy = energy_of(profile, &usage, 0);
                check_near(energy.value_j, cases[i].value_j, 1e-9);
                check_near(energy.half_width_j, cases[i].half_width_j, 1e-9);
                usage_clear(&usage);
        }
        profile_free(profile);
}

/* A policy that the profile lists and has no coefficients of is missing, also where its frequency is unknown. */
static void listed_and_never_measured(void)
{
        static const char listed[] = "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 10000\n[cpu 0]\ncpus = 0\n"
                                   "active_mw.400000 = 1000\n[cpu 1]\ncpus = 1\nas = 0\n[cpu 2]\ncpus = 2\n";
        struct profile *profile = parse(listed);
        struct point cpu = { .policy = 2, .khz = KHZ_UNKNOWN, .busy_ns = S(1), .any_ns = S(1) };
        struct usage usage = { .have = USAGE_ALL, .cpu = { &cpu, 1 } };

        check_text(missing_of(profile, &usage), "cpu.2.active_mw, cpu.2.shared_mw");
        check(isnan(energy_of(profile, &usage, 0).component_j[COMPONENT_CPU]));
        profile_free(profile);
}

/*
 * Policy 1 costs what policy 0 does, and one with an error is one:
 * what both used is as sure as if one had.
 */
static void is_as_another(void)
{
        static const char as[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\n"
                                 "energy_full_mwh = 10000\n"
                                 "[cpu 0]\ncpus = 0\nactive_mw.400000 = 200 10\nshared_mw.400000 = 40 2\n"
                                 "[cpu 1]\ncpus = 1\nas = 0\n";
        struct profile *profile = parse(as);
        struct model_energy both, one;
        struct usage usage = { .have = USAGE_ALL };

        check_int(usage_add_cpu(&usage, 0, 400000, S(10), S(5)), 0);
        check_int(usage_add_cpu(&usage, 1, 400000, S(30), S(5)), 0);
        both = energy_of(profile, &usage, 0);
        check_text(missing_of(profile, &usage), "");
        usage_clear(&usage);
        usage.have = USAGE_ALL;
        check_int(usage_add_cpu(&usage, 0, 400000, S(40), S(10)), 0);
        one = energy_of(profile, &usage, 0);
        check_near(both.value_j, 40 * 0.2 + 10 * 0.04, 1e-9);
        check_near(both.half_width_j, one.half_width_j, 1e-9);
        check(one.half_width_j > 0);
        usage_clear(&usage);
        profile_free(profile);
}

static void every_term(const struct profile *profile)
{
        struct point cpu = { .khz = 400000, .busy_ns = S(20), .any_ns = S(12) };
        struct point screen = { .brightness = 5, .on_ns = S(7) };
        struct usage usage = { .have = USAGE_ALL,
                               .time_ns = S(30),
                               .cpu = { &cpu, 1 },
                               .screen = { &screen, 1 },
                               .read_bytes = 2000000,
                               .wifi_on_ns = S(30),
                               .wifi_rx_bytes = 3000000 };
        struct model_energy energy = energy_of(profile, &usage, 1.5);
        double variance_mj2;

        check_near(energy.component_j[COMPONENT_BASE], 3.0, 1e-12);
        check_near(energy.component_j[COMPONENT_CPU], 4.0 + 0.48, 1e-12);
        check_near(energy.component_j[COMPONENT_DISPLAY], 2.1, 1e-12);
        check_near(energy.component_j[COMPONENT_DISK], 0.012, 1e-12);
        check_near(energy.component_j[COMPONENT_WIFI], 0.9 + 1.05, 1e-12);
        check_near(energy.component_j[COMPONENT_GPU], 0, 0);
        check_near(energy.value_j, 11.542, 1e-12);

        /* (30*4)^2 + (20*10)^2 + (12*2)^2 + (7*3)^2 + (2*1)^2 + (30*3)^2 + (3*30)^2 - 2*20*30*20, in mJ^2 */
        variance_mj2 = 14400 + 40000 + 576 + 441 + 4 + 8100 + 8100 - 24000;
        variance_mj2 += 230.84 * 230.84;                                              /* 2 % of the sum */
        variance_mj2 += 30 * 30 + 44.8 * 44.8 + 21 * 21 + 0.12 * 0.12 + 19.5 * 19.5;  /* 1 % of each component */
        variance_mj2 += 1500 * 1500;
        check_near(energy.half_width_j, 2.228139 * sqrt(variance_mj2) * 1e-3, 1e-6);
}

static void between_and_outside(const struct profile *profile)
{
        struct point cpu = { .busy_ns = S(1) };
        struct point screen = { .on_ns = S(1) };
        struct usage usage = { .have = USAGE_ALL, .cpu = { &cpu, 1 }, .screen = { &screen, 1 } };
        static const struct {
                uint32_t khz, brightness;
                double cpu_j, cpu_spread_j, display_j, display_spread_j;
        } cases[] = {
                { 400000, 5, 0.2, 0, 0.3, 0 },
                { 500000, 30, 0.3, 0, 0.35, 0 },
                { 700000, 105, 0.5, 0, 0.5, 0 },
                { 800000, 0, 0.6, 0, 0.3, 0.01 },       /* 5 levels of 2 mW less */
                { 800000, 205, 0.6, 0, 0.5, 0.2 },
                { KHZ_UNKNOWN, BRIGHTNESS_UNKNOWN, 0.4, 0.2, 0.4, 0.1 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct model_vector vector = { 0 };
                struct model_energy energy;

                cpu.khz = cases[i].khz;
                screen.brightness = cases[i].brightness;
                check_int(model_vector_make(profile, &usage, &vector), 0);
                model_energy(profile, &vector, 0.95, 0, &energy);
                check_near(energy.component_j[COMPONENT_CPU], cases[i].cpu_j, 1e-12);
                check_near(vector.component_spread_mj[COMPONENT_CPU] * 1e-3, cases[i].cpu_spread_j, 1e-12);
                check_near(energy.component_j[COMPONENT_DISPLAY], cases[i].display_j, 1e-12);
                check_near(vector.component_spread_mj[COMPONENT_DISPLAY] * 1e-3, cases[i].display_spread_j, 1e-12);
                model_vector_clear(&vector);
        }
}

/* The slope of the measured ones decides; half of the interval is the power times sinh(2 sd). Idling goes with busy. */
#define ONE "active_mw.400000 = 200\nshared_mw.400000 = 40\n"
#define TWO ONE "active_mw.800000 = 600\nshared_mw.800000 = 120\n"
#define RESTS TWO "idle_mw.400000 = 0\nidle_mw.800000 = 240\n"
static void frequencies_beyond_are_wide(void)
{
        static const struct {
                const char *cpu;
                uint32_t khz;
                bool idles;
                double mw, spread_mw;
        } cases[] = {
                { TWO, 800000, false, 720, 0 }, /* measured */
                { TWO, 600000, false, 480, 0 },
                /* exponents 0.8 and 0.2, and 0.65 log2(3), or usually 0.65 * 1.4; idling up to 0.8 of the change */
                { TWO, 1200000, false, 1512.235, 752.089 + 633.788 },
                { TWO, 300000, false, 168.465, 61.764 + 57.228 },
                { TWO, 1200000, true, 0, 633.788 },
                { ONE, 600000, false, 480.095, 318.351 + 192.076 },
                { ONE, 200000, false, 111.191, 135.170 + 103.048 },
                /* idling: of the changes +792.235 and -71.535, 0.5 ratio^0.15 */
                { RESTS, 800000, true, 240, 0 },
                { RESTS, 1200000, true, 682.759, 440.811 },
                { RESTS, 300000, true, -33.918, 31.003 },
                { RESTS, 1200000, false, 1512.235 + 682.759, 752.089 + 440.811 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(profile_freep) struct profile *profile = NULL;
                struct point point = { .khz = cases[i].khz, .busy_ns = S(1), .any_ns = S(1) };
                struct usage usage = { .have = USAGE_ALL };
                struct model_vector vector = { 0 };
                char string[600];

                *(cases[i].idles ? &usage.idle : &usage.cpu) = (struct points){ &point, 1 };
                snprintf(string, sizeof(string), "[profile]\nversion = 1\ndevice = hand\n[battery]\n"
                         "energy_full_mwh = 10000\n[base]\npower_mw = 100\n[cpu 0]\n%s", cases[i].cpu);
                profile = parse(string);
                if (!profile)
                        continue;
                check_int(model_vector_make(profile, &usage, &vector), 0);
                check_near(model_energy_mj(profile, &vector), cases[i].mw, 0.01);
                check_near(vector.component_spread_mj[COMPONENT_CPU] + vector.component_spread_mj[COMPONENT_BASE],
                           cases[i].spread_mw, 0.01);
                model_vector_clear(&vector);
        }
}

static void what_is_missing_is_named(const struct profile *profile)
{
        struct point cpu = { .khz = 400000, .busy_ns = S(1) };
        struct usage usage = { .have = USAGE_ALL };
        struct model_energy energy;

        check_text(missing_of(profile, &usage), "");
        usage.write_bytes = 1000000;
        usage.read_bytes = 1000000;
        check_text(missing_of(profile, &usage), "disk.write_mj_per_mb");
        energy = energy_of(profile, &usage, 0);
        check_near(energy.component_j[COMPONENT_DISK], 0.006, 1e-12); /* the rest is summed */
        usage.gpu_busy_ns = 1;
        usage.have = USAGE_ALL & ~(uint32_t)USAGE_WIFI;
        check_text(missing_of(profile, &usage), "disk.write_mj_per_mb, wifi (not counted), gpu");
        energy = energy_of(profile, &usage, 0);
        check(isnan(energy.component_j[COMPONENT_GPU]));
        check(isnan(energy.component_j[COMPONENT_WIFI]));
        check_near(energy.component_j[COMPONENT_CPU], 0, 0);
        check_near(energy.value_j, 0.006, 1e-12);
        usage = (struct usage){ .have = USAGE_ALL, .cpu = { &cpu, 1 }, .suspend_ns = 5, .wifi_wakes = 1 };
        cpu.policy = 4;
        check_text(missing_of(profile, &usage),
                   "suspend.power_mw, cpu.4.active_mw, cpu.4.shared_mw, wifi.wake_mj");
        energy = energy_of(profile, &usage, 0);
        check(isnan(energy.component_j[COMPONENT_CPU])); /* all of it is unknown, and not 0 */
        check(isnan(energy.component_j[COMPONENT_WIFI]));
        check(isnan(energy.value_j) && isnan(energy.half_width_j)); /* nor is their sum 0 */
}

/* Bytes that no coefficient prices are named, and hide nothing of the rest. */
static void other_networks_are_named(const struct profile *profile)
{
        struct usage usage = { .have = USAGE_ALL, .time_ns = S(10), .other_tx_bytes = 1 };
        struct model_vector vector = { 0 };

        check_text(missing_of(profile, &usage), "network (other than WiFi)");
        check_near(energy_of(profile, &usage, 0).value_j, 1, 1e-12);
        check_int(model_vector_make(profile, &usage, &vector), 0);
        check_int(vector.unpriced, 0);
        model_vector_clear(&vector);
        usage.have &= ~(uint32_t)USAGE_OTHER_NET;
        check_text(missing_of(profile, &usage), "");
        usage = (struct usage){ .have = USAGE_ALL, .other_rx_bytes = 1 };
        check_text(missing_of(profile, &usage), "network (other than WiFi)");
}

/* Parts that apps hold are priced by time, or named as missing; an unpriced sleeping GPS is part of the base. */
static void held_parts(void)
{
        static const char priced[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\n"
                                     "energy_full_mwh = 10000\n"
                                     "[base]\npower_mw = 100 1\n[gps]\non_mw = 350 10\nsleep_mw = 20 1\n"
                                     "[audio]\non_mw = 60 5\n";
        static const char plain[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\n"
                                    "energy_full_mwh = 10000\n"
                                    "[base]\npower_mw = 100 1\n";
        struct usage usage = { .have = USAGE_ALL, .gps_on_ns = S(10), .audio_on_ns = S(5), .camera_on_ns = S(1) };
        struct model_vector vector = { 0 };
        struct model_energy energy;

        for (unsigned i = 0; i < 2; i++) {
                _cleanup_(profile_freep) struct profile *profile = parse(i ? plain : priced);

                if (!profile)
                        return;
                usage.time_ns = usage.gps_sleep_ns = 0;
                check_text(missing_of(profile, &usage), i ? "gps, audio, camera" : "camera");
                energy = energy_of(profile, &usage, 0);
                check_near(energy.value_j, i ? 0 : 3.8, 1e-12);
                if (i)
                        check(isnan(energy.component_j[COMPONENT_GPS]) && isnan(energy.component_j[COMPONENT_AUDIO]));
                else
                        check_near(energy.component_j[COMPONENT_GPS], 3.5, 1e-12);
                check(isnan(energy.component_j[COMPONENT_CAMERA]));
                check_int(model_vector_make(profile, &usage, &vector), 0);
                check_int(vector.unpriced, 0);
                model_vector_clear(&vector);
                usage.time_ns = usage.gps_sleep_ns = S(10);
                check_near(energy_of(profile, &usage, 0).component_j[COMPONENT_BASE], i ? 1 : 1.2, 1e-12);
                usage.have &= ~(uint32_t)USAGE_HELD;
                check_text(missing_of(profile, &usage), i ? "" : "gps (not counted), audio (not counted)");
                energy = energy_of(profile, &usage, 0);
                check(isnan(energy.component_j[COMPONENT_GPS]) && isnan(energy.component_j[COMPONENT_CAMERA]));
                usage.have = USAGE_ALL;
        }
}

/* A connection of Bluetooth is in the base: priced, or named where there was one. */
static void bluetooth(void)
{
#define HEAD \
        "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\nenergy_full_mwh = 10000\n[base]\n" \
        "power_mw = 100 1\n"
        for (unsigned i = 0; i < 2; i++) {
                _cleanup_(profile_freep) struct profile *profile = parse(i ? HEAD : HEAD "[bluetooth]\non_mw = 30 2\n");
                struct usage usage = { .have = USAGE_ALL, .time_ns = S(10) };

                if (!profile)
                        return;
                check_text(missing_of(profile, &usage), "");
                usage.bluetooth_on_ns = S(10);
                check_text(missing_of(profile, &usage), i ? "bluetooth" : "");
                check_near(energy_of(profile, &usage, 0).component_j[COMPONENT_BASE], i ? 1 : 1.3, 1e-12);
        }
#undef HEAD
}

/* The interval covers the energy by any of the storages. */
static void several_storages(void)
{
        static const char two[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 10\n[battery]\n"
                                  "energy_full_mwh = 10000\n"
                                  "[disk mmcblk0]\nread_mj_per_mb = 2 0\n[disk sda]\nread_mj_per_mb = 10 0\n";
        _cleanup_(profile_freep) struct profile *profile = parse(two);
        struct usage usage = { .have = USAGE_ALL, .read_bytes = 100 * 1000000 };
        struct model_energy energy = energy_of(profile, &usage, 0);

        check_near(energy.value_j, 0.6, 1e-12);
        check_near(energy.value_j - energy.half_width_j, 0.2, 1e-9);
        check_near(energy.value_j + energy.half_width_j, 1.0, 1e-9);
}

/* An uncounted component may have been idle and costs 0; a used component without a price makes the energy unknown. */
static void nothing_known(void)
{
        static const char bare[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 5\n[battery]\n"
                                   "energy_full_mwh = 10000\n[base]\npower_mw = 100 1\n";
        _cleanup_(profile_freep) struct profile *profile = parse(bare);
        struct usage usage = { .have = USAGE_ALL & ~(uint32_t)USAGE_GPU };
        struct model_energy energy;

        if (!profile)
                return;
        energy = energy_of(profile, &usage, 0);
        check_near(energy.value_j, 0, 0);
        check_near(energy.half_width_j, 0, 0);
        usage.read_bytes = 1;
        energy = energy_of(profile, &usage, 0);
        check(isnan(energy.value_j) && isnan(energy.half_width_j));
        usage.time_ns = S(10);
        energy = energy_of(profile, &usage, 0);
        check_near(energy.value_j, 1, 1e-12);
        check_near(energy.half_width_j, 2.570582 * 0.01, 1e-7);
}

static void no_errors_no_interval(void)
{
        static const char plain[] = "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 10000\n"
                                    "[base]\npower_mw = 100 1\n";
        static const char partial[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 5\n[battery]\n"
                                      "energy_full_mwh = 10000\n[base]\npower_mw = 100 1\n[gpu]\nactive_mw = 5\n";
        _cleanup_(profile_freep) struct profile *without = parse(plain), *some = parse(partial);
        struct usage usage = { .have = USAGE_ALL, .time_ns = S(10) };
        struct model_energy energy;

        if (!without || !some)
                return;
        energy = energy_of(without, &usage, 0);
        check_near(energy.value_j, 1, 1e-12);
        check(isnan(energy.half_width_j));
        energy = energy_of(some, &usage, 0);
        check_near(energy.half_width_j, 2.570582 * 0.01, 1e-7);
        usage.gpu_busy_ns = S(1);
        energy = energy_of(some, &usage, 0);
        check_near(energy.value_j, 1.005, 1e-12);
        check(isnan(energy.half_width_j));
}

static void vectors_add_up(const struct profile *profile)
{
        struct point cpu = { .khz = KHZ_UNKNOWN, .busy_ns = S(1) };
        struct usage usage = { .have = USAGE_ALL, .time_ns = S(1), .cpu = { &cpu, 1 } };
        struct model_vector sum = { 0 }, one = { 0 };
        struct model_energy energy;

        check_int(model_vector_make(profile, &usage, &one), 0);
        check_int(model_vector_add(&sum, &one), 0);
        check_int(model_vector_add_scaled(&sum, &one, 2), 0);
        model_energy(profile, &sum, 0.95, 0, &energy);
        check_near(energy.value_j, 3 * 0.5, 1e-12);
        check_near(energy.component_j[COMPONENT_BASE], 0.3, 1e-12);
        check_near(sum.component_spread_mj[COMPONENT_CPU], 600, 1e-9); /* the same ignorance thrice */
        check_near(model_energy_mj(profile, &sum), 1500, 1e-9);
        model_vector_clear(&sum);
        model_vector_clear(&one);
}

static void sessions_differ(void)
{
        _cleanup_(profile_freep) struct profile *profile =
                parse("[profile]\nversion = 1\ndevice = hand\n[battery]\nenergy_full_mwh = 10000\n"
                      "[learned]\nsession_percent = 3\n");

        if (!profile)
                return;
        check_near(model_session_sd_j(profile, 60, 100), 3, 0.01); /* one */
        check_near(model_session_sd_j(profile, 100 * 28800, 100), 0.3, 0.002); /* many */
}

static void daemons(const struct profile *profile)
{
        /* Short spans are all correlated, long ones average out. */
        check_near(model_background_sd_j(profile, 0), 0, 0);
        check_near(model_background_sd_j(profile, 1), 14e-3, 2e-5);
        check_near(model_background_sd_j(profile, 360000), 14e-3 * sqrt(2 * 300.0 * (360000 - 300)), 1e-6);
        check_near(model_session_sd_j(profile, 60, 100), 0, 0);
}

/*
 * A device's measurement by its own battery has a scale error in joules alone; numbers of a class come from other
 * devices, and err in percent, too.
 */
static void own_scale_cancels(void)
{
        static const char fit[] = "[fit]\ndegrees_of_freedom = 1e6\nscale_percent = 5\n[battery]\n"
                                  "energy_full_mwh = 10000\n[base]\npower_mw = 100 1\n";
        static const struct {
                const char *method;
                double joule_error, half_width_j; /* for 10 s */
        } cases[] = {
                { "method = percent\n", 0.05, 1.96 * 0.01 },
                { "method = ticks\n", 0.05, 1.96 * 0.01 },
                { "method = gauge\n", 0.05, 1.96 * 0.01 },
                { "method = class\n", 0, 1.96 * 0.0509902 },
                { "method = import\n", 0, 1.96 * 0.0509902 },
                { "", 0, 1.96 * 0.0509902 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct usage usage = { .have = USAGE_ALL, .time_ns = S(10) };
                struct profile *profile;
                char text_of[400];

                snprintf(text_of, sizeof(text_of), "[profile]\nversion = 1\n%s%s", cases[i].method, fit);
                profile = parse(text_of);
                check_near(profile_joule_error(profile), cases[i].joule_error, 1e-12);
                check_near(energy_of(profile, &usage, 0).half_width_j, cases[i].half_width_j, 1e-5);
                profile_free(profile);
        }
}

int main(void)
{
        own_scale_cancels();
        is_as_another();
        unknown_frequency_of_a_kind();
        idling_has_a_price();
        weak_signals_cost_more();
        listed_and_never_measured();
        _cleanup_(profile_freep) struct profile *profile = parse(text);

        if (!profile)
                return 1;
        every_term(profile);
        frequencies_beyond_are_wide();
        sessions_differ();
        between_and_outside(profile);
        what_is_missing_is_named(profile);
        other_networks_are_named(profile);
        nothing_known();
        held_parts();
        bluetooth();
        several_storages();
        no_errors_no_interval();
        vectors_add_up(profile);
        daemons(profile);
        return check_result();
}
