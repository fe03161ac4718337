/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Radios that are known, from what they take at some rates of packets. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "check.h"
#include "fit/radio-fit.h"
#include "model/profile.h"
#include "radio/radio-run.h"
#include "util/units.h"
#include "util/util.h"

#define SECONDS 60
#define VISITS 3
#define SD_MW 5.0
#define ROWS_MAX 128

static const struct log quiet;

static void say(void *data, enum log_level level, const char *sentence)
{
        (void)data;
        (void)level;
        printf("%s\n", sentence);
}
static const struct log loud = { .handler = say };

/* A state of a calibration: bursts of so many packets, so often. */
struct ramp {
        double per_s;
        int packets;
        uint64_t bytes;
};
static const struct ramp ramp[] = {
        { 108, 1, 100 }, { 76, 1, 100 },    { 54, 1, 100 },     { 38, 1, 100 },    { 27, 1, 100 },
        { 19, 1, 100 },  { 13.5, 1, 100 },  { 9.5, 1, 100 },    { 6.7, 1, 100 },   { 4.8, 1, 100 },
        { 3.4, 1, 100 }, { 2.4, 1, 100 },   { 1.7, 1, 100 },    { 1.2, 1, 100 },   { 0.84, 1, 100 },
        { 0.6, 1, 100 }, { 0.42, 1, 100 },  { 0.3, 1, 100 },    { 0.21, 1, 100 },  { 0.15, 1, 100 },
        { 1, 100, 100 }, { 0.5, 100, 100 }, { 0.25, 100, 100 }, { 1000, 1, 1500 },
};

static void read_radio(const char *text, struct profile **ret)
{
        char all[2048];

        snprintf(all, sizeof(all), "[profile]\nversion = 1\ndevice = d\n[battery]\nenergy_full_mwh = 15000\n"
                                   "[base]\npower_mw = 1\n%s",
                 text);
        check_int(profile_parse(all, strlen(all), "test", &quiet, ret), 0);
}

/* Mean power of a state in mW, by the automaton @radio; NULL: by bytes and wake-ups. */
static double run_state(const struct radio *radio, const struct radio_shape *shape, const struct ramp *state,
                        struct radio_amounts *amounts, double *wakes)
{
        size_t n = 0, most = (size_t)(state->per_s * SECONDS) + 2;
        struct radio_burst *bursts = calloc(most, sizeof(*bursts));
        _cleanup_(radio_ladder_clear) struct radio_ladder ladder = { 0 };
        struct radio_run run = { 0 };
        double mj = 0;

        check_int(radio_ladder_start(&ladder, shape), 0);
        if (radio)
                check_int(radio_run_start(&run, radio, RADIO_SIGNAL_HIGH), 0);
        for (double s = 0.5 / state->per_s; s < SECONDS; s += 1 / state->per_s) {
                struct radio_burst *burst = &bursts[n ? n - 1 : 0];
                int64_t ns = llround(s * 1e9);

                if (n == 0 || ns - burst->last_ns >= RADIO_BURST_GAP_NS) {
                        burst = &bursts[n++];
                        burst->first_ns = ns;
                        mj += 120 * (1 / state->per_s >= 1 || n == 1);
                        *wakes += 1 / state->per_s >= 1 || n == 1;
                }
                burst->last_ns = ns;
                burst->owner = 1;
                for (int i = 0; i < state->packets; i++) {
                        int d = (int)burst->packets[RADIO_TX] > (int)burst->packets[RADIO_RX];

                        burst->packets[d]++;
                        burst->bytes[d] += state->bytes;
                        burst->large += state->bytes >= RADIO_LARGE_BYTES;
                        mj += 350 * (double)state->bytes / BYTES_PER_MB;
                        if (radio)
                                check_int(radio_run_packet(&run, ns, d, state->bytes), 0);
                }
        }
        check_int(radio_ladder_poll(&ladder, bursts, n, SECONDS * (int64_t)NS_PER_S), 0);
        *amounts = (struct radio_amounts){ .cells = calloc(radio_shape_cells(shape), sizeof(*amounts->cells)) };
        for (size_t o = 0; o < ladder.n_owners; o++) {
                for (size_t i = 0; i < radio_shape_cells(shape); i++)
                        amounts->cells[i] += ladder.owners[o].cells[i];
                for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                        amounts->bytes[d] += ladder.owners[o].bytes[d];
        }
        if (radio) {
                check_int(radio_run_until(&run, SECONDS * (int64_t)NS_PER_S), 0);
                mj = radio_run_energy_j(&run) * 1e3;
        }
        radio_run_clear(&run);
        free(bursts);
        return mj / SECONDS;
}

/* About normal, with a standard deviation of 1. */
static double noise(uint64_t *state)
{
        double sum = -6;

        for (int i = 0; i < 12; i++) {
                *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                sum += (double)(*state >> 11) / (double)(UINT64_C(1) << 53);
        }
        return sum;
}

/* @spike_mw: a daemon's, in one visit of a state. 0 or an error of radio_fit(). */
static int fit_it(const char *text, double spike_mw, struct radio_fit *ret)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        struct radio_row rows[ROWS_MAX] = { 0 };
        char names[ARRAY_SIZE(ramp)][16];
        struct radio_shape shape;
        uint64_t state = 1;
        size_t n = 0;
        int err;

        radio_shape_stored(&shape);
        if (text)
                read_radio(text, &profile);
        for (size_t i = 0; i < ARRAY_SIZE(ramp); i++) {
                snprintf(names[i], sizeof(names[i]), "%g.%d", ramp[i].per_s, ramp[i].packets);
                for (int visit = 0; visit < VISITS; visit++) {
                        struct radio_row *row = &rows[n++];

                        *row = (struct radio_row){ .mode = names[i], .seconds = SECONDS, .sd_mw = 3 * SD_MW };
                        row->power_mw = run_state(text ? radio_find(&profile->radios, "wifi") : NULL, &shape, &ramp[i],
                                                  &row->amounts, &row->wakes);
                        row->power_mw += SD_MW * noise(&state);
                }
        }
        rows[16].power_mw += spike_mw;
        err = radio_fit(&radio_traits_wifi, &shape, rows, n, 3, ret);
        for (size_t i = 0; i < n; i++)
                free(rows[i].amounts.cells);
        return err;
}

static const struct radio_state *state_of(const struct radio *radio, const char *name)
{
        for (size_t i = 0; i < radio->n_states; i++)
                if (strcmp(radio->states[i].name, name) == 0)
                        return &radio->states[i];
        return NULL;
}

#define THRESHOLD                                                                                                      \
        "[radio wifi]\ninitial = off\ntx_nj_per_packet = 500000\n"                                                     \
        "[radio wifi off]\npower_mw = 0\non_tx = low\non_rx = low\n"                                                   \
        "[radio wifi low]\npower_mw = 240\non_rate = high > 22 1000\nafter = 700 off\n"                                \
        "[radio wifi high]\npower_mw = 400\nreset_packets = 23 1000\nafter = 200 low\n"

static void test_threshold(void)
{
        struct radio_fit fit = { 0 };
        const struct radio_state *awake, *busy;

        check_int(fit_it(THRESHOLD, 0, &fit), 0);
        check(fit.chi2_linear > fit.chi2 + 1000);
        awake = state_of(&fit.radio, "awake");
        busy = state_of(&fit.radio, "busy");
        check(awake && busy && !state_of(&fit.radio, "awake-2"));
        if (awake && busy) {
                check_near(awake->power_mw.value, 240, 8);
                check_near(awake->after.ms, 700, 30);
                check(awake->rate.packets >= 19 && awake->rate.packets < 27);
                check_near(busy->power_mw.value, 400, 12);
                check_near(busy->after.ms, 200, 60);
        }
        check(fit.error < 0.1);
        radio_clear(&fit.radio);
}

static void test_two_tails(void)
{
        struct radio_fit fit = { 0 };
        const struct radio_state *awake, *dozing;

        check_int(
                fit_it("[radio wifi]\ninitial = off\n[radio wifi off]\npower_mw = 0\non_tx = on\non_rx = on\n"
                       "[radio wifi on]\npower_mw = 300\nafter = 250 doze\n"
                       "[radio wifi doze]\npower_mw = 120\non_tx = on\non_rx = on\nafter = 1500 off\n",
                       250, &fit),
                0);
        awake = state_of(&fit.radio, "awake");
        dozing = state_of(&fit.radio, "awake-2");
        check(awake && dozing && !state_of(&fit.radio, "awake-3") && !state_of(&fit.radio, "busy"));
        if (awake && dozing) {
                check_near(awake->power_mw.value, 300, 10);
                check_near(awake->after.ms, 250, 40);
                check_near(dozing->power_mw.value, 120, 12);
                check_near(awake->after.ms + dozing->after.ms, 1750, 120);
        }
        radio_clear(&fit.radio);
}

/* A device with a price for a byte and a burst: no radio explains that better. */
static void test_linear(void)
{
        struct radio_fit fit = { .chi2 = NAN };
        int err = fit_it(NULL, 0, &fit);

        check(err == -ENODATA || fit.chi2_linear < fit.chi2 + 25);
        radio_clear(&fit.radio);
        check_int(radio_fit(&radio_traits_wifi, NULL, NULL, 0, 3, &fit), -ENODATA);
}

/* For any rows, the fitted radio can be written to a profile and read from it. */
static void test_any_rows(void)
{
        static const double sizes_mw[] = { 1e-5, 1e-4, 1e-4, 1e-3, 1, 1e3, 1e5 };
        struct radio_row rows[ARRAY_SIZE(ramp)] = { 0 };
        _cleanup_(profile_freep) struct profile *like = NULL;
        struct radio_shape shape;
        uint64_t state = 3;

        radio_shape_stored(&shape);
        read_radio("", &like);
        for (size_t i = 0; i < ARRAY_SIZE(ramp); i++) {
                rows[i] = (struct radio_row){ .mode = "any", .seconds = SECONDS };
                run_state(NULL, &shape, &ramp[i], &rows[i].amounts, &rows[i].wakes);
        }
        for (size_t t = 0; t < ARRAY_SIZE(sizes_mw); t++) {
                double size = sizes_mw[t];
                struct radio_fit fit = { 0 };
                _cleanup_free_ char *text = NULL;
                _cleanup_(profile_freep) struct profile *back = NULL;
                int err;

                for (size_t i = 0; i < ARRAY_SIZE(ramp); i++) {
                        rows[i].power_mw = size * pow(10, noise(&state)) * (noise(&state) > -1.5 ? 1 : -1);
                        rows[i].sd_mw = size * pow(10, noise(&state));
                }
                err = radio_fit(&radio_traits_wifi, &shape, rows, ARRAY_SIZE(ramp), size, &fit);
                check(err == 0 || err == -ENODATA);
                like->radios = (struct radios){ .list = &fit.radio, .n = err == 0 };
                check_int(profile_print(like, &text), 0);
                check_int(text ? profile_parse(text, strlen(text), "fitted", &loud, &back) : -ENOMEM, 0);
                like->radios = (struct radios){ 0 };
                radio_clear(&fit.radio);
        }
        for (size_t i = 0; i < ARRAY_SIZE(ramp); i++)
                free(rows[i].amounts.cells);
}

int main(void)
{
        gsl_set_error_handler_off();
        test_threshold();
        test_two_tails();
        test_linear();
        test_any_rows();
        return check_result();
}
