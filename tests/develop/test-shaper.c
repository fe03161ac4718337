/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The emulated link in a time of its own: rate, delay, loss, queue, and the radio that sleeps. Argument: data/. */

#include "check.h"

#include <errno.h>
#include <stdlib.h>

#include "network.h"
#include "record.h"
#include "shaper.h"
#include "util/units.h"
#include "util/util.h"

#define S INT64_C(1000000000)

static struct network parsed(const char *keys)
{
        struct network network = { 0 };
        char text[512];

        snprintf(text, sizeof(text), "[network]\nkind = cellular\n%s\n", keys);
        check_int(network_parse(text, strlen(text), "test", NULL, &network), 0);
        return network;
}

struct totals {
        uint64_t bytes, delivered, lost, dropped, bursts;
        int64_t first_ns, last_ns;
        double delay, squares; /* delays beyond the link in ms, and their squares: sums */
        bool reordered, late;
};

/* Sends packets of @bytes each @gap_ns, and takes them as soon as they are due. */
static struct totals play(const struct network *network, int direction, size_t bytes, int64_t gap_ns,
                          size_t n, uint64_t seed)
{
        const struct shaper_plan plan = { .network = network, .seed = seed };
        _cleanup_(shaper_freep) struct shaper *shaper = NULL;
        struct totals totals = { 0 };
        struct packet_record record;
        uint8_t packet[1500] = { 0 };
        bool lost = false;

        check_int(shaper_new(&plan, &shaper), 0);
        for (size_t i = 0; i < n || shaper_next_ns(shaper) != INT64_MAX;) {
                int64_t come_ns = i < n ? (int64_t)i * gap_ns + 1 : INT64_MAX, due_ns = shaper_next_ns(shaper);

                if (come_ns <= due_ns) {
                        check_int(shaper_take(shaper, (enum radio_direction)direction, packet, bytes, 0, come_ns), 0);
                        i++;
                } else {
                        check(shaper_give(shaper, due_ns - 1) == NULL);
                        check(shaper_give(shaper, due_ns) != NULL);
                }
                while (shaper_records(shaper, &record, NULL, 1)) {
                        double delay_ms = (double)(record.due_ns - record.link_ns) / NS_PER_MS;

                        totals.lost += record.verdict == PACKET_LOST;
                        totals.dropped += record.verdict == PACKET_DROPPED;
                        if (record.verdict != PACKET_DELIVERED) {
                                totals.bursts += record.verdict == PACKET_LOST && !lost;
                                lost = record.verdict == PACKET_LOST;
                                continue;
                        }
                        lost = false;
                        totals.reordered |= record.out_ns < totals.last_ns;
                        totals.first_ns = totals.delivered++ ? totals.first_ns : record.out_ns;
                        totals.bytes += totals.delivered > 1 ? record.bytes : 0;
                        totals.last_ns = record.out_ns;
                        totals.delay += delay_ms;
                        totals.squares += delay_ms * delay_ms;
                }
        }
        return totals;
}

static void test_rate(void)
{
        static const double rates[] = { 200, 2500, 50000, 200000 };

        for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
                for (int d = 0; d < RADIO_DIRECTIONS; d++) {
                        char keys[96];
                        struct network network;
                        struct totals totals;

                        snprintf(keys, sizeof(keys), "%s_kbps = %g\nqueue_ms = 200\ndelay_ms = 30",
                                 d == RADIO_TX ? "up" : "down", rates[i]);
                        network = parsed(keys);
                        /* One and a half times the rate that the link carries. */
                        totals = play(&network, d, 1500, (int64_t)(1500 * 8e6 / rates[i] / 1.5), 3000, 1);
                        check_near((double)totals.bytes * 8e6 / (double)(totals.last_ns - totals.first_ns), rates[i],
                                   rates[i] * 1e-4);
                        check_int((long long)(totals.dropped + totals.delivered), 3000);
                        check(!totals.reordered);
                }
}

static void test_delay(void)
{
        static const struct {
                const char *keys;
                double mean, sd;
        } cases[] = { { "delay_ms = 100 20", 100, 20 },
                      { "delay_ms = 35 10.6", 35, 10.6 },
                      { "delay_ms = 40", 40, 0 } };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct network network = parsed(cases[i].keys);
                struct totals totals = play(&network, RADIO_RX, 200, 50 * S / 1000, 200000, 3); /* 10,000 s */
                double mean = totals.delay / (double)totals.delivered;

                check_near(mean, cases[i].mean, cases[i].mean * 0.02);
                check_near(sqrt(fmax(0, totals.squares / (double)totals.delivered - mean * mean)), cases[i].sd,
                           cases[i].sd * 0.05 + 1e-3);
                check(!totals.reordered);
                check_int((long long)totals.delivered, 200000);
        }
}

/* The mean of four draws hardly depends on the seed: that of independent draws would vary by 10 ms. */
static void test_delay_of_seeds(void)
{
        struct network network = parsed("delay_ms = 200 20");
        double squares = 0, sum = 0;
        const int n = 500;

        for (int seed = 0; seed < n; seed++) {
                struct weather weather;
                double mean_ms = 0;

                weather_start(&weather, &network, (uint64_t)seed);
                for (int knot = 4; knot < 8; knot++)
                        mean_ms += (double)weather_delay_ns(&weather, RADIO_RX, 0, knot * S) / NS_PER_MS / 4;
                sum += mean_ms;
                squares += (mean_ms - 200) * (mean_ms - 200);
        }
        check_near(sum / n, 200, 1);
        check_near(sqrt(squares / n), 20 * 0.187, 0.5);
}

/* The mean delay is right even if its distribution reaches below 0. */
static void test_delay_at_zero(void)
{
        struct network network = parsed("delay_ms = 100 70.7");
        struct totals totals = play(&network, RADIO_TX, 200, 50 * S / 1000, 400000, 5);

        check_near(totals.delay / (double)totals.delivered, 100, 2.5);
        check(!totals.reordered);
}

/*
 * The delay of this machine's own network is subtracted from the mean, also where the distribution reaches below 0;
 * the part beyond the emulated delay is recorded.
 */
static void test_host(void)
{
        struct network network = parsed("delay_ms = 100 70.7");
        const struct shaper_plan plan = { .network = &network, .seed = 5 };
        _cleanup_(shaper_freep) struct shaper *shaper = NULL;
        uint8_t packet[200] = { 0 };
        struct packet_record record;
        struct weather weather;
        double sum = 0;

        weather_start(&weather, &network, 5);
        for (int i = 0; i < 100000; i++)
                sum += (double)weather_delay_ns(&weather, RADIO_TX, S / 20, i * (S / 5)) / NS_PER_MS;
        check_near(sum / 100000, 50, 2);
        check_int(weather_delay_ns(&weather, RADIO_TX, S / 10, S), 0);
        network = parsed("delay_ms = 100");
        check_int(shaper_new(&plan, &shaper), 0);
        check_int(shaper_take(shaper, RADIO_RX, packet, 200, 0, 1 * S), 0);
        check_int(shaper_take(shaper, RADIO_RX, packet, 200, S * 3 / 10, 1 * S + 1), 0); /* overtakes the one before */
        check_int(shaper_take(shaper, RADIO_RX, packet, 200, S / 20, 1 * S + 2), 0);
        for (int i = 0; i < 3; i++) {
                static const int64_t due_ns[] = { S + 1, S + S / 20 + 2, S + S / 10 }, left_ns[] = { S / 5, 0, 0 };

                check(shaper_give(shaper, 2 * S) != NULL);
                check_int((long long)shaper_records(shaper, &record, NULL, 1), 1);
                check_int(record.due_ns, due_ns[i]);
                check_int(record.left_ns, left_ns[i]);
        }
}

/* The same seed is the same weather, whatever is sent. */
static void test_seed(void)
{
        struct network network = parsed("delay_ms = 100 20\nloss = 0.01 0.25");
        struct weather a, b, other;
        int differ = 0;

        weather_start(&a, &network, 7);
        weather_start(&b, &network, 7);
        weather_start(&other, &network, 8);
        for (int i = 0; i < 1000; i++) {
                check_int(weather_delay_ns(&a, RADIO_RX, 0, i * S / 7), weather_delay_ns(&b, RADIO_RX, 0, i * S / 7));
                check_int(weather_loses(&a, RADIO_RX), weather_loses(&b, RADIO_RX));
                differ += weather_delay_ns(&other, RADIO_RX, 0, i * S / 7) !=
                          weather_delay_ns(&a, RADIO_RX, 0, i * S / 7);
                (void)weather_loses(&a, RADIO_TX);
        }
        check(differ > 990);
}

static void test_loss(void)
{
        /*
         * In the bad state 1 / (1 + to_good / to_bad) of the time; a burst ends with it, or with a packet
         * that gets through.
         */
        struct network network = parsed("loss = 0.01 0.25");
        struct totals totals = play(&network, RADIO_RX, 200, S / 2000, 1000000, 11);
        double part = (double)totals.lost / 1e6;

        /* Bursts make it vary about seven times as much. */
        check_near(part, 0.01 / 0.26, 3 * sqrt(0.01 / 0.26 * 7 / 1e6));
        check_near((double)totals.lost / (double)totals.bursts, 4, 0.2);
        network = parsed("loss = 0.002 0.1 0.5 0.001");
        totals = play(&network, RADIO_TX, 200, S / 2000, 1000000, 12);
        check_near((double)totals.lost / 1e6, 0.5 * 0.002 / 0.102 + 0.001 * 0.1 / 0.102, 0.0006);
}

/* Packets that come while the radio sleeps wait for its promotion. The states of the shaper's radio are priced. */
static void test_radio(const char *data)
{
        struct network network = parsed("up_kbps = 1000\ndown_kbps = 1000\ndelay_ms = 50");
        _cleanup_(radio_clear_all) struct radios radios = { 0 };
        struct radio_run run;
        char path[4096];
        bool others;

        snprintf(path, sizeof(path), "%s/radios/3g.ini", data);
        check_int(radio_load(path, NULL, &radios, &others), 0);
        const struct shaper_plan plan = { .network = &network, .radio = &radios.list[0], .seed = 1, .heads = true };
        _cleanup_(shaper_freep) struct shaper *shaper = NULL;
        struct packet_record records[4];
        struct packet_head heads[4];
        struct radio_event event;
        uint8_t packet[1000] = { 0 };

        check_int(shaper_new(&plan, &shaper), 0);
        check_int(shaper_take(shaper, RADIO_TX, packet, 1000, 0, 1 * S), 0);          /* wakes it, for 2 s */
        check_int(shaper_take(shaper, RADIO_RX, packet, 1000, 0, 3 * S / 2), 0);      /* waits with it */
        check_int(shaper_take(shaper, RADIO_RX, packet, 1000, 0, 10 * S), 0);         /* in FACH: no promotion */
        packet[RECORD_HEAD_MAX - 1] = 7;
        check_int(shaper_take(shaper, RADIO_RX, packet, 1000, 0, 60 * S), 0);         /* it sleeps again */
        for (int i = 0; i < 4; i++)
                check(shaper_give(shaper, 100 * S) != NULL);
        check_int((long long)shaper_records(shaper, records, heads, 4), 4);
        check_int(radio_run_start(&run, plan.radio, plan.signal), 0);
        for (int i = 0; i < 4; i++) {
                static const int64_t in_ms[] = { 1000, 1500, 10000, 60000 }, link_ms[] = { 3008, 3008, 10008, 62008 };
                static const int woke[] = { 1, 0, 0, 1 };
                int found = -1;

                for (int j = 0; j < 4; j++)
                        found = records[j].in_ns == in_ms[i] * (S / 1000) ? j : found;
                check(found >= 0);
                if (found < 0)
                        continue;
                check_int(records[found].link_ns, link_ms[i] * (S / 1000));
                check_int(records[found].due_ns, (link_ms[i] + 50) * (S / 1000));
                check_int(records[found].woke, woke[i]);
                check_int(heads[found].bytes[RECORD_HEAD_MAX - 1], i == 3 ? 7 : 0);
                records[found].out_ns = records[found].due_ns;
                check(record_event(&records[found], &event));
                check_int(event.time_ns, woke[i] ? records[found].in_ns : records[found].due_ns);
                check_int(radio_run_packet(&run, event.time_ns, event.direction, event.bytes), 0);
        }
        check_int(radio_run_until(&run, 100 * S), 0);
        /*
         * Promotions at 1 and 60 s; DCH from 3 to 8.058 and 10.058 to 15.058 s, and from 62 to 67 s; FACH
         * between and after.
         */
        check_near(radio_run_energy_j(&run), 2 * 2 * 0.3 + (5.058 + 5 + 5) * 0.6 + (2 + 12 + 12) * 0.3, 1e-6);
        radio_run_clear(&run);
}

static void test_refused(void)
{
        static const char *const texts[] = {
                "", "[network]\n", "[network]\nkind = 5g\n", "[other]\nkind = wifi\n",
                "[network]\nkind = wifi\nspeed = 3\n",
                "[network]\nkind = wifi\ndown_kbps = -1\n", "[network]\nkind = wifi\nloss = 0.1\n",
                "[network]\nkind = wifi\nloss = 0.1 2\n",
                "[network]\nkind = wifi\ndelay_ms = 100 70.7\nknot_ms = 100\n",
                "[network]\nkind = wifi\ndelay_ms = 1 2 3\n", "[network]\nkind = wifi\nradio = ../x\n",
                "[network]\nkind = wifi\nqueue_ms = nan\n",
        };
        struct network network;

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                check_int(network_parse(texts[i], strlen(texts[i]), "test", NULL, &network), -EINVAL);
}

int main(int argc, char **argv)
{
        test_rate();
        test_delay();
        test_delay_at_zero();
        test_delay_of_seeds();
        test_host();
        test_seed();
        test_loss();
        test_radio(argc > 1 ? argv[1] : "data");
        test_refused();
        return check_result();
}
