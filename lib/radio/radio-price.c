/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-price.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "radio-ladder.h"
#include "radio-run.h"
#include "util/units.h"
#include "util/util.h"

#define AWAKE_MS 80 /* no radio sleeps within this silence */

/*
 * Energy of a radio with traffic of each class, and in the silence after it, found by running its automaton.
 * All values are above the base power and linear in the powers of the states.
 */

#define RADIO_SAMPLES 4 /* silences that are measured between two rungs */

struct radio_meter {
        const struct radio_shape *shape;
        enum radio_signal signal;
        struct radio radio; /* copy whose packets have no price and no air time */
        double base_mw;     /* mean power if nothing ever wakes the radio */
};

/* Energy after the last packet of a class. */
struct radio_silence {
        double burst_mw;                                /* mean power between packets of a burst */
        double up_uj[RADIO_RUNGS_MAX];                  /* from the last packet to each rung */
        /* from the last packet to each measured silence between this rung and the next */
        double end_uj[RADIO_RUNGS_MAX][RADIO_SAMPLES];
        /* from a packet that ends such a silence until sleep, if no other follows */
        double wake_uj[RADIO_RUNGS_MAX][RADIO_SAMPLES];
        double tail_uj; /* from the last packet until sleep, if no other follows */
};

#define SPACING_MS 25.0      /* packet spacing within bursts at low rates */
#define SPAN_SPACING_MS 40   /* packet spacing in radio_meter_span() */
#define SLEEP_MS 400000.0    /* longer than all timers together, so the radio sleeps afterwards */
#define BASE_MS 1000000.0    /* time over which the sleep power is averaged */
#define WARM_S 20            /* traffic before a measurement starts */
/* the last seconds at the full rate; before them at most RADIO_DENSE packets a second, to save time */
#define FULL_S 4
#define SMALL_BYTES 100
#define LARGE_BYTES 1200
#define MORE_BYTES 100
#define BURST_PARTS 8

static int64_t ns_of(double ms)
{
        return (int64_t)llround(ms * 1e6);
}

/* Copies a radio, but only the chosen directions keep prices and air time. Returns 0 or -ENOMEM. */
static int copy_priced(const struct radio *radio, bool tx, bool rx, struct radio *ret)
{
        const bool priced[RADIO_DIRECTIONS] = { [RADIO_TX] = tx, [RADIO_RX] = rx };

        *ret = *radio;
        ret->states = malloc(radio->n_states * sizeof(*ret->states));
        if (!ret->states)
                return -ENOMEM;
        memcpy(ret->states, radio->states, radio->n_states * sizeof(*ret->states));
        for (size_t d = 0; d < RADIO_DIRECTIONS; d++) {
                if (priced[d])
                        continue;
                ret->phy_kbps[d] = 0;
                ret->nj_per_byte[d].value = ret->nj_per_packet[d].value = NAN;
                for (size_t i = 0; i < ret->n_states; i++)
                        ret->states[i].nj_per_byte[d].value = ret->states[i].nj_per_packet[d].value = NAN;
        }
        return 0;
}

/* Copies a run, with no packets waiting, so that both can continue separately. Returns 0 or -ENOMEM. */
static int branch(const struct radio_run *from, struct radio_run *ret)
{
        struct radio_run run = *from;

        run.waiting = NULL;
        run.n_waiting = run.capacity = 0;
        if (from->recent) {
                run.recent = malloc(run.n_kept * sizeof(*run.recent));
                if (!run.recent)
                        return -ENOMEM;
                memcpy(run.recent, from->recent, run.n_kept * sizeof(*run.recent));
        }
        *ret = run;
        return 0;
}

static int pass(struct radio_run *run, double ms)
{
        return radio_run_until(run, run->now_ns + ns_of(ms));
}

/* Energy above the base since the run began. */
static double above_uj(const struct radio_meter *meter, const struct radio_run *run)
{
        return radio_run_energy_j(run) * UJ_PER_J - meter->base_mw * (double)run->now_ns / (double)NS_PER_MS;
}

static int find_base(struct radio_meter *meter)
{
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        int err = radio_run_start(&run, &meter->radio, meter->signal);
        double before_j;

        if (!err)
                err = radio_run_packet(&run, 0, RADIO_TX, LARGE_BYTES);
        if (!err)
                err = pass(&run, SLEEP_MS);
        before_j = radio_run_energy_j(&run);
        if (!err)
                err = pass(&run, BASE_MS);
        meter->base_mw = (radio_run_energy_j(&run) - before_j) / BASE_MS * UJ_PER_J;
        return err;
}

static void radio_meter_close(struct radio_meter *meter)
{
        radio_clear(&meter->radio);
        *meter = (struct radio_meter){ 0 };
}

/* @shape must outlive the meter; end with radio_meter_close(). Returns 0 or -ENOMEM. */
static int radio_meter_open(struct radio_meter *meter, const struct radio *radio, enum radio_signal signal,
                            const struct radio_shape *shape)
{
        int err;

        *meter = (struct radio_meter){ .shape = shape, .signal = signal };
        err = copy_priced(radio, false, false, &meter->radio);
        if (!err)
                err = find_base(meter);
        if (err)
                radio_meter_close(meter);
        return err;
}

struct traffic {
        int packets;       /* per second */
        double spacing_ms; /* between two packets */
        uint64_t bytes;
};

static struct traffic traffic_of(const struct radio_shape *shape, size_t class)
{
        size_t rate = class % shape->n_rates;
        double least = (double)shape->rate[rate];
        double most = rate + 1 < shape->n_rates ? (double)shape->rate[rate + 1] - 1 : least * 2;
        int packets = (int)round(sqrt(least * most));

        return (struct traffic){ packets, fmin(SPACING_MS, 1000.0 / packets),
                                 class >= shape->n_rates ? LARGE_BYTES : SMALL_BYTES };
}

/* Class of the packet that ends a silence after traffic of @class. */
static size_t radio_meter_class_after(const struct radio_shape *shape, size_t class, double silence_ms)
{
        struct traffic traffic = traffic_of(shape, class);
        size_t rate = 0;
        int packets = 1;

        for (int i = 0; i < MAX(1, traffic.packets - 1); i++) /* as many packets as measure_wakes() sends */
                packets += i * traffic.spacing_ms + silence_ms < 1000;
        while (rate + 1 < shape->n_rates && packets >= shape->rate[rate + 1])
                rate++;
        return rate + (class >= shape->n_rates ? shape->n_rates : 0);
}

/*
 * Sends seconds of traffic in alternating directions, each second beginning with @first; leaves out the @less
 * last packets. Returns 0 or -ENOMEM.
 */
static int send(struct radio_run *run, const struct traffic *traffic, enum radio_direction first, int from_s,
                int until_s, int less)
{
        int n = (until_s - from_s) * traffic->packets - less, err = 0;

        for (int k = 0; !err && k < n; k++) {
                int s = from_s + k / traffic->packets, i = k % traffic->packets;

                err = radio_run_packet(run, s * (int64_t)NS_PER_S + ns_of(i * traffic->spacing_ms),
                                       ((size_t)i + first) % 2 ? RADIO_RX : RADIO_TX, traffic->bytes);
        }
        return err;
}

/* Sends the traffic before the seconds at the full rate. */
static int warm(struct radio_run *run, const struct traffic *traffic, enum radio_direction first)
{
        struct traffic thin = *traffic;

        if (thin.packets > (int)RADIO_DENSE) {
                thin.packets = (int)RADIO_DENSE;
                thin.spacing_ms = 1000.0 / thin.packets;
        }
        return send(run, &thin, first, 0, WARM_S - FULL_S, 0);
}

/* Runs warm-up traffic up to its last packet, leaving out the @less last ones. Returns 0 or -ENOMEM. */
static int start_warm(const struct radio_meter *meter, const struct traffic *traffic, int less, struct radio_run *run)
{
        int err = radio_run_start(run, &meter->radio, meter->signal);

        if (!err)
                err = warm(run, traffic, RADIO_TX);
        return err ? err : send(run, traffic, RADIO_TX, WARM_S - FULL_S, WARM_S, less);
}

/* Measures the energy of the FULL_S seconds. Returns 0 or -ENOMEM. */
static int measure_traffic(const struct radio_meter *meter, const struct radio *radio, const struct traffic *traffic,
                           enum radio_direction first, double *ret)
{
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        double before_uj;
        int err = radio_run_start(&run, radio, meter->signal);

        if (!err)
                err = warm(&run, traffic, first);
        if (!err)
                err = radio_run_until(&run, (WARM_S - FULL_S) * (int64_t)NS_PER_S);
        before_uj = above_uj(meter, &run);
        if (!err)
                err = send(&run, traffic, first, WARM_S - FULL_S, WARM_S, 0);
        if (!err)
                err = radio_run_until(&run, WARM_S * (int64_t)NS_PER_S);
        *ret = above_uj(meter, &run) - before_uj;
        return err;
}

/*
 * Energy per packet and per byte of a class, beside the power of the states. @radio has its prices. Returns 0
 * or -ENOMEM.
 */
static int radio_meter_packets(const struct radio_meter *meter, const struct radio *radio, size_t class,
                               enum radio_direction direction, double *packet_uj, double *byte_uj)
{
        struct traffic traffic = traffic_of(meter->shape, class), more = traffic;
        _cleanup_(radio_clear) struct radio priced = { 0 };
        int packets = (traffic.packets + 1) / 2 * FULL_S;
        double none_uj = 0, some_uj = 0, more_uj = 0;
        int err = copy_priced(radio, direction == RADIO_TX, direction == RADIO_RX, &priced);

        more.bytes += MORE_BYTES;
        if (!err)
                err = measure_traffic(meter, &meter->radio, &traffic, direction, &none_uj);
        if (!err)
                err = measure_traffic(meter, &priced, &traffic, direction, &some_uj);
        if (!err)
                err = measure_traffic(meter, &priced, &more, direction, &more_uj);
        *byte_uj = (more_uj - some_uj) / MORE_BYTES / packets;
        *packet_uj = (some_uj - none_uj) / packets - *byte_uj * (double)traffic.bytes;
        return err;
}

/* Length of a measured silence. */
static double radio_meter_sample_ms(const struct radio_shape *shape, size_t rung, int sample)
{
        double from = rung > 0 ? (double)shape->rung_ms[rung] : (double)shape->rung_ms[1] / 4;
        double to = rung + 1 < shape->n_rungs ? (double)shape->rung_ms[rung + 1] : from * 1.4;

        return from * pow(to / from, (sample + 0.5) / RADIO_SAMPLES);
}

/*
 * Mean power between two packets of a burst. Dense packets do not come evenly: the gaps are taken from an
 * exponential distribution, at the middles of BURST_PARTS equally likely parts. Returns 0 or -ENOMEM.
 */
static int measure_burst(const struct radio_meter *meter, const struct radio_run *packet,
                         const struct traffic *traffic, double *ret)
{
        int n = traffic->packets > (int)RADIO_DENSE ? BURST_PARTS : 1;
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        double passed_ms = 0, sum_uj = 0, sum_ms = 0;
        int err = branch(packet, &run);

        for (int i = 0; !err && i < n; i++) {
                double ms = n > 1 ? -traffic->spacing_ms * log(1 - (i + 0.5) / n) : traffic->spacing_ms;

                err = pass(&run, ms - passed_ms);
                passed_ms = ms;
                sum_ms += ms;
                sum_uj += above_uj(meter, &run) - above_uj(meter, packet);
        }
        *ret = sum_uj / sum_ms;
        return err;
}

static int measure_ends(const struct radio_meter *meter, const struct traffic *traffic, struct radio_silence *ret)
{
        const struct radio_shape *shape = meter->shape;
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        int err = start_warm(meter, traffic, 0, &run);
        double zero_uj = above_uj(meter, &run);
        int64_t start_ns = run.now_ns;

        if (!err)
                err = measure_burst(meter, &run, traffic, &ret->burst_mw);
        for (size_t k = 0; !err && k < shape->n_rungs; k++) {
                err = radio_run_until(&run, start_ns + ns_of((double)shape->rung_ms[k]));
                ret->up_uj[k] = above_uj(meter, &run) - zero_uj;
                for (int i = 0; !err && i < RADIO_SAMPLES; i++) {
                        err = radio_run_until(&run, start_ns + ns_of(radio_meter_sample_ms(shape, k, i)));
                        ret->end_uj[k][i] = above_uj(meter, &run) - zero_uj;
                }
        }
        if (!err)
                err = pass(&run, SLEEP_MS);
        ret->tail_uj = above_uj(meter, &run) - zero_uj;
        return err;
}

static int measure_wake(const struct radio_meter *meter, const struct radio_run *run, uint64_t bytes, double *ret)
{
        _cleanup_(radio_run_clear) struct radio_run woken = { 0 };
        int err = branch(run, &woken);

        if (!err)
                err = radio_run_packet(&woken, woken.now_ns, RADIO_TX, bytes);
        if (!err)
                err = pass(&woken, SLEEP_MS);
        *ret = above_uj(meter, &woken) - above_uj(meter, run);
        return err;
}

/*
 * The packet that wakes the radio replaces one packet of the class. If it came in addition, the rate could
 * pass a threshold just above the class, and that effect would be charged to every silence.
 */
static int measure_wakes(const struct radio_meter *meter, const struct traffic *traffic, struct radio_silence *ret)
{
        const struct radio_shape *shape = meter->shape;
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        int err = start_warm(meter, traffic, 1, &run);
        int64_t start_ns = run.now_ns;

        for (size_t k = 0; !err && k < shape->n_rungs; k++)
                for (int i = 0; !err && i < RADIO_SAMPLES; i++) {
                        err = radio_run_until(&run, start_ns + ns_of(radio_meter_sample_ms(shape, k, i)));
                        if (!err)
                                err = measure_wake(meter, &run, traffic->bytes, &ret->wake_uj[k][i]);
                }
        return err;
}

/* 0; -ENOMEM */
static int radio_meter_silence(const struct radio_meter *meter, size_t class, struct radio_silence *ret)
{
        struct traffic traffic = traffic_of(meter->shape, class);
        int err = measure_ends(meter, &traffic, ret);

        return err ? err : measure_wakes(meter, &traffic, ret);
}

/*
 * Energy of warm-up traffic, @silence_ms of silence, a span of packets for @span_ms, and sleep, in @ret_uj.
 * @bursts and @until_ns describe the same traffic to radio_ladder_poll(), to compare the price of its cells.
 * Returns 0 or -ENOMEM.
 */
static int radio_meter_span(const struct radio_meter *meter, double silence_ms, double span_ms,
                            struct radio_burst bursts[2], int64_t *until_ns, double *ret_uj)
{
        const int64_t warm_ns = WARM_S * (int64_t)NS_PER_S, first_ns = warm_ns + ns_of(silence_ms);
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        int err = radio_run_start(&run, &meter->radio, meter->signal);

        bursts[0] = (struct radio_burst){ .last_ns = warm_ns };
        bursts[1] = (struct radio_burst){ .first_ns = first_ns, .last_ns = first_ns + ns_of(span_ms) };
        for (size_t b = 0; b < 2; b++)
                for (int64_t at = bursts[b].first_ns; !err && at <= bursts[b].last_ns; at += ns_of(SPAN_SPACING_MS)) {
                        enum radio_direction d = bursts[b].packets[RADIO_TX] > bursts[b].packets[RADIO_RX];

                        bursts[b].packets[d]++;
                        bursts[b].large++;
                        err = radio_run_packet(&run, at, d, LARGE_BYTES);
                }
        *until_ns = bursts[1].last_ns + ns_of(SLEEP_MS);
        if (!err)
                err = radio_run_until(&run, *until_ns);
        *ret_uj = above_uj(meter, &run);
        return err;
}

/*
 * Between two rungs a silent radio draws the mean power measured there. So a ms of up time at a rung costs
 * the difference between the power below that rung and the power above it. The remainder is jump_uj, the same
 * for all silences that end between two rungs: the error of the mean power at their end, plus the extra
 * energy of a packet that wakes the radio over one of its class that does not.
 */
static void price_class(struct radio_price *price, const struct radio_silence *silences, size_t index)
{
        const struct radio_shape *shape = price->shape;
        const struct radio_silence *own = &silences[index];
        double below_mw = own->burst_mw, before_uj = 0;

        for (size_t k = 0; k < shape->n_rungs; k++) {
                bool last = k + 1 == shape->n_rungs;
                double above_mw = last ? 0 : (own->up_uj[k + 1] - own->up_uj[k]) /
                                             (double)(shape->rung_ms[k + 1] - shape->rung_ms[k]);
                double jump_uj = 0;

                for (int i = 0; i < RADIO_SAMPLES; i++) {
                        double ms = radio_meter_sample_ms(shape, k, i);
                        const struct radio_silence *next = &silences[radio_meter_class_after(shape, index, ms)];

                        jump_uj += (own->wake_uj[k][i] - next->tail_uj + own->end_uj[k][i] - own->up_uj[k] -
                                    above_mw * (ms - (double)shape->rung_ms[k])) / RADIO_SAMPLES;
                }
                price->cell_uj[radio_cell_up(shape, index, k)] = below_mw - above_mw;
                price->cell_uj[radio_cell_opened(shape, index, k)] = jump_uj - before_uj;
                below_mw = above_mw;
                before_uj = jump_uj;
        }
}

/*
 * Energy of a span of @span_ms after @silence_ms, less the price of its amounts with the coefficients so far.
 */
static int beside_uj(const struct radio_price *price, const struct radio_meter *meter, double silence_ms,
                     double span_ms, double *ret)
{
        _cleanup_(radio_ladder_clear) struct radio_ladder ladder = { 0 };
        struct radio_burst bursts[2];
        int64_t until_ns;
        double uj;
        int err = radio_meter_span(meter, silence_ms, span_ms, bursts, &until_ns, &uj);

        if (!err)
                err = radio_ladder_start(&ladder, price->shape);
        if (!err)
                err = radio_ladder_poll(&ladder, bursts, ARRAY_SIZE(bursts), until_ns);
        if (!err)
                *ret = uj - radio_price_j(price, &ladder.owners[0]) * UJ_PER_J;
        return err;
}

/* Measures the mean extra power at each age of spans opened after @silence_ms, in @ret. */
static int measure_early(const struct radio_price *price, const struct radio_meter *meter, double silence_ms,
                         double *ret)
{
        double lower_ms = 0, before_uj = 0, uj = 0;
        int err = beside_uj(price, meter, silence_ms, 0, &before_uj);

        for (size_t d = 0; !err && d < price->shape->n_ages; d++) {
                double age_ms = (double)price->shape->age_ms[d];

                err = beside_uj(price, meter, silence_ms, age_ms, &uj);
                ret[d] = (uj - before_uj) / (age_ms - lower_ms);
                before_uj = uj;
                lower_ms = age_ms;
        }
        return err;
}

/*
 * A promotion continues during the first packets of a span. The early coefficients are the extra power over a
 * span whose radio was awake, as differences from rung to rung.
 */
static int price_early(struct radio_price *price, const struct radio_meter *meter)
{
        const struct radio_shape *shape = price->shape;
        double below_mw[RADIO_AGES_MAX], early_mw[RADIO_RUNGS_MAX][RADIO_AGES_MAX];
        int err = measure_early(price, meter, AWAKE_MS, below_mw);

        for (size_t k = radio_shape_early(shape); !err && k < shape->n_rungs; k++)
                err = measure_early(price, meter, radio_meter_sample_ms(shape, k, RADIO_SAMPLES / 2), early_mw[k]);
        for (size_t k = radio_shape_early(shape); !err && k < shape->n_rungs; k++)
                for (size_t d = 0; d < shape->n_ages; d++) {
                        price->cell_uj[radio_cell_early(shape, k, d)] = early_mw[k][d] - below_mw[d];
                        below_mw[d] = early_mw[k][d];
                }
        return err;
}

static int price_silences(struct radio_price *price, const struct radio_meter *meter)
{
        size_t classes = radio_shape_classes(price->shape);
        _cleanup_free_ struct radio_silence *silences = calloc(classes, sizeof(*silences));
        int err = silences ? 0 : -ENOMEM;

        for (size_t c = 0; !err && c < classes; c++)
                err = radio_meter_silence(meter, c, &silences[c]);
        for (size_t c = 0; !err && c < classes; c++)
                price_class(price, silences, c);
        return err;
}

/* Removes all rate rules. Returns whether there were any. */
static bool drop_rates(struct radio *radio)
{
        bool had = false;

        for (size_t i = 0; i < radio->n_states; i++) {
                had |= radio->states[i].rate.move.given;
                radio->states[i].rate.move.given = false;
        }
        return had;
}

/*
 * Finds all coefficients but the prices of packets and bytes. The early parts are measured without rate
 * rules: the packets that reveal a promotion may come at the rate of a rule, and would then measure that rule
 * instead.
 */
static int price_time(struct radio_price *price, const struct radio_meter *meter)
{
        _cleanup_(radio_meter_close) struct radio_meter calm = { 0 };
        bool rates = false;
        int err = radio_meter_open(&calm, &meter->radio, meter->signal, meter->shape);

        if (!err) {
                rates = drop_rates(&calm.radio);
                err = price_silences(price, &calm);
        }
        if (!err)
                err = price_early(price, &calm);
        return err || !rates ? err : price_silences(price, meter);
}

int radio_price_make(struct radio_price *price, const struct radio *radio, enum radio_signal signal,
                     const struct radio_shape *shape)
{
        struct radio_price made = { .shape = shape,
                                    .cell_uj = calloc(radio_shape_cells(shape), sizeof(*made.cell_uj)) };
        _cleanup_(radio_meter_close) struct radio_meter meter = { 0 };
        int err = made.cell_uj ? radio_meter_open(&meter, radio, signal, shape) : -ENOMEM;

        made.base_mw = meter.base_mw;
        if (!err)
                err = price_time(&made, &meter);
        for (size_t c = 0; !err && c < radio_shape_classes(shape); c++)
                for (size_t d = 0; !err && d < RADIO_DIRECTIONS; d++)
                        err = radio_meter_packets(&meter, radio, c, (enum radio_direction)d,
                                                  &made.cell_uj[radio_cell_packets(c, d)], &made.byte_uj[c][d]);
        if (err)
                radio_price_clear(&made);
        else
                *price = made;
        return err;
}

void radio_price_clear(struct radio_price *price)
{
        free(price->cell_uj);
        *price = (struct radio_price){ 0 };
}

/* Bytes are stored without a class; their classes are assumed to be those of the owner's packets. */
static double bytes_uj(const struct radio_price *price, const struct radio_amounts *amounts, size_t direction)
{
        double packets = 0, sum = 0;

        for (size_t c = 0; c < radio_shape_classes(price->shape); c++) {
                double n = (double)amounts->cells[radio_cell_packets(c, direction)];

                packets += n;
                sum += n * price->byte_uj[c][direction];
        }
        return packets > 0 ? sum / packets * (double)amounts->bytes[direction] : 0;
}

double radio_price_j(const struct radio_price *price, const struct radio_amounts *amounts)
{
        double uj = 0;

        for (size_t i = 0; i < radio_shape_cells(price->shape); i++)
                uj += price->cell_uj[i] * (double)amounts->cells[i];
        for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                uj += bytes_uj(price, amounts, d);
        return uj / UJ_PER_J;
}
