/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Load of the virtual device: daemons, traffic, several apps, the screen; counted like a kernel does. */

#include "virtual-fixture.h"

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

/*
 * Byte rates: sd 10 %, and after 120 s only 1/e of a deviation is left. Energy follows the bytes that were
 * counted.
 */
static void test_rates(void)
{
        struct virtual_device *device = open_device(PLAIN "rate_variation_percent = 10\n", VIRTUAL_SIMULATE,
                                                    5, 100);
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

/* Counters have the values of the work, to the nanosecond, the byte and the burst. */
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

int main(void)
{
        test_daemons();
        test_rates();
        test_counters();
        test_overlap();
        test_screen_events();
        return check_result();
}
