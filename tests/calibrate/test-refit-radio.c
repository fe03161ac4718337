/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * From observations to a profile with a radio, in a network where others send to all, so that no state is
 * without packets.
 */

#include <math.h>

#include <gsl/gsl_errno.h>

#include "fit-fixture.h"
#include "model/radio-usage.h"
#include "radio/radio-run.h"

#define SECONDS 60
#define VISITS 3
#define IDLES 40 /* enough for a precise base */
#define SD_MW 2.0
#define PACKET_BYTES 100
#define PACKETS_MAX 8192
#define OBSERVATIONS_MAX 256
#define ASSOCIATION_MW 60

static const double rates[] = { 0,   108, 76,  54,  38,   27,  19,   13.5, 9.5,  6.7, 4.8,
                                3.4, 2.4, 1.7, 1.2, 0.84, 0.6, 0.42, 0.3,  0.21, 0.15 };
static const struct log quiet;

static void read_radio(struct profile **ret)
{
        static const char text[] = "[profile]\nversion = 1\ndevice = d\n[battery]\nenergy_full_mwh = 15000\n"
                                   "[base]\npower_mw = 1\n"
                                   "[radio wifi]\ninitial = off\n[radio wifi off]\npower_mw = 0\non_tx = on\n"
                                   "on_rx = on\n"
                                   "[radio wifi on]\npower_mw = 300\nafter = 1200 off\n";

        check_int(profile_parse(text, strlen(text), "test", &quiet, ret), 0);
}

static double uniform(uint64_t *state)
{
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return ((double)(*state >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

static double noise(uint64_t *state)
{
        double sum = -6;

        for (int i = 0; i < 12; i++)
                sum += uniform(state);
        return sum;
}

static double gap(double per_s, uint64_t *state)
{
        return per_s > 0 ? -log(uniform(state)) / per_s : INFINITY;
}

/*
 * Evenly spaced packets, and random packets of others: returns the radio's energy for them in mJ, and adds to @usage
 * what is recorded.
 */
static double fill(const struct radio *radio, double per_s, double others_per_s, uint64_t *state, struct usage *usage)
{
        static struct radio_burst bursts[PACKETS_MAX];
        _cleanup_(radio_ladder_clear) struct radio_ladder ladder = { 0 };
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        double own = per_s > 0 ? 0.5 / per_s : INFINITY, others = gap(others_per_s, state);
        struct radio_shape shape;
        size_t n = 0;

        radio_shape_stored(&shape);
        check_int(radio_ladder_start(&ladder, &shape), 0);
        check_int(radio_run_start(&run, radio, RADIO_SIGNAL_HIGH), 0);
        for (double at; (at = fmin(own, others)) < SECONDS && n < PACKETS_MAX;) {
                enum radio_direction direction = own <= others ? RADIO_TX : RADIO_RX;
                int64_t ns = llround(at * 1e9);

                bursts[n] = (struct radio_burst){ .owner = 1, .first_ns = ns, .last_ns = ns };
                bursts[n].packets[direction] = 1;
                bursts[n++].bytes[direction] = PACKET_BYTES;
                check_int(radio_run_packet(&run, ns, direction, PACKET_BYTES), 0);
                if (own <= others)
                        own += 1 / per_s;
                else
                        others += gap(others_per_s, state);
        }
        check_int(radio_ladder_poll(&ladder, bursts, n, SECONDS * (int64_t)NS_PER_S), 0);
        check_int(radio_run_until(&run, SECONDS * (int64_t)NS_PER_S), 0);
        if (ladder.n_owners == 1)
                check_int(radio_usage_append(&usage->radio, AIR_WIFI, &shape, &ladder.owners[0],
                                             (uint64_t[]){ 0, 1, 1 }),
                          0);
        usage->have |= USAGE_RADIO;
        usage->wifi_tx_bytes = ladder.n_owners ? ladder.owners[0].bytes[RADIO_TX] : 0;
        usage->wifi_rx_bytes = ladder.n_owners ? ladder.owners[0].bytes[RADIO_RX] : 0;
        return radio_run_energy_j(&run) * 1e3;
}

/* The usual states, and the ramp. @always: others send in all of them, and not only while WiFi is on. */
static int fit(const struct profile *truth, double others_per_s, bool always, struct outcome *ret)
{
        struct observation list[OBSERVATIONS_MAX];
        struct observation_run run = run_of("gauge");
        const struct radio *radio = radio_find(&truth->radios, "wifi");
        uint64_t state = 7;
        char error[256];
        size_t n = 0;
        int err;

        for (size_t i = 0; i < IDLES + ARRAY_SIZE(loads) + ARRAY_SIZE(rates) * VISITS; i++) {
                bool ramp = i >= IDLES + ARRAY_SIZE(loads);
                double rate = ramp ? rates[i % ARRAY_SIZE(rates)] : 0;
                struct load load = ramp ? (struct load){ rate > 0 ? "radio" : "wifi.on", -1, .wifi = true } :
                                          loads[i < IDLES ? 0 : i - IDLES];
                struct observation *observation = &list[n];

                if (load.rx_mb_per_s > 0) /* its packets are not made here */
                        continue;
                n++;
                observe(&load, i, observation);
                observation->elapsed_ns = SECONDS * NS_PER_S;
                usage_clear(&observation->usage);
                fill_usage(&load, SECONDS, &observation->usage);
                if (rate > 0)
                        snprintf(observation->mode, sizeof(observation->mode), "radio.%g", rate);
                if (load.wifi || always)
                        observation->power_mw += fill(radio, rate, others_per_s, &state, &observation->usage) / SECONDS;
                observation->power_mw += SD_MW * noise(&state) + (load.wifi ? ASSOCIATION_MW - WIFI_ON : 0);
        }
        err = refit_regression(&run, list, n, ret, error, sizeof(error));
        clear_all(list, n);
        return err;
}

/* A packet each ten seconds, above rest, mJ. */
static double mail_mj(const struct profile *profile)
{
        const struct radio *radio = radio_find(&profile->radios, "wifi");
        struct usage usage = { .have = USAGE_ALL };
        struct radio_run run = { 0 };
        double mj = NAN;

        if (radio && radio_run_start(&run, radio, RADIO_SIGNAL_HIGH) == 0) {
                for (int i = 0; i < SECONDS / 10; i++)
                        check_int(radio_run_packet(&run, (10 * i + 1) * (int64_t)NS_PER_S, RADIO_TX, PACKET_BYTES), 0);
                check_int(radio_run_until(&run, SECONDS * (int64_t)NS_PER_S), 0);
                mj = radio_run_energy_j(&run) * 1e3;
        }
        radio_run_clear(&run);
        usage_clear(&usage);
        return mj;
}

/* Power of association is not mistaken for a tail of the radio. */
static void others_send(double per_s)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        struct outcome outcome = { 0 };

        read_radio(&truth);
        check_int(fit(truth, per_s, false, &outcome), 0);
        if (outcome.profile) {
                check_near(mail_mj(outcome.profile), mail_mj(truth), 0.15 * mail_mj(truth));
                check_near(value_of(&outcome, "wifi.on_mw"), ASSOCIATION_MW, 15);
        }
        outcome_clear(&outcome);
}

/* Where WiFi cannot go off nothing shows what the rest takes: there is a profile, with prices of bytes and bursts. */
static void others_always_send(void)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        struct outcome outcome = { 0 };

        read_radio(&truth);
        check_int(fit(truth, 0.5, true, &outcome), 0);
        check(outcome.profile && !radio_find(&outcome.profile->radios, "wifi"));
        outcome_clear(&outcome);
}

int main(void)
{
        gsl_set_error_handler_off();
        others_send(0);
        others_send(0.1);
        others_send(0.5);
        others_always_send();
        return check_result();
}
