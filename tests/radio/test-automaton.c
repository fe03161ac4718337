/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The true radio of a virtual device: sums by hand, parts of owners, and the same energy as the automaton of
 * lib/radio/, which is another implementation, on random radios and packets.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "radio/radio-run.h"
#include "util/units.h"
#include "util/util.h"
#include "virtual/automaton.h"

#define OWNERS 3
#define TRACE_S 40.0

static const char *data_folder;

static struct radio radio_of(const char *path, const char *name, const char *carrier)
{
        struct radios radios = { 0 };
        struct radio radio = { 0 };
        bool others;

        check_int(radio_load(path, NULL, &radios, &others), 0);
        check_int(radio_with_carrier(&radios, name, carrier, &radio), 0);
        radio_clear_all(&radios);
        return radio;
}

static struct radio shipped(const char *file, const char *name, const char *carrier)
{
        char path[512];

        snprintf(path, sizeof(path), "%s/%s.ini", data_folder, file);
        return radio_of(path, name, carrier);
}

/* -EINVAL: the text is no radio. */
static int from_text(const char *text, struct radios *ret)
{
        char path[] = "/tmp/automaton-XXXXXX";
        int fd = mkstemp(path), err;
        bool others;

        check(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
        close(fd);
        err = radio_load(path, NULL, ret, &others);
        unlink(path);
        return err;
}

static struct automaton begin(const struct radio *radio)
{
        struct automaton automaton;

        check_int(automaton_init(&automaton, radio, 0), 0);
        return automaton;
}

static struct automaton begin_text(const char *text)
{
        struct automaton automaton;
        struct radios radios = { 0 };

        check_int(from_text(text, &radios), 0);
        automaton = begin(&radios.list[0]);
        radio_clear_all(&radios);
        return automaton;
}

static double in_j(fj energy)
{
        return wide_to_double(energy) / 1e15;
}

static void send(struct automaton *automaton, double s, enum radio_direction direction, uint64_t bytes, size_t owner)
{
        check_int(automaton_packet(automaton, (uint64_t)llround(s * 1e9), direction, bytes, owner), 0);
}

static double until(struct automaton *automaton, double s)
{
        check_int(automaton_run(automaton, (uint64_t)llround(s * 1e9)), 0);
        return in_j(automaton_total(automaton));
}

static void check_exact(const struct automaton *automaton)
{
        fj sum = automaton->base;

        for (size_t i = 0; i < OWNERS; i++)
                sum += automaton_of(automaton, i);
        check(sum == automaton_total(automaton));
}

#define DCH_FACH                                                                                             \
        "[radio r]\ninitial = idle\n[radio r idle]\npower_mw = 0\non_tx = dch\non_rx = dch\n"                 \
        "[radio r dch]\npower_mw = 600\nafter = 5000 fach\n"                                                  \
        "[radio r fach]\npower_mw = 300\non_tx = dch\nafter = 12000 idle\n[carrier sprint]\nradio = r\n"      \
        "dch.after_ms = 10000\nfach.after_ms = 0\n"

/* WattsOn's figure 3 and its tables 2 and 3, by hand: it has no promotion. */
static void test_papers(void)
{
        struct radios radios = { 0 };
        struct radio radio = { 0 };
        struct automaton automaton;

        check_int(from_text(DCH_FACH, &radios), 0);
        check_int(radio_with_carrier(&radios, "r", "sprint", &radio), 0);
        automaton = begin(&radio);
        for (unsigned i = 0; i <= 7; i++)
                send(&automaton, i, i % 2 ? RADIO_RX : RADIO_TX, 100, 0);
        check_near(until(&automaton, 60), 10.2, 1e-12);
        check_int(automaton.state_ns[1], 17 * NS_PER_S);
        automaton_clear(&automaton);
        radio_clear(&radio);

        automaton = begin(&radios.list[0]); /* AT&T: 5 s and 12 s */
        send(&automaton, 0, RADIO_RX, 1, 0);
        check_near(until(&automaton, 60), 6.6, 1e-12);
        check_exact(&automaton);
        automaton_clear(&automaton);
        radio_clear_all(&radios);
}

static void test_shipped(void)
{
        struct radio radio = shipped("wifi", "wifi", NULL);
        struct automaton automaton = begin(&radio);

        send(&automaton, 1.0, RADIO_TX, 2500, 0);
        check_near(until(&automaton, 4), 0.50509, 1e-12);
        automaton_clear(&automaton);
        automaton = begin(&radio); /* a packet sent while the radio sleeps is received at the next beacon */
        send(&automaton, 1.05, RADIO_RX, 2500, 0);
        until(&automaton, 1.0999);
        check_int(automaton.state_ns[1], 0);
        until(&automaton, 4);
        check_int(automaton.state_ns[0], 2499 * NS_PER_MS); /* all but 1 ms and 1.5 s */
        automaton_clear(&automaton);
        radio_clear(&radio);

        radio = shipped("lte", "lte", NULL);
        automaton = begin(&radio);
        for (unsigned i = 0; i < 1000; i++)
                send(&automaton, i / 1e3, RADIO_RX, 1000, 0);
        check_near(until(&automaton, 15), 0.3146 + 0.839 * 1.2 + 0.41576 + 0.02244 + 10.91 + 0.10098, 1e-9);
        /* Listening after the span is base energy, and so is the same power within the span, in whole uW. */
        check_near(in_j(automaton.base), 0.10098 + (0.26 + 0.839 + 0.02 + 10) * 0.019955, 1e-9);
        automaton_clear(&automaton);
        radio_clear(&radio);

        radio = shipped("3g", "3g", "att");
        automaton = begin(&radio);
        send(&automaton, 0, RADIO_TX, 9, 0);
        check_near(until(&automaton, 60), 0.6 + 3 + 3.6, 1e-9);
        automaton_clear(&automaton);
        radio_clear(&radio);

        radio = shipped("wifi-nexus-one", "wifi", NULL);
        automaton = begin(&radio); /* 26 packets in a second, and it is high for a second, then low for one */
        for (unsigned i = 0; i < 26; i++)
                send(&automaton, i / 26.0, RADIO_TX, 9, 0);
        check_near(until(&automaton, 9), 0.2387 * (25 / 26.0 + 1) + 25 * 1.2e-3 + 0.247 + 0.8e-3, 1e-6);
        automaton_clear(&automaton);
        radio_clear(&radio);
}

/* One second of promotion, a tail of five, and two apps that share them. */
static void test_owners(void)
{
        struct automaton automaton = begin_text(
                "[radio r]\ninitial = idle\ntx_nj_per_byte = 1000\n[radio r idle]\npower_mw = 10\non_tx = up\n"
                "[radio r up]\npower_mw = 300\nafter = 1000 high fixed\n[radio r high]\npower_mw = 600\n"
                "after = 5000 idle\n");

        until(&automaton, 10);
        send(&automaton, 10, RADIO_TX, 1000, 0);
        send(&automaton, 12, RADIO_TX, 1000, 1);
        until(&automaton, 12.5);
        /* Time that may be the tail belongs to the app that opened the span. */
        check_near(in_j(automaton_of(&automaton, 0)), 1e-3 + 0.29 + 0.295 + 0.295, 1e-12);
        send(&automaton, 13, RADIO_TX, 1000, 1);
        check_near(until(&automaton, 30), 0.01 * (10 + 12) + 0.3 + 0.6 * 7 + 3e-3, 1e-12);
        /* Powers above the base's 10 mW. */
        check_near(in_j(automaton_of(&automaton, 0)), 1e-3 + 0.29 + 1.18 / 3 + 2.95, 1e-12);
        check_near(in_j(automaton_of(&automaton, 1)), 2e-3 + 1.18 * 2 / 3, 1e-12);
        check_near(in_j(automaton.base), 0.01 * 30, 1e-12);
        check_exact(&automaton);
        send(&automaton, 30, RADIO_RX, 1000, 2); /* no change of state: no span */
        until(&automaton, 31);
        check_near(in_j(automaton_of(&automaton, 2)), 0, 0);
        send(&automaton, 31, RADIO_TX, 0, 2);
        automaton_forget(&automaton); /* in a span: it stays open */
        until(&automaton, 32);
        check_near(in_j(automaton_of(&automaton, 2)), 0.29, 1e-12);
        automaton_restart(&automaton, 32 * NS_PER_S); /* switched off: no tail */
        check_near(until(&automaton, 40), 0.3 + 0.08, 1e-12);
        check_exact(&automaton);
        automaton_clear(&automaton);
}

/* Packets that wait an hour for a pulse take as little CPU time each as others: if quadratic, this takes minutes. */
static void test_long_wait(void)
{
        struct automaton automaton = begin_text("[radio r]\ninitial = idle\nrx_nj_per_packet = 1000\n[radio r idle]\n"
                                                "power_mw = 10\npulse = 1 1 3600000\non_rx = up at pulse\n"
                                                "[radio r up]\npower_mw = 500\nafter = 1000 idle\n");
        const unsigned n = 500000;

        for (unsigned i = 0; i < n; i++)
                send(&automaton, 1 + i * 1e-3, RADIO_RX, 1000, i % 2);
        check_near(until(&automaton, 3599), 0.010 * 3599 + 1e-6, 1e-9);
        check_near(until(&automaton, 3601), 0.010 * 3600 + 1e-6 + 0.5 + n * 1e-6, 1e-9);
        check_near(in_j(automaton_of(&automaton, 0)), 0.49 + n / 2 * 1e-6, 1e-9);
        check_exact(&automaton);
        automaton_clear(&automaton);
}

/* A timer that ends when the pulse begins ends first, and the next state receives, even if it takes no time. */
static void test_timer_at_pulse(void)
{
        struct automaton automaton = begin_text("[radio r]\ninitial = a\n[radio r a]\npower_mw = 0\npulse = 100 1 50\n"
                                                "on_rx = up at pulse\nafter = 100 b fixed\n[radio r b]\npower_mw = 0\n"
                                                "rx_nj_per_packet = 1000000000\nafter = 0 a\n[radio r up]\n"
                                                "power_mw = 900\n"
                                                "after = 10 a\n");

        send(&automaton, 0.06, RADIO_RX, 100, 0);
        check_near(until(&automaton, 0.199), 1 + 4 * 0.1e-3, 1e-12);
        automaton_clear(&automaton);
}

static unsigned below(unsigned n)
{
        return (unsigned)random() % n;
}

static void print_move(FILE *out, const char *key, unsigned states)
{
        fprintf(out, "%s = s%u", key, below(states));
}

static void print_state(FILE *out, unsigned i, unsigned states)
{
        bool pulses = below(3) == 0;

        fprintf(out, "[radio r s%u]\npower_mw = %u.%u\n", i, below(1000), below(1000));
        if (pulses)
                fprintf(out, "pulse = %u %u %u%s\n", below(800), 1 + below(9), 10 + below(100),
                        below(2) ? " absolute" : "");
        for (unsigned d = 0; d < RADIO_DIRECTIONS; d++) {
                if (below(4) == 0)
                        continue;
                print_move(out, d ? "on_rx" : "on_tx", states);
                if (below(3) == 0)
                        fprintf(out, " >= %u", below(1500));
                fputs(d && pulses && below(2) ? " at pulse\n" : "\n", out);
        }
        if (below(4) == 0) {
                print_move(out, "on_rate", states);
                fprintf(out, " > %u %u\n", below(20), 1 + below(2000));
        }
        if (below(5) > 0)
                fprintf(out, "after = %u s%u%s\n", below(4) ? below(3000) : 0, below(states), below(4) ? "" : " fixed");
        if (below(4) == 0)
                fprintf(out, below(2) ? "reset = %u %u\n" : "reset_packets = %u %u\n", 1 + below(9), 1 + below(1000));
        if (below(3) == 0)
                fprintf(out, "tx_nj_per_byte = %u.%u\nrx_nj_per_packet = %u\n", below(5000), below(100), below(100000));
}

/* Not each is a radio: a state may lack a way to it. */
static bool random_radio(struct radios *ret)
{
        unsigned states = 1 + below(5);
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        int err;

        check(out);
        fprintf(out, "[radio r]\ninitial = s0\nrx_nj_per_byte = %u\n", below(900));
        if (below(2))
                fprintf(out, "phy_kbps_up = %u\n", 50 + below(20000));
        if (below(2))
                fprintf(out, "phy_kbps_down = %u\n", 50 + below(20000));
        for (unsigned i = 0; i < states; i++)
                print_state(out, i, states);
        fclose(out);
        *ret = (struct radios){ 0 };
        err = from_text(text, ret);
        free(text);
        return err == 0;
}

/* In ms, so that packets, timers and pulses often meet. */
static uint64_t next_time(uint64_t now_ns)
{
        static const unsigned gaps_ms[] = { 1, 20, 300, 5000 };

        return now_ns + below(gaps_ms[below(ARRAY_SIZE(gaps_ms))] + 1) * (below(8) ? NS_PER_MS : NS_PER_MS / 7);
}

/* The same energy as the other implementation; whoever looks at it in between changes nothing. */
static void compare(const struct radio *radio)
{
        struct automaton one = begin(radio), looked_at = begin(radio);
        struct radio_run run;
        uint64_t now_ns = 0;

        check_int(radio_run_start(&run, radio, RADIO_SIGNAL_HIGH), 0);
        while ((now_ns = next_time(now_ns)) < (uint64_t)(TRACE_S * 1e9)) {
                enum radio_direction direction = below(2) ? RADIO_TX : RADIO_RX;
                uint64_t bytes = below(1500), look_ns = now_ns - MIN(now_ns, below(NS_PER_MS));
                size_t owner = below(OWNERS);

                check_int(radio_run_packet(&run, (int64_t)now_ns, direction, bytes), 0);
                check_int(automaton_packet(&one, now_ns, direction, bytes, owner), 0);
                if (look_ns > looked_at.now_ns)
                        check_int(automaton_run(&looked_at, look_ns), 0);
                check_int(automaton_packet(&looked_at, now_ns, direction, bytes, owner), 0);
        }
        now_ns = (uint64_t)(TRACE_S * 1e9) + below(1000000000);
        check_int(radio_run_until(&run, (int64_t)now_ns), 0);
        check_int(automaton_run(&one, now_ns), 0);
        check_int(automaton_run(&looked_at, now_ns), 0);
        check_near(in_j(automaton_total(&one)), radio_run_energy_j(&run), 1e-6);
        check_exact(&one);
        check(automaton_total(&one) == automaton_total(&looked_at) && one.base == looked_at.base);
        for (size_t i = 0; i < OWNERS; i++)
                check(automaton_of(&one, i) == automaton_of(&looked_at, i));
        automaton_clear(&one);
        automaton_clear(&looked_at);
        radio_run_clear(&run);
}

static void test_against_the_other(unsigned n)
{
        static const struct {
                const char *file, *radio, *carrier;
        } cases[] = { { "wifi", "wifi" }, { "lte", "lte" },     { "3g", "3g" }, { "3g", "3g", "tmobile-hspa" },
                      { "3g", "3g", "sprint" }, { "wifi-nexus-one", "wifi" } };
        unsigned n_radios = 0;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct radio radio = shipped(cases[i].file, cases[i].radio, cases[i].carrier);

                for (unsigned k = 0; k < n; k++)
                        compare(&radio);
                radio_clear(&radio);
        }
        while (n_radios < 10 * n) {
                struct radios radios;

                if (!random_radio(&radios))
                        continue;
                n_radios++;
                compare(&radios.list[0]);
                radio_clear_all(&radios);
        }
}

int main(int argc, char **argv)
{
        if (argc < 2)
                return 2;
        data_folder = argv[1];
        test_papers();
        test_shipped();
        test_owners();
        test_long_wait();
        test_timer_at_pulse();
        srandom(argc > 3 ? (unsigned)atoi(argv[3]) : 1);
        test_against_the_other(argc > 2 ? (unsigned)atoi(argv[2]) : 100);
        return check_result();
}
