/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kinds of work on the virtual device: what they cost, and what counters show of them. */

#include "virtual-fixture.h"

/* A cycle of the spin executes 1.25 instructions; idling is not given by idle_mw. */
#define KINDS                                                                                                \
        "[profile]\nversion = 1\ndevice = kinds\n[battery]\nenergy_full_mwh = 10000\n[base]\npower_mw = 100\n"  \
        "[cpu 0]\ncpus = 0-3\nactive_mw.500000 = 200\nactive_mw.1000000 = 500\n"                               \
        "shared_mw.500000 = 40\nshared_mw.1000000 = 80\n"                                                      \
        "spin_ipc = 1.25\ninstruction_cycles = 0.4\nmiss_cycles = 13\n"

static double app_j(struct virtual_device *device)
{
        struct virtual_truth truth;

        check_int(virtual_truth_read(device, &truth), 0);
        check_int(truth.n_apps, 1);
        return truth.apps[0].energy_j;
}

/* Runs one app on one core at 1 GHz for that long; its energy. */
static double energy_j(const char *text, struct virtual_work work, double s)
{
        struct virtual_device *device = open_device(text, VIRTUAL_SIMULATE, 1, 90);
        double j;

        snprintf(work.app, sizeof(work.app), "app");
        work.policy_khz[0] = 1000000;
        work.utilisation[0] = 1;
        check_int(virtual_set_work(device, &work, 1), 0);
        run(device, s);
        j = app_j(device);
        virtual_free(device);
        return j;
}

static void test_energy(void)
{
        static const char text[] = KINDS "[virtual]\nseed = 7\n";
        const struct {
                double ipc, mpk, part; /* part: of A and S */
        } cases[] = {
                { 0, 0, 1 },
                { 1.25, 0, 1 },
                { 2.5, 0, 2 / 1.5 },
                { 0.5, 0, 1.2 / 1.5 },
                { 1, 20, 1.4 / 1.5 + 13 * 0.02 },
                { 0, 8, 1 + 13 * 0.01 }, /* 8 in 1,000 of 1.25 instructions */
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                check_near(energy_j(text, (struct virtual_work){ .instructions_per_cycle = cases[i].ipc,
                                                                 .misses_per_kinstruction = cases[i].mpk }, 100),
                           100 * 0.58 * cases[i].part, 1e-9);
        check_near(energy_j(text, (struct virtual_work){ .instructions_per_cycle = 2.5, .cpu_factor = 0.8 }, 100),
                   100 * 0.58 * 0.8 * 2 / 1.5, 1e-9);
}

/* Without the keys, kinds of work cost nothing else, and nothing is counted. */
static void test_off(void)
{
        struct virtual_device *device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work = { .app = "app", .utilisation = { 1 }, .instructions_per_cycle = 3,
                                     .misses_per_kinstruction = 50 };
        struct sample sample = { 0 };

        check_int(virtual_set_work(device, &work, 1), 0);
        run(device, 100);
        check_near(app_j(device), 100 * 0.24, 1e-9);
        look(device, &sample);
        check_int(sample.n_counted, 0);
        check(!(sample.have & SAMPLE_COUNTED));
        work.instructions_per_cycle = -1;
        check_int(virtual_set_work(device, &work, 1), -EINVAL);
        work.instructions_per_cycle = 1;
        work.misses_per_kinstruction = NAN;
        check_int(virtual_set_work(device, &work, 1), -EINVAL);
        virtual_free(device);
        sample_clear(&sample);
}

/* Idling at the lowest frequency is in the base. */
static void test_idle_share(void)
{
        static const char text[] = KINDS "idle_share = 0.6\n[virtual]\nseed = 7\n";
        struct virtual_device *device = open_device(text, VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work = { .app = "app", .policy_khz = { 1000000 }, .utilisation = { 0.25 },
                                     .instructions_per_cycle = 2.5 };

        check_near(virtual_truth_power_w(device), 0.1, 1e-12);
        check_int(virtual_set_khz(device, 0, 1000000), 0);
        check_near(virtual_truth_power_w(device), 0.1 + 0.6 * 0.3, 1e-12);
        check_int(virtual_set_work(device, &work, 1), 0); /* idling does not depend on the kind of work */
        check_near(virtual_truth_power_w(device), 0.1 + 0.18 + 0.25 * 0.58 * 2 / 1.5, 1e-12);
        virtual_free(device);
}

static void test_counters(void)
{
        static const struct {
                const char *words;
                bool counted, misses;
        } cases[] = {
                { "counters = all\n", true, true },
                { "counters = instructions\n", true, false },
                { "counters = none\n", false, false },
        };
        struct virtual_work work[2] = { { .app = "one", .policy_khz = { 500000 }, .utilisation = { 0.5 },
                                          .instructions_per_cycle = 2, .misses_per_kinstruction = 4 },
                                        { .app = "two", .policy_khz = { 500000 }, .utilisation = { 0, 0.1 } } };
        struct sample sample = { 0 };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                char text[2048];
                struct virtual_device *device;

                snprintf(text, sizeof(text), "%s[virtual]\nseed = 7\n%s", KINDS, cases[i].words);
                device = open_device(text, VIRTUAL_SIMULATE, 1, 90);
                check_int(virtual_set_work(device, work, 2), 0);
                run(device, 100);
                look(device, &sample);
                check_int(!!(sample.have & SAMPLE_COUNTED), cases[i].counted);
                check_int(sample.n_counted, cases[i].counted ? 2 : 0);
                for (size_t k = 0; cases[i].counted && k < 2; k++) {
                        const struct process_counted *counted = &sample.counted[k];

                        check_int(counted->process.pid, sample.processes[k].pid);
                        check_int(counted->misses, cases[i].misses);
                        check_near((double)counted->amount[COUNTED_CYCLES], k ? 5e9 : 25e9, 1);
                        check_near((double)counted->amount[COUNTED_INSTRUCTIONS], k ? 6.25e9 : 50e9, 1);
                        check_near((double)counted->amount[COUNTED_MISSES], k || !cases[i].misses ? 0 : 2e8, 1);
                }
                look(device, &sample); /* not a total */
                check_int(sample.n_counted, 0);
                virtual_free(device);
        }
        sample_clear(&sample);
}

/* The counters are read in a part of the seconds, which are drawn. */
static void test_share(void)
{
        struct virtual_device *device = open_device(KINDS "[virtual]\nseed = 7\ncounters = all\ncounter_share = 0.2\n",
                                                    VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work = { .app = "app", .policy_khz = { 1000000 }, .utilisation = { 1 } };
        struct sample sample = { 0 };
        unsigned seen = 0, n = 5000;

        check_int(virtual_set_work(device, &work, 1), 0);
        for (unsigned i = 0; i < n; i++) {
                run(device, 1);
                look(device, &sample);
                seen += sample.n_counted == 1;
                if (sample.n_counted == 1)
                        check_near((double)sample.counted[0].amount[COUNTED_CYCLES], 1e9, 1);
        }
        check_near(seen / (double)n, 0.2, 0.02);
        virtual_free(device);
        sample_clear(&sample);
}

/* The same app deviates in the same way in each run, and a calibration's load not at all. */
static void test_residual(void)
{
        static const char text[] = KINDS "[virtual]\nseed = 7\nkind_residual = 0.1\n";
        double sum = 0, squares = 0, first = 0;
        const unsigned n = 2000;

        for (unsigned i = 0; i < n; i++) {
                struct virtual_device *device = open_device(text, VIRTUAL_SIMULATE, i, 90);
                struct virtual_work work = { .policy_khz = { 1000000 }, .utilisation = { 1 } };
                double log_part;

                snprintf(work.app, sizeof(work.app), "app %u", i % (n / 2));
                check_int(virtual_set_work(device, &work, 1), 0);
                run(device, 1);
                log_part = log(app_j(device) / 0.58);
                sum += log_part;
                squares += log_part * log_part;
                if (i == 0)
                        first = log_part;
                if (i == n / 2)
                        check_near(log_part, first, 1e-12);
                virtual_free(device);
        }
        check_near(sum / n, -0.005, 0.01);
        check_near(sqrt(squares / n), 0.1, 0.01);
        check_near(energy_j(text, (struct virtual_work){ .reference = true }, 10), 5.8, 1e-9);
}

/* An app's power wanders about its mean, and keeps 1/e of a deviation after the given time. */
static void test_variation(void)
{
        struct virtual_device *device = open_device(KINDS "[virtual]\nseed = 7\nkind_variation = 0.1\n"
                                                    "kind_variation_tau_s = 20\n", VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work work = { .app = "app", .policy_khz = { 1000000 }, .utilisation = { 1 } };
        enum { N = 20000, TAU = 20 };
        double *part = calloc(N, sizeof(*part)), sum = 0, squares = 0, products = 0;

        check_int(virtual_set_work(device, &work, 1), 0);
        for (unsigned i = 0; part && i < N; i++) {
                virtual_truth_reset(device);
                run(device, 1);
                part[i] = app_j(device) / 0.58 - 1;
                sum += part[i];
                squares += part[i] * part[i];
                products += i >= TAU ? part[i] * part[i - TAU] : 0;
        }
        check_near(sum / N, 0, 0.01);
        check_near(sqrt(squares / N), 0.1, 0.015);
        check_near(products / squares, exp(-1), 0.1);
        virtual_free(device);
        free(part);
}

/* Pieces of work that overlap on a core have the mean kind by CPU time. */
static void test_overlap(void)
{
        struct virtual_device *device = open_device(KINDS "[virtual]\nseed = 7\ncounters = all\n", VIRTUAL_SIMULATE, 1,
                                                    90);
        struct virtual_work work[2] = { { .app = "app", .policy_khz = { 1000000 }, .utilisation = { 0.6 },
                                          .instructions_per_cycle = 2 },
                                        { .app = "app", .policy_khz = { 1000000 }, .utilisation = { 0.2 },
                                          .instructions_per_cycle = 1, .misses_per_kinstruction = 10 } };
        struct sample sample = { 0 };

        check_int(virtual_set_work(device, work, 2), 0);
        run(device, 10);
        check_near(app_j(device), 10 * 0.58 * (0.6 * 1.8 / 1.5 + 0.2 * (1.4 / 1.5 + 0.13)), 1e-9);
        look(device, &sample);
        check_int(sample.n_counted, 1);
        check_near((double)sample.counted[0].amount[COUNTED_INSTRUCTIONS], 14e9, 2);
        check_near((double)sample.counted[0].amount[COUNTED_MISSES], 2e7, 2);
        virtual_free(device);
        sample_clear(&sample);
}

int main(void)
{
        test_energy();
        test_off();
        test_idle_share();
        test_counters();
        test_share();
        test_residual();
        test_variation();
        test_overlap();
        return check_result();
}
