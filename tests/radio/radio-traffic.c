/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-traffic.h"

#include <math.h>
#include <stdlib.h>

#include "util/util.h"

#define QUIET_S 120

const char *const traffic_patterns[TRAFFIC_PATTERNS] = { "call", "ssh", "game", "stream", "mail", "download", "all",
                                                     "ssh+mail" };

static uint64_t random_u64(uint64_t *state)
{
        uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

static double between(uint64_t *state, double least, double most)
{
        return least + (most - least) * (double)(random_u64(state) >> 11) / 9007199254740992.0;
}

/* Evenly on a logarithmic scale. */
static double about(uint64_t *state, double least, double most)
{
        return least * pow(most / least, between(state, 0, 1));
}

static bool one_of(uint64_t *state, int n)
{
        return random_u64(state) % (uint64_t)n == 0;
}

static void add(struct traffic *traffic, enum traffic_pattern owner, double s, enum radio_direction direction,
                double bytes)
{
        if (s * 1e9 > (double)traffic->until_ns - QUIET_S * 1e9)
                return;
        if (util_grow(&traffic->packets, &traffic->capacity, traffic->n + 1, sizeof(*traffic->packets)) < 0)
                abort();
        traffic->packets[traffic->n++] = (struct traffic_packet){ llround(s * 1e9), owner, direction, (uint64_t)bytes };
}

/* Data one way at a rate, and an acknowledgement for each second packet. Returns when it is over. */
static double transfer(struct traffic *traffic, enum traffic_pattern owner, uint64_t *state, double s, double bytes,
                       double bytes_per_s)
{
        int n = 0;

        for (double sent = 0; sent < bytes; sent += 1400, n++) {
                add(traffic, owner, s, RADIO_RX, 1400);
                if (n % 2)
                        add(traffic, owner, s + 0.001, RADIO_TX, 52);
                s += 1400 / bytes_per_s * about(state, 0.2, 3);
        }
        return s;
}

static void call(struct traffic *traffic, uint64_t *state, double seconds)
{
        for (double begin = between(state, 5, 60); begin < seconds; begin += between(state, 60, 200)) {
                double end = begin + between(state, 100, 400);

                for (; begin < end; begin += 0.02) {
                        double late_s = between(state, 0, 0.004), way_s = between(state, 0.004, 0.02);
                        double bytes = between(state, 100, 210);

                        add(traffic, TRAFFIC_CALL, begin + late_s, RADIO_TX, bytes);
                        add(traffic, TRAFFIC_CALL, begin + way_s, RADIO_RX, bytes);
                }
        }
}

static double think_s(uint64_t *state)
{
        if (one_of(state, 100))
                return between(state, 20, 90);
        return one_of(state, 20) ? about(state, 1, 15) : about(state, 0.08, 0.6);
}

static void type(struct traffic *traffic, uint64_t *state, double seconds)
{
        for (double s = between(state, 1, 20); s < seconds; s += think_s(state)) {
                double way_s = between(state, 0.02, 0.09), late_s = between(state, 0.0005, 0.04);
                double bytes = about(state, 200, 40000);

                add(traffic, TRAFFIC_SSH, s, RADIO_TX, 88);
                add(traffic, TRAFFIC_SSH, s + way_s, RADIO_RX, 88);
                add(traffic, TRAFFIC_SSH, s + way_s + late_s, RADIO_TX, 52);
                if (one_of(state, 15)) /* return */
                        s = transfer(traffic, TRAFFIC_SSH, state, s + way_s * 1.5, bytes, 1e6);
        }
}

static void play(struct traffic *traffic, uint64_t *state, double seconds)
{
        for (double begin = between(state, 5, 30); begin < seconds; begin += between(state, 15, 100)) {
                double end = begin + between(state, 60, 300);
                double up_hz = about(state, 8, 40), down_hz = about(state, 8, 40);

                for (double s = begin; s < end; s += 1 / up_hz) {
                        double late_s = between(state, 0, 0.5 / up_hz), bytes = between(state, 60, 120);

                        add(traffic, TRAFFIC_GAME, s + late_s, RADIO_TX, bytes);
                }
                for (double s = begin; s < end; s += 1 / down_hz) {
                        double late_s = between(state, 0, 0.8 / down_hz), bytes = about(state, 80, 600);

                        add(traffic, TRAFFIC_GAME, s + late_s, RADIO_RX, bytes);
                }
                begin = end;
        }
}

static void stream(struct traffic *traffic, uint64_t *state, double seconds)
{
        double rate = about(state, 6e5, 2.5e6), each_s = between(state, 4, 11);

        for (double s = between(state, 2, 30); s < seconds; s += each_s * between(state, 0.9, 1.1)) {
                add(traffic, TRAFFIC_STREAM, s - 0.05, RADIO_TX, 600);
                transfer(traffic, TRAFFIC_STREAM, state, s, each_s * about(state, 3e4, 2e5), rate);
                if (one_of(state, 40))
                        s += between(state, 20, 60);
        }
}

static void poll_mail(struct traffic *traffic, uint64_t *state, double seconds)
{
        for (double s = between(state, 2, 60); s < seconds; s += about(state, 45, 200)) {
                double way_s = about(state, 0.02, 0.2), at = s;

                for (int i = (int)between(state, 3, 7); i > 0; i--, at += way_s * between(state, 1, 1.5)) {
                        double bytes = about(state, 60, 500);

                        add(traffic, TRAFFIC_MAIL, at, RADIO_TX, bytes);
                        bytes = about(state, 60, 1400);
                        add(traffic, TRAFFIC_MAIL, at + way_s, RADIO_RX, bytes);
                }
                if (one_of(state, 4))
                        at = transfer(traffic, TRAFFIC_MAIL, state, at, about(state, 5e3, 5e5), 5e5);
                add(traffic, TRAFFIC_MAIL, at, RADIO_TX, 52);
        }
}

static void download(struct traffic *traffic, uint64_t *state, double seconds)
{
        for (double s = between(state, 5, 60); s < seconds; s += between(state, 30, 240)) {
                double bytes = about(state, 3e6, 3e7), bytes_per_s = about(state, 5e5, 1.5e6);

                add(traffic, TRAFFIC_DOWNLOAD, s - 0.1, RADIO_TX, 400);
                s = transfer(traffic, TRAFFIC_DOWNLOAD, state, s, bytes, bytes_per_s);
        }
}

static int compare_packets(const void *a, const void *b)
{
        const struct traffic_packet *left = a, *right = b;

        if (left->time_ns != right->time_ns)
                return left->time_ns < right->time_ns ? -1 : 1;
        if (left->owner != right->owner)
                return left->owner < right->owner ? -1 : 1;
        return (int)left->direction - (int)right->direction;
}

void traffic_make(struct traffic *traffic, enum traffic_pattern pattern, double seconds, uint64_t seed)
{
        static void (*const makers[])(struct traffic *, uint64_t *, double) = { call,   type,      play,
                                                                                stream, poll_mail, download };

        *traffic = (struct traffic){ .until_ns = llround(seconds * 1e9) };
        for (size_t i = 0; i < ARRAY_SIZE(makers); i++) {
                uint64_t state = seed * 100 + i;

                if (pattern == TRAFFIC_ALL || pattern == (enum traffic_pattern)i ||
                    (pattern == TRAFFIC_FEW && (i == TRAFFIC_SSH || i == TRAFFIC_MAIL)))
                        makers[i](traffic, &state, seconds - QUIET_S);
        }
        qsort(traffic->packets, traffic->n, sizeof(*traffic->packets), compare_packets);
}

void traffic_clear(struct traffic *traffic)
{
        free(traffic->packets);
        *traffic = (struct traffic){ 0 };
}

/* One number a line, so that the order is that of the text. */
static void put(FILE *out, const char *before, double value, const char *after)
{
        fprintf(out, "%s%.0f%s\n", before, value, after);
}

static void print_wifi(FILE *out, uint64_t *state)
{
        double low_mw = about(state, 80, 400), packets = floor(about(state, 4, 80));

        fputs("[radio r]\ninitial = off\n", out);
        put(out, "phy_kbps_up = ", about(state, 2e4, 2e5), "");
        put(out, "phy_kbps_down = ", about(state, 2e4, 2e5), "");
        put(out, "tx_nj_per_packet = ", about(state, 1e4, 1e6), "");
        put(out, "rx_nj_per_byte = ", about(state, 10, 500), "");
        put(out, "[radio r off]\non_tx = low\non_rx = low\npower_mw = ", between(state, 0, 20), "");
        if (one_of(state, 2))
                put(out, "pulse = ", between(state, 50, 250), " 2 100");
        put(out, "[radio r low]\npower_mw = ", low_mw, "");
        put(out, "on_rate = high > ", packets, " 1000");
        put(out, "after = ", about(state, 40, 2500), " off");
        put(out, "[radio r high]\npower_mw = ", low_mw * about(state, 1.02, 3), "");
        put(out, "reset_packets = ", packets + 1, " 1000");
        put(out, "after = ", about(state, 100, 2000), " low");
}

static void print_3g(FILE *out, uint64_t *state)
{
        double dch_mw = about(state, 400, 1300), bytes = one_of(state, 2) ? about(state, 100, 500) : 0;

        fputs("[radio r]\ninitial = idle\n", out);
        put(out, "tx_nj_per_byte = ", about(state, 100, 4000), "");
        put(out, "rx_nj_per_byte = ", about(state, 50, 500), "");
        put(out, "[radio r idle]\non_tx = promotion\non_rx = promotion\npower_mw = ", between(state, 0, 20), "");
        put(out, "[radio r promotion]\npower_mw = ", dch_mw * between(state, 0.4, 1.2), "");
        put(out, "after = ", about(state, 200, 2500), " dch fixed");
        put(out, "[radio r dch]\npower_mw = ", dch_mw, "");
        put(out, "after = ", about(state, 1000, 10000), " fach");
        put(out, "[radio r fach]\npower_mw = ", dch_mw * between(state, 0.3, 0.7), "");
        put(out, "on_tx = dch >= ", bytes, "");
        put(out, "on_rx = dch >= ", bytes, "");
        put(out, "after = ", about(state, 500, 15000), " idle");
}

static void print_lte(FILE *out, uint64_t *state)
{
        double connected_mw = about(state, 700, 1500);

        fputs("[radio r]\ninitial = idle\n", out);
        put(out, "tx_nj_per_byte = ", about(state, 500, 4000), "");
        put(out, "rx_nj_per_byte = ", about(state, 50, 500), "");
        put(out, "[radio r idle]\non_tx = promotion\non_rx = promotion\npower_mw = ", between(state, 0, 20), "");
        put(out, "pulse = ", between(state, 100, 600), " 43 1280");
        put(out, "[radio r promotion]\npower_mw = ", connected_mw, "");
        put(out, "after = ", about(state, 100, 500), " connected fixed");
        put(out, "[radio r connected]\npower_mw = ", connected_mw, "");
        put(out, "after = ", about(state, 50, 300), " drx");
        put(out, "[radio r drx]\non_tx = connected\non_rx = connected\npower_mw = ",
            connected_mw * between(state, 0.3, 0.9), "");
        put(out, "pulse = ", connected_mw, " 4 40 absolute");
        put(out, "after = ", about(state, 2000, 15000), " idle");
}

void traffic_automaton(char *text, size_t size, uint64_t seed)
{
        static void (*const printers[])(FILE *, uint64_t *) = { print_wifi, print_3g, print_lte };
        uint64_t state = seed;
        FILE *out = fmemopen(text, size, "w");

        if (!out)
                abort();
        printers[seed % ARRAY_SIZE(printers)](out, &state);
        fclose(out);
}
