/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * lib/radio/radio-run.c against radio-stepper.c, which steps through time, and against sums by hand.
 *
 *     test-radio-run DATA/radios [TRACES]    traces for each shipped file, and as many random automata
 */

#include <stdlib.h>

#include "check.h"
#include "radio-stepper.h"
#include "radio/radio-run.h"
#include "util/util.h"

#define PACKETS_MAX 600
#define TEXT_MAX 16384

static const struct log quiet = { 0 };
static uint64_t random_state;

static uint64_t random_u64(void)
{
        uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

static int64_t below(int64_t n)
{
        return (int64_t)(random_u64() % (uint64_t)n);
}

static bool one_of(int64_t n)
{
        return below(n) == 0;
}

struct trace {
        struct stepper_packet packets[PACKETS_MAX];
        size_t n;
        int64_t until, tick_ns;
};

static void print_trace(const struct trace *trace)
{
        for (size_t i = 0; i < trace->n && i < 40; i++)
                fprintf(stderr, "  %.4f,%s,%llu\n", (double)(trace->packets[i].tick * trace->tick_ns) / 1e9,
                        radio_directions[trace->packets[i].direction], (unsigned long long)trace->packets[i].bytes);
        fprintf(stderr, "  %zu packets until %.4f s\n", trace->n, (double)(trace->until * trace->tick_ns) / 1e9);
}

/* Reads the run now and then, in pieces that end at any time, which must not change anything. */
static void run(const struct radio *radio, enum radio_signal signal, const struct trace *trace, struct radio_run *run)
{
        int64_t until_ns = trace->until * trace->tick_ns;

        check_int(radio_run_start(run, radio, signal), 0);
        for (size_t i = 0; i < trace->n && trace->packets[i].tick < trace->until; i++) {
                int64_t time_ns = trace->packets[i].tick * trace->tick_ns;

                if (one_of(8))
                        check_int(radio_run_until(run, below(time_ns + 1)), 0);
                check_int(radio_run_packet(run, time_ns, trace->packets[i].direction, trace->packets[i].bytes), 0);
        }
        check_int(radio_run_until(run, until_ns), 0);
}

/* @radio, or @printed, which is the same read again from its text. 0: they agree. */
static int compare(const struct radio *radio, const struct radio *printed, enum radio_signal signal,
                   const struct trace *trace, const char *what)
{
        _cleanup_(radio_run_clear) struct radio_run got = { 0 };
        struct stepper_total want[RADIO_STATES_MAX];
        double joules = 0;
        int wrong = 0;

        run(printed, signal, trace, &got);
        stepper_run(radio, signal, trace->tick_ns, trace->packets, trace->n, trace->until, want);
        for (size_t i = 0; i < radio->n_states; i++) {
                int64_t ns = want[i].ticks * trace->tick_ns;

                joules += want[i].joules;
                if (llabs(got.totals[i].ns - ns) < 1000 && fabs(radio_total_j(&got.totals[i]) - want[i].joules) < 1e-6)
                        continue;
                fprintf(stderr, "%s: %s: got %.6f s %.9g J, want %.6f s %.9g J\n", what,
                        radio->states[i].name, (double)got.totals[i].ns / 1e9, radio_total_j(&got.totals[i]),
                        (double)ns / 1e9, want[i].joules);
                wrong++;
        }
        check_near(radio_run_energy_j(&got), joules, 1e-6);
        check_int(wrong, 0);
        if (wrong)
                print_trace(trace);
        return wrong;
}

/* Gaps around the timers, periods and windows of the shipped files, so that some end in the moment of a packet. */
static void random_trace(struct trace *trace, int64_t bytes_unit)
{
        static const int64_t gaps_ms[] = {
                0,    1,    2,    20,   38,   40,   43,   100,  260,   500,   1000,
                1280, 1500, 2000, 3000, 4000, 5000, 6000, 7000, 10000, 10120, 12000
        };
        int64_t ms = 1000000 / trace->tick_ns, at = one_of(3) ? 0 : below(3000) * ms;

        trace->until = (1 + below(40000)) * ms;
        for (trace->n = 0; trace->n < PACKETS_MAX && at <= trace->until;) {
                int64_t burst = one_of(3) ? 1 + below(80) : 1, spacing = below(60) * ms;

                for (int64_t i = 0; i < burst && trace->n < PACKETS_MAX; i++, at += spacing)
                        trace->packets[trace->n++] = (struct stepper_packet){
                                at, one_of(2) ? RADIO_TX : RADIO_RX, (uint64_t)(one_of(9) ? 0 : below(8) * bytes_unit)
                        };
                if (one_of(3))
                        at += below(15000) * ms;
                else
                        at += (gaps_ms[below(ARRAY_SIZE(gaps_ms))] + (one_of(4) ? 1 : 0)) * ms;
        }
}

/* Each of its radios, with each carrier and with none, at each signal in turn. */
static void check_file(const char *folder, const char *name, int traces)
{
        _cleanup_(radio_clear_all) struct radios radios = { 0 };
        char path[4096];
        bool others;
        int wrong = 0;

        snprintf(path, sizeof(path), "%s/%s.ini", folder, name);
        check_int(radio_load(path, &quiet, &radios, &others), 0);
        check(radios.n == 1 && !others);
        random_state = 17;
        for (int i = 0; radios.n == 1 && i < traces && wrong == 0; i++) {
                size_t carrier = (size_t)i % (radios.n_carriers + 1);
                enum radio_signal signal = (enum radio_signal)((size_t)i / (radios.n_carriers + 1) % RADIO_SIGNALS);
                bool on_air = radios.list[0].phy_kbps[RADIO_TX] > 0; /* 250 bytes take 0.1 ms at 20 Mbit/s */
                _cleanup_(radio_clear) struct radio radio = { 0 };
                struct trace trace = { .tick_ns = on_air ? 100000 : 1000000 };

                check_int(radio_with_carrier(&radios, radios.list[0].name,
                                             carrier ? radios.carriers[carrier - 1].name : NULL, &radio), 0);
                random_trace(&trace, on_air ? 250 : 1 + below(1500));
                wrong = compare(&radio, &radio, signal, &trace, name);
        }
}

static int on_key(void *data, const struct ini_place *place, const char *section, const char *key, const char *value)
{
        size_t length = strcspn(section, " ");
        char name[INI_LINE_MAX];

        snprintf(name, sizeof(name), "%.*s", (int)length, section);
        return radio_parse_key(data, place, name, section + length, key, value);
}

static int parse(const char *text, struct radios *radios)
{
        struct ini_place place = { "random", 0, &quiet };
        int err = ini_text_parse(text, strlen(text), "random", &quiet, on_key, radios);

        return err ? err : radio_finish(radios, &place);
}

/* Whole ms throughout; at 8 kbit/s a byte takes 1 ms. Every state leads to the next, by one rule or another. */
static void random_state_text(FILE *out, int64_t i, int64_t n)
{
        int64_t next = one_of(2) ? (i + 1) % n : below(n), period = 1 + below(12);

        fprintf(out, "[radio r s%lld]\n", (long long)i);
        if (one_of(2))
                fprintf(out, "power_mw = %lld\n", (long long)below(1000));
        else
                for (int s = 0; s < RADIO_SIGNALS; s++)
                        fprintf(out, "power_mw.%s = %lld.%03lld\n", radio_signals[s], (long long)below(900),
                                (long long)below(1000));
        bool pulse = one_of(2), after = !one_of(4);
        if (pulse)
                fprintf(out, "pulse = %lld %lld %lld%s\n", (long long)below(500),
                        (long long)below(period + 1), (long long)period, one_of(2) ? " absolute" : "");
        for (int d = 0; d < RADIO_DIRECTIONS; d++) {
                if (one_of(3))
                        continue;
                fprintf(out, "on_%s = s%lld", radio_directions[d], (long long)(one_of(2) ? (i + 1) % n : below(n)));
                if (one_of(3))
                        fprintf(out, " >= %lld", (long long)below(6));
                fprintf(out, "%s\n", d == RADIO_RX && pulse && one_of(2) ? " at pulse" : "");
        }
        if (one_of(3))
                fprintf(out, "on_rate = s%lld > %lld %lld\n", (long long)below(n), (long long)below(5),
                        (long long)(1 + below(20)));
        if (after)
                fprintf(out, "after = %lld s%lld%s\n", (long long)(one_of(3) ? 0 : below(15)), (long long)next,
                        one_of(4) ? " fixed" : "");
        if (one_of(3))
                fprintf(out, one_of(2) ? "reset = %lld %lld\n" : "reset_packets = %lld %lld\n", (long long)below(6),
                        (long long)(1 + below(20)));
        if (one_of(3))
                fprintf(out, "tx_nj_per_byte = %lld\nrx_nj_per_packet = %lld\n", (long long)below(100000),
                        (long long)below(100000));
}

static void random_automaton(char *text, size_t size)
{
        int64_t n = 1 + below(6);
        FILE *out = fmemopen(text, size, "w");

        fprintf(out, "[radio r]\ninitial = s0\n");
        if (one_of(3))
                fprintf(out, "phy_kbps_up = 8\nphy_kbps_down = %d\n", one_of(2) ? 8 : 4);
        if (one_of(2))
                fprintf(out, "tx_nj_per_byte = %lld.5\nrx_nj_per_byte = 7\ntx_nj_per_packet = 1000000\n",
                        (long long)below(1000000));
        for (int64_t i = 0; i < n; i++)
                random_state_text(out, i, n);
        fclose(out);
}

static void dense_trace(struct trace *trace)
{
        int64_t at = below(3), spread = 1 + below(12);

        *trace = (struct trace){ .tick_ns = 1000000, .until = 1 + below(400) };
        for (; trace->n < PACKETS_MAX && at <= trace->until; at += one_of(10) ? below(60) : below(spread))
                trace->packets[trace->n++] = (struct stepper_packet){
                        at, one_of(2) ? RADIO_TX : RADIO_RX, (uint64_t)(one_of(4) ? 0 : below(7))
                };
}

static void read_printed(const struct radios *radios, struct radios *ret)
{
        static char text[TEXT_MAX];
        FILE *out = fmemopen(text, sizeof(text), "w");

        radio_print(radios, out);
        fclose(out);
        check_int(parse(text, ret), 0);
        if (ret->n == 0)
                exit(1);
}

static void check_random_automata(int automata)
{
        static char text[TEXT_MAX];
        int wrong = 0, refused = 0;

        random_state = 23;
        for (int i = 0; i < automata && wrong == 0;) {
                _cleanup_(radio_clear_all) struct radios radios = { 0 }, printed = { 0 };

                random_automaton(text, sizeof(text));
                if (parse(text, &radios) < 0) {
                        refused++;
                        continue;
                }
                read_printed(&radios, &printed);
                i++;
                for (int j = 0; j < 10 && wrong == 0; j++) {
                        struct trace trace;

                        dense_trace(&trace);
                        wrong = compare(&radios.list[0], &printed.list[0], (enum radio_signal)below(RADIO_SIGNALS),
                                        &trace, "a random automaton");
                }
                if (wrong)
                        fputs(text, stderr);
        }
        check(refused < automata * 20);
}

/* By hand. */
struct example {
        const char *text;
        const char *file;        /* or a file of data/radios */
        const char *packets;     /* "MS DIRECTION BYTES, ..." */
        size_t times;            /* number of repetitions of all of them, ... */
        int64_t apart_ms;        /* ... each so much later */
        int64_t until_ms;
        double joules;           /* total energy */
        struct {
                const char *name;
                double seconds, joules;
        } states[5];
        enum radio_signal signal;
        const char *carrier;
};

#define UMTS(dch, fach, pch) \
        "[radio r]\ninitial = idle\n[radio r idle]\npower_mw = 0\non_tx = dch\non_rx = dch\n" \
        "[radio r dch]\npower_mw.high = 600\npower_mw.medium = 800\npower_mw.low = 1500\nafter = " dch \
        " fach\n" \
        "[radio r fach]\npower_mw.high = 300\npower_mw.medium = 300\npower_mw.low = 400\non_tx = dch\non_rx = dch\n" \
        "after = " fach " pch\n[radio r pch]\npower_mw = 50\non_tx = dch\non_rx = dch\nafter = " pch " idle\n"
#define TWO(radio, a, b) \
        "[radio r]\ninitial = a\n" radio "[radio r a]\npower_mw = 100\n" a "[radio r b]\npower_mw = 200\n" b

static const struct example examples[] = {
        /* Mittal and others, figure 3: packets at 0 to 7 s keep DCH until 17 s. */
        { .text = UMTS("10000", "0", "0"),
          .packets = "0 tx 100",
          .times = 8,
          .apart_ms = 1000,
          .until_ms = 30000,
          .joules = 10.2,
          .states = { { "idle", 13, 0 }, { "dch", 17, 10.2 }, { "fach", 0, 0 }, { "pch", 0, 0 } } },
        { .text = UMTS("5000", "12000", "0"),
          .packets = "0 rx 1",
          .until_ms = 30000,
          .joules = 6.6,
          .states = { { "dch", 5, 3 }, { "fach", 12, 3.6 } } },
        { .text = UMTS("5000", "12000", "0"),
          .packets = "0 rx 1",
          .until_ms = 30000,
          .joules = 12.3,
          .signal = RADIO_SIGNAL_LOW },
        { .text = UMTS("4000", "2000", "1000"), .packets = "0 rx 1", .until_ms = 30000, .joules = 3.05 },
        /* The shipped one has a promotion: 2 s at 300 mW. */
        { .file = "3g", .carrier = "tmobile-hspa", .packets = "0 rx 1", .until_ms = 30000, .joules = 3.65 },
        { .file = "wifi",
          .packets = "1000 tx 2500",
          .until_ms = 4000,
          .joules = 0.50509,
          .states = { { "deep-sleep", 2.499, 0.02499 + 25 * 0.00048 },
                      { "high", 0.001, 0.0006 },
                      { "idle", 1, 0.405 },
                      { "light-sleep", 0.5, 0.0625 } } },
        { .file = "wifi",
          .packets = "1050 rx 2500",
          .until_ms = 1101,
          .joules = 0.0110 + 11 * 2e-3 * 0.24 + 0.0006,
          .states = { { "deep-sleep", 1.1, 0.0110 + 11 * 2e-3 * 0.24 }, { "high", 0.001, 0.0006 } } },
        { .file = "lte",
          .packets = "0 rx 1000",
          .times = 1000,
          .apart_ms = 1,
          .until_ms = 15000,
          .joules = 0.3146 + 1.0068 + 0.02244 + 10.91 + 0.10098 + 0.41576,
          .states = { { "idle", 3.881, 0.594 * 0.17 },
                      { "promotion", 0.26, 0.3146 + 260 * 415.76e-6 },
                      { "connected", 0.839, 1.2 * 0.839 + 740 * 415.76e-6 },
                      { "short-drx", 0.02, 0.02244 },
                      { "long-drx", 10, 10.91 } } },
        /* A timer ends before a packet of the same moment; its price is of the state that the packet leads to. */
        { .text = TWO("", "on_tx = b\ntx_nj_per_packet = 1e6\n", "after = 10 a\ntx_nj_per_packet = 2e6\n"),
          .packets = "0 tx 0, 10 tx 0",
          .until_ms = 20,
          .joules = 0.004 + 0.004,
          .states = { { "b", 0.02, 0.008 } } },
        /* A state's price overrides the radio's, and 0 is a price. */
        { .text = TWO("tx_nj_per_byte = 1e6\nrx_nj_per_byte = 3e6\n", "on_tx = b\n", "tx_nj_per_byte = 0\n"),
          .packets = "0 rx 2, 0 tx 5, 0 rx 1",
          .until_ms = 10,
          .joules = 0.011,
          .states = { { "a", 0, 0.006 }, { "b", 0.01, 0.005 } } },
        /* A packet below the threshold does not change the state. */
        { .text = TWO("", "on_tx = b >= 500\n", ""),
          .packets = "3 tx 499, 7 tx 500",
          .until_ms = 10,
          .joules = 0.0007 + 0.0006,
          .states = { { "a", 0.007, 0.0007 }, { "b", 0.003, 0.0006 } } },
        /* Three packets in less than 10 ms are more than two; one of 10 ms ago does not count. */
        { .text = TWO("", "on_rate = b > 2 10\n", ""),
          .packets = "0 tx 1, 5 rx 1, 10 tx 1, 14 tx 1",
          .until_ms = 20,
          .joules = 0.0014 + 0.0012,
          .states = { { "a", 0.014, 0.0014 }, { "b", 0.006, 0.0012 } } },
        /* A fixed timer counts from entering the state, whatever packets follow. */
        { .text = TWO("", "on_tx = b\n", "after = 10 a fixed\n"),
          .packets = "0 tx 1, 4 tx 1, 9 rx 1",
          .until_ms = 20,
          .joules = 0.003 },
        /* 320 bytes in 300 ms restart a timer, less does not. */
        { .text = TWO("", "on_tx = b\n", "after = 1000 a\nreset = 320 300\n"),
          .packets = "0 tx 10, 500 tx 319, 600 rx 1, 1599 rx 319",
          .until_ms = 2000,
          .joules = 0.16 * 2 + 0.04,
          .states = { { "a", 0.4, 0.04 }, { "b", 1.6, 0.32 } } },
        { .text = TWO("", "on_tx = b\n", "after = 1000 a\nreset_packets = 2 300\n"),
          .packets = "0 tx 10, 500 tx 0, 799 tx 0, 1100 tx 0",
          .until_ms = 2000,
          .joules = 0.2 * 1.799 + 0.1 * 0.201 },
        /* At 8 kbit/s a byte takes 1 ms; what comes meanwhile goes out after it, and the timer begins there. */
        { .text = TWO("phy_kbps_up = 8\nphy_kbps_down = 4\n", "on_tx = b\non_rx = b\n", "after = 0 a\n"),
          .packets = "0 tx 10, 3 rx 5",
          .until_ms = 30,
          .joules = 0.2 * 0.02 + 0.1 * 0.01 },
        /* A pulse begins with its state, and adds to its power, or not. */
        { .text = TWO("", "on_tx = b\npulse = 1000 2 10\n", "pulse = 1000 2 10 absolute\n"),
          .packets = "15 tx 1",
          .until_ms = 26,
          .joules = 0.0101,
          .states = { { "a", 0.015, 0.0015 + 0.004 }, { "b", 0.011, 0.0016 + 0.003 } } },
        /*
         * A packet is received at once if a pulse begins, else at the next pulse or when the state ends; packets
         * without the rule at once.
         */
        { .text = TWO("rx_nj_per_packet = 1e6\n", "on_rx = b >= 5 at pulse\npulse = 0 1 10\n",
                      "after = 10 a\n"),
          .packets = "10 rx 5",
          .until_ms = 15,
          .joules = 0.001 + 0.001 + 0.001 },
        { .text = TWO("rx_nj_per_packet = 1e6\n", "on_rx = b >= 5 at pulse\npulse = 0 1 10\n",
                      "after = 10 a\n"),
          .packets = "11 rx 5, 12 rx 4",
          .until_ms = 19,
          .joules = 0.0019 + 0.001 },
        { .text = TWO("rx_nj_per_packet = 1e6\n", "on_rx = b >= 5 at pulse\non_tx = b\npulse = 0 1 10\n",
                      "after = 10 a\n"),
          .packets = "11 rx 5, 12 tx 0",
          .until_ms = 20,
          .joules = 0.0012 + 0.0016 + 0.001,
          .states = { { "a", 0.012, 0.0012 }, { "b", 0.008, 0.0026 } } },
        { .text = TWO("rx_nj_per_packet = 1e6\n", "on_rx = b at pulse\npulse = 0 1 10\nafter = 8 b\n", ""),
          .packets = "3 rx 1",
          .until_ms = 20,
          .joules = 0.0042,
          .states = { { "a", 0.008, 0.0008 }, { "b", 0.012, 0.0034 } } },
        /* A rule to its own state changes nothing: the pulse goes on unchanged. */
        { .text = TWO("", "on_tx = a\non_rx = b\nafter = 7 a\npulse = 1000 1 5\n", ""),
          .packets = "3 tx 1, 18 tx 1",
          .until_ms = 21,
          .joules = 0.0021 + 0.005,
          .states = { { "a", 0.021, 0.0071 } } },
        { .text = TWO("", "on_tx = b\n", ""),
          .packets = "",
          .until_ms = 0,
          .joules = 0,
          .states = { { "a", 0, 0 } } },
};

static size_t packets_of(const struct example *example, struct radio_packet *packets, enum radio_direction *directions)
{
        size_t n = 0;

        for (size_t i = 0; i < (example->times ? example->times : 1); i++) {
                long long ms, bytes;
                char word[3];
                int length;

                for (const char *rest = example->packets;
                     sscanf(rest, "%lld %2s %lld%n", &ms, word, &bytes, &length) == 3;
                     rest += length + (rest[length] == ',')) {
                        directions[n] = strcmp(word, "tx") == 0 ? RADIO_TX : RADIO_RX;
                        packets[n++] = (struct radio_packet){ (ms + (int64_t)i * example->apart_ms) * 1000000,
                                                              (uint64_t)bytes };
                }
        }
        return n;
}

static void check_states(const struct example *example, const struct radio_run *run)
{
        for (size_t i = 0; i < ARRAY_SIZE(example->states) && example->states[i].name; i++)
                for (size_t s = 0; s < run->radio->n_states; s++) {
                        if (strcmp(run->radio->states[s].name, example->states[i].name) != 0)
                                continue;
                        check_near((double)run->totals[s].ns / 1e9, example->states[i].seconds, 1e-12);
                        check_near(radio_total_j(&run->totals[s]), example->states[i].joules, 1e-12);
                }
}

static void check_example(const char *folder, const struct example *example)
{
        static struct radio_packet packets[1024];
        static enum radio_direction directions[1024];
        size_t n = packets_of(example, packets, directions);
        _cleanup_(radio_clear_all) struct radios radios = { 0 };
        _cleanup_(radio_clear) struct radio radio = { 0 };
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        int before = check_failures;
        char path[4096];
        bool others;

        snprintf(path, sizeof(path), "%s/%s.ini", folder, example->file ? example->file : "");
        check_int(example->file ? radio_load(path, &quiet, &radios, &others) : parse(example->text, &radios), 0);
        if (radios.n == 0)
                return;
        check_int(radio_with_carrier(&radios, radios.list[0].name, example->carrier, &radio), 0);
        check_int(radio_run_start(&run, &radio, example->signal), 0);
        for (size_t i = 0; i < n; i++)
                check_int(radio_run_packet(&run, packets[i].time_ns, directions[i], packets[i].bytes), 0);
        check_int(radio_run_until(&run, example->until_ms * 1000000), 0);
        check_near(radio_run_energy_j(&run), example->joules, 1e-12);
        check_states(example, &run);
        if (check_failures > before)
                fprintf(stderr, "example %zu: %s\n", (size_t)(example - examples), example->packets);
}

/* A month on the air, and what a radio cannot send in a century: no overflow, and the time is that asked for. */
static void check_extremes(void)
{
        static const char text[] = "[radio r]\ninitial = a\nphy_kbps_up = 1e-300\nphy_kbps_down = 1e9\n"
                                   "tx_nj_per_byte = 1e9\n"
                                   "[radio r a]\npower_mw = 1e6\npulse = 1e6 864e5 864e5\non_tx = b\n"
                                   "[radio r b]\npower_mw = 0\nafter = 864e5 a\nreset = 1000000000000 864e5\n";
        _cleanup_(radio_clear_all) struct radios radios = { 0 };
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        const int64_t month_ns = INT64_C(2678400000000000);

        check_int(parse(text, &radios), 0);
        check_int(radio_run_start(&run, &radios.list[0], RADIO_SIGNAL_LOW), 0);
        for (int i = 0; i < 10000; i++)
                check_int(radio_run_packet(&run, month_ns / 2, i % 2 ? RADIO_TX : RADIO_RX,
                                           UINT64_C(1000000000000)),
                          0);
        check_int(radio_run_until(&run, month_ns), 0);
        check_int(run.totals[0].ns + run.totals[1].ns, month_ns);
        check_near(radio_total_j(&run.totals[0]), 2000 * 1339200.0, 1e-3);
        check_near(radio_total_j(&run.totals[1]), 5e3 * 1e12, 1e3);
}

/* A million that wait for one pulse, and a million that rules count: a few moments. */
static void check_many(const char *folder)
{
        static const char text[] = "[radio r]\ninitial = a\n[radio r a]\npower_mw = 1\n"
                                   "reset = 1000000000000 864e5\nafter = 1000 b\n"
                                   "on_rate = b > 4095 864e5\n[radio r b]\npower_mw = 1\nreset_packets = 4096 864e5\n";
        char path[4096];
        bool others;

        snprintf(path, sizeof(path), "%s/wifi.ini", folder);
        for (int i = 0; i < 2; i++) {
                _cleanup_(radio_clear_all) struct radios radios = { 0 };
                _cleanup_(radio_run_clear) struct radio_run run = { 0 };

                check_int(i ? parse(text, &radios) : radio_load(path, &quiet, &radios, &others), 0);
                check_int(radio_run_start(&run, &radios.list[0], RADIO_SIGNAL_HIGH), 0);
                for (int64_t n = 0; n < 1000000; n++)
                        if (radio_run_packet(&run, 1000000 + n * 90, RADIO_RX, 25) < 0)
                                check(false);
                check_int(run.n_waiting, i ? 0 : 1000000);
                check_int(radio_run_until(&run, INT64_C(1000000000)), 0);
                check_int(run.n_waiting, 0);
                /* 25 MB at 20 Mbit/s are 10 s on the air */
                check_int(run.totals[1].ns, i ? INT64_C(1000000000) - 1000000 - 4095 * 90 : 900000000);
        }
}

int main(int argc, char **argv)
{
        static const char *const names[] = { "3g", "lte", "wifi", "wifi-nexus-one" };
        int traces = argc > 2 ? atoi(argv[2]) : 100;

        for (size_t i = 0; i < ARRAY_SIZE(examples); i++)
                check_example(argv[1], &examples[i]);
        check_extremes();
        check_many(argv[1]);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                check_file(argv[1], names[i], traces);
        check_random_automata(traces * 10);
        return check_result();
}
