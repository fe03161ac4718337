/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Packets of a virtual device: what its counters show, which app pays for them, and what a change of work does. */

#include "radio/radio-run.h"
#include "virtual-fixture.h"

/* Two seconds at 1 W after each packet; 2 W for 5 s. */
#define RADIOS                                                                                               \
        "[radio wifi]\ninitial = off\n[radio wifi off]\npower_mw = 0\non_tx = up\non_rx = up\n"                \
        "[radio wifi up]\npower_mw = 1000\nafter = 2000 off\n"                                                \
        "[radio cellular]\ninitial = idle\ntx_nj_per_byte = 1000\n"                                           \
        "[radio cellular idle]\npower_mw = 5\non_tx = on\non_rx = on\n"                                       \
        "[radio cellular on]\npower_mw = 2000\nafter = 5000 idle\n"

static const struct process *process_of(const struct sample *sample, const char *app)
{
        for (size_t i = 0; i < sample->n_processes; i++)
                if (strcmp(sample->processes[i].app, app) == 0)
                        return &sample->processes[i];
        check_text("no such process", app);
        exit(1);
}

static void work(struct virtual_device *device, const struct virtual_work *list, size_t n)
{
        check_int(virtual_set_work(device, list, n), 0);
}

/* Counters of bytes, packets and bursts by sender, and of the machine: a burst follows a second of silence. */
static void test_counters(void)
{
        struct virtual_device *device = open_device(PLAIN RADIOS, VIRTUAL_SIMULATE, 1, 90);
        const struct virtual_work list[] = {
                { .app = "mail", .packets_per_s = 0.5, .packet_bytes = 100, .number = 1 },
                { .app = "call", .packets_per_s = 0.4, .packet_bytes = 10, .number = 2 },
                { .app = "map", .packets_per_s = 1, .packet_bytes = 1000, .radio = AIR_CELLULAR, .number = 3 },
        };
        struct sample sample = { 0 };
        const struct process *process;

        check_int(virtual_set_wifi(device, true), 0);
        work(device, list, 3);
        run(device, 20);
        look(device, &sample);
        process = process_of(&sample, "mail");
        check(process->have & USAGE_PACKETS && process->have & USAGE_OTHER_NET && sample.have & USAGE_OTHER_NET);
        check_int(process->wifi_tx_packets, 5);
        check_int(process->wifi_rx_packets, 5);
        check_int(process->wifi_tx_bytes, 500);
        check_int(process->wifi_rx_bytes, 500);
        check_int(process->wifi_wakes, 10);
        process = process_of(&sample, "call");
        check_int(process->wifi_wakes, 8);
        check_int(process->wifi_tx_bytes + process->wifi_rx_bytes, 80);
        check_int(sample.wifi_tx_bytes, 540);
        /* mail at 0 2 4 .., call at 0 2.5 5 ..: after a second of silence at 0 2 4 5 6 7.5 10 12 14 15 16 17.5 */
        check_int(sample.wifi_wakes, 12);
        process = process_of(&sample, "map");
        check_int(process->other_tx_packets, 10);
        check_int(process->other_rx_packets, 10);
        check_int(process->other_tx_bytes, 10000);
        check_int(process->wifi_wakes, 0);
        check_int(sample.other_rx_bytes, 10000);
        sample_clear(&sample);
        virtual_free(device);

        device = open_device(PLAIN, VIRTUAL_SIMULATE, 1, 90); /* byte rates have no packets that could be counted */
        work(device, list, 1);
        run(device, 20);
        look(device, &sample);
        check(!(process_of(&sample, "mail")->have & (USAGE_PACKETS | USAGE_OTHER_NET)) &&
              !(sample.have & USAGE_OTHER_NET));
        check_int(sample.wifi_tx_bytes, 0); /* not associated */
        sample_clear(&sample);
        virtual_free(device);
}

/* In the state that its app is in; the tail after its end is its own, too. */
static void test_payers(void)
{
        struct virtual_device *device = open_device(PLAIN RADIOS, VIRTUAL_SIMULATE, 1, 90);
        struct virtual_work list[] = {
                { .app = "game", .packets_per_s = 1, .packet_bytes = 100, .number = 1, .foreground = true },
                { .app = "sync", .packets_per_s = 1, .packet_bytes = 1000, .radio = AIR_CELLULAR, .number = 2 },
        };
        struct virtual_truth truth;

        check_int(virtual_set_screen(device, true, 5), 0);
        check_int(virtual_set_wifi(device, true), 0);
        work(device, list, 2);
        run(device, 10);
        work(device, NULL, 0);
        run(device, 10);
        virtual_truth_read(device, &truth);
        check_int(truth.n_apps, 2);
        check(truth.apps[0].foreground && !truth.apps[1].foreground);
        check_near(truth.apps[0].part_j[VIRTUAL_WIFI], 11, 1e-9);
        check_near(truth.apps[1].part_j[VIRTUAL_CELLULAR], (2 - 0.005) * 14 + 5e-3, 1e-9);
        check_near(truth.base_j, 20 * (0.1 + 0.03) + 10 * 0.3 + 20 * 0.005, 1e-9);
        check_near(truth.total_j, truth.base_j + truth.apps[0].energy_j + truth.apps[1].energy_j, 1e-9);
        virtual_truth_reset(device);
        run(device, 1);
        virtual_truth_read(device, &truth);
        check_near(truth.total_j, 0.1 + 0.03 + 0.3 + 0.005, 1e-9);
        virtual_free(device);
}

/* Without association there are no packets, and no power is drawn; during suspend the radio's time stops. */
static void test_off(void)
{
        struct virtual_device *device = open_device(PLAIN RADIOS "[suspend]\npower_mw = 8\n", VIRTUAL_SIMULATE, 1, 90);
        const struct virtual_work list = { .app = "sync", .packets_per_s = 1, .packet_bytes = 100 };
        struct virtual_truth truth;

        check_int(virtual_set_wifi(device, true), 0);
        work(device, &list, 1);
        run(device, 10);
        check_int(virtual_set_wifi(device, false), 0);
        run(device, 10);
        virtual_truth_read(device, &truth);
        check_near(truth.apps[0].energy_j, 10, 1e-9);
        check_int(virtual_set_wifi(device, true), 0);
        check_int(virtual_set_wifi(device, true), 0);
        run(device, 10);
        virtual_set_suspended(device, true);
        run(device, 1000);
        virtual_set_suspended(device, false);
        run(device, 10);
        virtual_truth_read(device, &truth);
        check_near(truth.apps[0].energy_j, 30, 1e-9);
        check_near(truth.total_j, 30 + 30 * 0.13 + 10 * 0.1 + 40 * 0.005 + 1000 * 0.008, 1e-9);
        virtual_free(device);
}

struct row {
        struct radio_run run;
        uint64_t n, bytes, last_ns;
        double gaps_s2;
};

static void watch(void *data, enum air air, uint64_t time_ns, enum radio_direction direction, uint64_t bytes,
                  const char *app)
{
        struct row *row = data;
        double gap_s = (double)(time_ns - row->last_ns) / 1e9;

        check(time_ns >= row->last_ns);
        row->gaps_s2 += gap_s * gap_s;
        row->last_ns = time_ns;
        row->bytes += bytes;
        row->n++;
        check_int(radio_run_packet(&row->run, (int64_t)time_ns, direction, bytes), 0);
}

/*
 * Random packets, and packets of varying byte rates, in a sequence that a change of other work does not disturb: the
 * true energy is the one that lib/radio/ computes for them.
 */
static void test_random(void)
{
        static const char device_text[] = PLAIN "rate_variation_percent = 50\n" RADIOS;
        struct virtual_work list[] = {
                { .app = "chat", .packets_per_s = 2, .packet_bytes = 300, .pattern = VIRTUAL_POISSON, .number = 1 },
                { .app = "chat", .rx_mb_per_s = 0.0015, .number = 2 },
                { .app = "other", .utilisation = { 0.5 } },
        };
        struct profile *truth = NULL;
        double joules[2];

        check_int(profile_parse(device_text, strlen(device_text), "test", &log_all, &truth), 0);
        for (unsigned often = 0; often < 2; often++) {
                struct virtual_device *device = open_device(device_text, VIRTUAL_SIMULATE, 5, 90);
                struct row row = { 0 };
                struct virtual_truth seen;

                check_int(radio_run_start(&row.run, radio_find(&truth->radios, "wifi"), RADIO_SIGNAL_HIGH), 0);
                virtual_truth_watch(device, watch, &row);
                check_int(virtual_set_wifi(device, true), 0);
                work(device, list, 2);
                for (unsigned i = 0; i < (often ? 5000 : 100); i++) {
                        run(device, often ? 0.2 : 10);
                        if (i == (often ? 2499 : 49))
                                work(device, list, 3);
                }
                check_int(radio_run_until(&row.run, 1000 * NS_PER_S), 0);
                virtual_truth_read(device, &seen);
                joules[often] = seen.apps[0].part_j[VIRTUAL_WIFI];
                check_near(joules[often], radio_run_energy_j(&row.run), 1e-6);
                check_near((double)row.bytes, 1000 * (1500 + 600), 0.15 * 1000 * 2100);
                /* The mean square of exponential gaps is twice the square of their mean. */
                check_near(row.gaps_s2 / (double)row.n, 2 / 9.0, 0.08);
                radio_run_clear(&row.run);
                virtual_free(device);
        }
        check_near(joules[0], joules[1], 1e-12);
        profile_free(truth);
}

static void test_refused(void)
{
        struct virtual_device *device = open_device(PLAIN RADIOS, VIRTUAL_SIMULATE, 1, 90);
        const struct virtual_work wrong[] = {
                { .app = "a", .packets_per_s = -1, .packet_bytes = 1 },
                { .app = "a", .packets_per_s = NAN, .packet_bytes = 1 },
                { .app = "a", .packets_per_s = 2e4, .packet_bytes = 1 },
                { .app = "a", .packets_per_s = 1 },
                { .app = "a", .packets_per_s = 1, .packet_bytes = 65536 },
                { .app = "a", .packets_per_s = 1, .packet_bytes = 1, .pattern = VIRTUAL_BURSTS },
                { .app = "a", .packets_per_s = 1, .packet_bytes = 1, .pattern = VIRTUAL_PATTERNS },
                { .app = "a", .radio = AIR_COUNT },
        };

        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
                check_int(virtual_set_work(device, &wrong[i], 1), -EINVAL);
        virtual_free(device);
}

static char said[512];
static int n_said;

static void hear(void *data, enum log_level level, const char *sentence)
{
        snprintf(said, sizeof(said), "%s", sentence);
        n_said++;
}

/*
 * Received packets wait for a pulse, which comes once a minute; if too many wait, the device
 * stops for good.
 */
static void test_waiting(void)
{
        static const char text[] = PLAIN "[radio wifi]\ninitial = off\n[radio wifi off]\npower_mw = 0\n"
                                         "pulse = 10 1 60000\non_rx = up at pulse\n"
                                         "[radio wifi up]\npower_mw = 1000\nafter = 2000 off\n";
        const struct log log = { .handler = hear };
        const struct virtual_work work = { .app = "call", .packets_per_s = 2000, .packet_bytes = 100 },
                                  flood[] = { { .app = "a", .rx_mb_per_s = 15 }, { .app = "b", .rx_mb_per_s = 15 } };
        _cleanup_(profile_freep) struct profile *truth = NULL;
        struct virtual_device *device = NULL;

        check_int(profile_parse(text, strlen(text), "test", &log, &truth), 0);
        check_int(virtual_open(truth, VIRTUAL_SIMULATE, 1, 90, &log, &device), 0);
        check_int(virtual_set_wifi(device, true), 0);
        check_int(virtual_set_work(device, &work, 1), 0);
        run(device, 80);
        check_int(virtual_set_work(device, NULL, 0), 0);
        run(device, 10);
        check_int(virtual_set_work(device, flood, ARRAY_SIZE(flood)), 0);
        check_int(n_said, 0);
        check_int(virtual_advance(device, 60 * NS_PER_S), -ENOBUFS);
        check_int(n_said, 1);
        check(strstr(said, "[radio wifi]") && strstr(said, "wait for a pulse"));
        check_int(virtual_set_work(device, NULL, 0), 0);
        check_int(virtual_advance(device, NS_PER_S), -ENOBUFS);
        check_int(n_said, 1);
        virtual_free(device);
}

static int callocs_left = -1; /* allocations before memory runs out; -1: no limit */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
        if (callocs_left < 0)
                return __real_calloc(n, size);
        return callocs_left-- > 0 ? __real_calloc(n, size) : (callocs_left = 0, NULL);
}

/* A device that lacks memory for its work does not go on with a part of it. */
static void test_no_memory(void)
{
        const struct virtual_work mail = { .app = "mail", .packets_per_s = 0.5, .packet_bytes = 100, .number = 1 };
        int failed = 0, err;

        do {
                struct virtual_device *device = open_device(PLAIN RADIOS, VIRTUAL_SIMULATE, 1, 90);

                check_int(virtual_set_wifi(device, true), 0);
                work(device, &mail, 1);
                run(device, 1);
                callocs_left = failed;
                err = virtual_set_work(device, &mail, 1);
                callocs_left = -1;
                check_int(virtual_advance(device, NS_PER_S), err);
                check_int(virtual_now_ns(device), (err ? 1 : 2) * NS_PER_S);
                virtual_free(device);
                failed += err == -ENOMEM;
        } while (err == -ENOMEM && failed < 100);
        check_int(err, 0);
        check(failed >= 3);
}

int main(void)
{
        test_counters();
        test_payers();
        test_off();
        test_random();
        test_refused();
        test_waiting();
        test_no_memory();
        return check_result();
}
