/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-price.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

#define SPACING_MS 25.0      /* within bursts, where the rate is low */
#define EARLY_SPACING_MS 40
#define SLEEP_MS 400000.0    /* longer than the timers together: after it the radio sleeps */
#define BASE_MS 1000000.0    /* over which its sleep is averaged */
#define WARM_S 20            /* of traffic, before what is measured */
#define SMALL_BYTES 100
#define LARGE_BYTES 1200
#define MORE_BYTES 100
#define BURST_PARTS 8
#define SAMPLES 4            /* of silences between two rungs */

static int64_t ns_of(double ms)
{
        return (int64_t)llround(ms * 1e6);
}

/* A radio whose packets have a price in one direction, or in none, and whose others take no time. 0; -ENOMEM. */
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

/* Another run that goes on from here, where nothing waits. 0; -ENOMEM. */
static int branch(const struct radio_run *from, struct radio_run *ret)
{
        struct radio_run run = *from;

        run.waiting = NULL;
        run.n_waiting = run.capacity = 0;
        if (from->recent) {
                run.recent = malloc(RADIO_PACKETS_MAX * sizeof(*run.recent));
                if (!run.recent)
                        return -ENOMEM;
                memcpy(run.recent, from->recent, RADIO_PACKETS_MAX * sizeof(*run.recent));
        }
        *ret = run;
        return 0;
}

static int pass(struct radio_run *run, double ms)
{
        return radio_run_until(run, run->now_ns + ns_of(ms));
}

/* Above the base, since the run began. */
static double above_uj(const struct radio_price *price, const struct radio_run *run)
{
        return radio_run_energy_j(run) * UJ_PER_J - price->base_mw * (double)run->now_ns / (double)NS_PER_MS;
}

static int find_base(struct radio_price *price, const struct radio *plain, enum radio_signal signal)
{
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        int err = radio_run_start(&run, plain, signal);
        double before_j;

        if (!err)
                err = radio_run_packet(&run, 0, RADIO_TX, LARGE_BYTES);
        if (!err)
                err = pass(&run, SLEEP_MS);
        before_j = radio_run_energy_j(&run);
        if (!err)
                err = pass(&run, BASE_MS);
        price->base_mw = (radio_run_energy_j(&run) - before_j) / BASE_MS * UJ_PER_J;
        return err;
}

struct class {
        int packets;       /* in its last second */
        double spacing_ms; /* among them */
        uint64_t bytes;
};

static struct class class_of(const struct radio_shape *shape, size_t index)
{
        size_t rate = index % shape->n_rates;
        double least = (double)shape->rate[rate];
        double most = rate + 1 < shape->n_rates ? (double)shape->rate[rate + 1] - 1 : least * 2;
        int packets = (int)round(sqrt(least * most));

        return (struct class){ packets, fmin(SPACING_MS, 1000.0 / packets),
                               index >= shape->n_rates ? LARGE_BYTES : SMALL_BYTES };
}

/* The class of a packet that comes so long after such traffic (measure_wake()). */
static size_t class_after(const struct radio_shape *shape, size_t index, double gap_ms)
{
        struct class class = class_of(shape, index);
        size_t rate = 0;
        int packets = 1;

        for (int i = 0; i < MAX(1, class.packets - 1); i++)
                packets += i * class.spacing_ms + gap_ms < 1000;
        while (rate + 1 < shape->n_rates && packets >= shape->rate[rate + 1])
                rate++;
        return rate + (index >= shape->n_rates ? shape->n_rates : 0);
}

/* Seconds of such traffic in both directions by turns, the last packet included, but for the @less last. 0; -ENOMEM. */
static int warm(struct radio_run *run, const struct class *class, size_t first, uint64_t bytes, int less)
{
        int err = 0;

        for (int n = 0; !err && n < WARM_S * class->packets - less; n++) {
                int s = n / class->packets, i = n % class->packets;

                err = radio_run_packet(run, s * (int64_t)NS_PER_S + ns_of(i * class->spacing_ms),
                                       ((size_t)i + first) % 2 ? RADIO_RX : RADIO_TX, bytes);
        }
        return err;
}

static int warm_uj(const struct radio_price *price, const struct radio *radio, enum radio_signal signal,
                   const struct class *class, size_t first, uint64_t bytes, double *ret)
{
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        int err = radio_run_start(&run, radio, signal);

        if (!err)
                err = warm(&run, class, first, bytes, 0);
        if (!err)
                err = radio_run_until(&run, WARM_S * (int64_t)NS_PER_S);
        *ret = above_uj(price, &run);
        return err;
}

/* What packets and bytes of a class take, beside the time that they keep the radio up. 0; -ENOMEM. */
static int price_packets(struct radio_price *price, const struct radio *radio, const struct radio *plain,
                         enum radio_signal signal, size_t index)
{
        struct class class = class_of(price->shape, index);
        int packets = (class.packets + 1) / 2 * WARM_S, err = 0;

        for (size_t d = 0; !err && d < RADIO_DIRECTIONS; d++) {
                _cleanup_(radio_clear) struct radio priced = { 0 };
                double none_uj, some_uj, more_uj;

                err = copy_priced(radio, d == RADIO_TX, d == RADIO_RX, &priced);
                if (!err)
                        err = warm_uj(price, plain, signal, &class, d, class.bytes, &none_uj);
                if (!err)
                        err = warm_uj(price, &priced, signal, &class, d, class.bytes, &some_uj);
                if (!err)
                        err = warm_uj(price, &priced, signal, &class, d, class.bytes + MORE_BYTES, &more_uj);
                if (err)
                        break;
                price->byte_uj[index][d] = (more_uj - some_uj) / MORE_BYTES / packets;
                price->cell_uj[radio_cell_packets(index, d)] =
                        (some_uj - none_uj) / packets - price->byte_uj[index][d] * (double)class.bytes;
        }
        return err;
}

/* By the silence after a packet of a class, as if packets had no price of their own; all above the base. */
struct curves {
        double burst_mw;                          /* while packets come as closely as in a burst */
        double up_uj[RADIO_RUNGS_MAX];            /* from the packet to each rung */
        double end_uj[RADIO_RUNGS_MAX][SAMPLES];  /* to a silence between it and the next */
        double wake_uj[RADIO_RUNGS_MAX][SAMPLES]; /* from the packet that ends it on, if no other comes */
        double tail_uj;                           /* from the packet on, if no other comes */
};

static double sample_ms(const struct radio_shape *shape, size_t rung, int sample)
{
        double from = rung > 0 ? (double)shape->rung_ms[rung] : (double)shape->rung_ms[1] / 4;
        double to = rung + 1 < shape->n_rungs ? (double)shape->rung_ms[rung + 1] : from * 1.4;

        return from * pow(to / from, (sample + 0.5) / SAMPLES);
}

static int measure_wake(const struct radio_price *price, const struct radio_run *run, uint64_t bytes, double *ret)
{
        _cleanup_(radio_run_clear) struct radio_run woken = { 0 };
        int err = branch(run, &woken);

        if (!err)
                err = radio_run_packet(&woken, woken.now_ns, RADIO_TX, bytes);
        if (!err)
                err = pass(&woken, SLEEP_MS);
        *ret = above_uj(price, &woken) - above_uj(price, run);
        return err;
}

/*
 * From a packet to the next of its burst. Where they come closely, they do not come evenly: as in an exponential
 * distribution, in parts that are as likely. 0; -ENOMEM.
 */
static int measure_burst(const struct radio_price *price, const struct radio_run *packet, const struct class *class,
                         double *ret)
{
        int n = class->packets > (int)RADIO_DENSE ? BURST_PARTS : 1;
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        double passed_ms = 0, sum_uj = 0, sum_ms = 0;
        int err = branch(packet, &run);

        for (int i = 0; !err && i < n; i++) {
                double ms = n > 1 ? -class->spacing_ms * log(1 - (i + 0.5) / n) : class->spacing_ms;

                err = pass(&run, ms - passed_ms);
                passed_ms = ms;
                sum_ms += ms;
                sum_uj += above_uj(price, &run) - above_uj(price, packet);
        }
        *ret = sum_uj / sum_ms;
        return err;
}

/*
 * What waking takes after each silence, counting the packet that wakes as one of the class: with one more, it would go
 * beyond a threshold that the class is just below, and seem to wake the radio each time.
 */
static int measure_wakes(const struct radio_price *price, const struct radio *plain, enum radio_signal signal,
                         const struct class *class, struct curves *curves)
{
        const struct radio_shape *shape = price->shape;
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        int64_t start_ns;
        int err = radio_run_start(&run, plain, signal);

        if (!err)
                err = warm(&run, class, RADIO_TX, class->bytes, 1);
        start_ns = run.now_ns;
        for (size_t k = 0; !err && k < shape->n_rungs; k++)
                for (int i = 0; !err && i < SAMPLES; i++) {
                        err = radio_run_until(&run, start_ns + ns_of(sample_ms(shape, k, i)));
                        if (!err)
                                err = measure_wake(price, &run, class->bytes, &curves->wake_uj[k][i]);
                }
        return err;
}

static int measure(const struct radio_price *price, const struct radio *plain, enum radio_signal signal, size_t index,
                   struct curves *curves)
{
        const struct radio_shape *shape = price->shape;
        struct class class = class_of(shape, index);
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        double zero_uj;
        int64_t start_ns;
        int err = radio_run_start(&run, plain, signal);

        if (!err)
                err = warm(&run, &class, RADIO_TX, class.bytes, 0);
        if (!err)
                err = measure_burst(price, &run, &class, &curves->burst_mw);
        zero_uj = above_uj(price, &run);
        start_ns = run.now_ns;
        for (size_t k = 0; !err && k < shape->n_rungs; k++) {
                err = radio_run_until(&run, start_ns + ns_of((double)shape->rung_ms[k]));
                curves->up_uj[k] = above_uj(price, &run) - zero_uj;
                for (int i = 0; !err && i < SAMPLES; i++) {
                        err = radio_run_until(&run, start_ns + ns_of(sample_ms(shape, k, i)));
                        curves->end_uj[k][i] = above_uj(price, &run) - zero_uj;
                }
        }
        if (!err)
                err = pass(&run, SLEEP_MS);
        curves->tail_uj = above_uj(price, &run) - zero_uj;
        return err ? err : measure_wakes(price, plain, signal, &class, curves);
}

/*
 * A silence takes, rung by rung, the time up there at the mean power between two rungs; and, from each rung on, what is
 * more at its end and what waking costs more than a packet of the next class that is awake.
 */
static void price_class(struct radio_price *price, const struct curves *curves, size_t index)
{
        const struct radio_shape *shape = price->shape;
        const struct curves *own = &curves[index];
        double below_mw = own->burst_mw, before_uj = 0;

        for (size_t k = 0; k < shape->n_rungs; k++) {
                bool last = k + 1 == shape->n_rungs;
                double above_mw = last ? 0 : (own->up_uj[k + 1] - own->up_uj[k]) /
                                             (double)(shape->rung_ms[k + 1] - shape->rung_ms[k]);
                double jump_uj = 0;

                for (int i = 0; i < SAMPLES; i++) {
                        double ms = sample_ms(shape, k, i);
                        const struct curves *next = &curves[class_after(shape, index, ms)];

                        jump_uj += (own->wake_uj[k][i] - next->tail_uj + own->end_uj[k][i] - own->up_uj[k] -
                                    above_mw * (ms - (double)shape->rung_ms[k])) / SAMPLES;
                }
                price->cell_uj[radio_cell_up(shape, index, k)] = below_mw - above_mw;
                price->cell_uj[radio_cell_opened(shape, index, k)] = jump_uj - before_uj;
                below_mw = above_mw;
                before_uj = jump_uj;
        }
}

/* What a span takes that is opened after such a silence and lasts so long, beside what its amounts cost so far. */
static int beside_uj(const struct radio_price *price, const struct radio *plain, enum radio_signal signal,
                     double gap_ms, double span_ms, double *ret)
{
        const int64_t warm_ns = WARM_S * (int64_t)NS_PER_S;
        int64_t first_ns = warm_ns + ns_of(gap_ms), until_ns = first_ns + ns_of(span_ms + SLEEP_MS);
        struct radio_burst bursts[] = { { .last_ns = warm_ns },
                                        { .first_ns = first_ns, .last_ns = first_ns + ns_of(span_ms) } };
        _cleanup_(radio_ladder_clear) struct radio_ladder ladder = { 0 };
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        int err = radio_run_start(&run, plain, signal);

        if (!err)
                err = radio_ladder_start(&ladder, price->shape);
        for (size_t b = 0; b < ARRAY_SIZE(bursts); b++)
                for (int64_t at = bursts[b].first_ns; !err && at <= bursts[b].last_ns; at += ns_of(EARLY_SPACING_MS)) {
                        enum radio_direction d = bursts[b].packets[RADIO_TX] > bursts[b].packets[RADIO_RX];

                        bursts[b].packets[d]++;
                        bursts[b].large++;
                        err = radio_run_packet(&run, at, d, LARGE_BYTES);
                }
        if (!err)
                err = radio_run_until(&run, until_ns);
        if (!err)
                err = radio_ladder_poll(&ladder, bursts, ARRAY_SIZE(bursts), until_ns);
        if (!err)
                *ret = above_uj(price, &run) - radio_price_j(price, &ladder.owners[0]) * UJ_PER_J;
        return err;
}

/* @ret: a mean power at each age, of spans that are opened after such a silence. */
static int measure_early(const struct radio_price *price, const struct radio *plain, enum radio_signal signal,
                         double gap_ms, double *ret)
{
        double lower_ms = 0, before_uj, uj;
        int err = beside_uj(price, plain, signal, gap_ms, 0, &before_uj);

        for (size_t d = 0; !err && d < price->shape->n_ages; d++) {
                double age_ms = (double)price->shape->age_ms[d];

                err = beside_uj(price, plain, signal, gap_ms, age_ms, &uj);
                if (!err)
                        ret[d] = (uj - before_uj) / (age_ms - lower_ms);
                before_uj = uj;
                lower_ms = age_ms;
        }
        return err;
}

/* A promotion goes on beside the first packets. The coefficients are as for a span that is awake, and what differs. */
static int price_early(struct radio_price *price, const struct radio *plain, enum radio_signal signal)
{
        const struct radio_shape *shape = price->shape;
        double below_mw[RADIO_AGES_MAX], early_mw[RADIO_RUNGS_MAX][RADIO_AGES_MAX];
        int err = measure_early(price, plain, signal, 2 * EARLY_SPACING_MS, below_mw);

        for (size_t k = radio_shape_early(shape); !err && k < shape->n_rungs; k++)
                err = measure_early(price, plain, signal, sample_ms(shape, k, SAMPLES / 2), early_mw[k]);
        for (size_t k = radio_shape_early(shape); !err && k < shape->n_rungs; k++)
                for (size_t d = 0; d < shape->n_ages; d++) {
                        price->cell_uj[radio_cell_early(shape, k, d)] = early_mw[k][d] - below_mw[d];
                        below_mw[d] = early_mw[k][d];
                }
        return err;
}

/* All but the prices of packets and bytes. */
static int price_time(struct radio_price *price, const struct radio *plain, enum radio_signal signal)
{
        size_t classes = radio_shape_classes(price->shape);
        _cleanup_free_ struct curves *curves = calloc(classes, sizeof(*curves));
        int err;

        price->cell_uj = calloc(radio_shape_cells(price->shape), sizeof(*price->cell_uj));
        if (!curves || !price->cell_uj)
                return -ENOMEM;
        err = find_base(price, plain, signal);
        for (size_t c = 0; !err && c < classes; c++)
                err = measure(price, plain, signal, c, &curves[c]);
        for (size_t c = 0; !err && c < classes; c++)
                price_class(price, curves, c);
        return err;
}

/* As if no rate moved it: where the packets that show a promotion come at the rate of a rule, they would show that. */
static int price_calm(struct radio_price *price, struct radio *plain, enum radio_signal signal)
{
        _cleanup_(radio_price_clear) struct radio_price calm = { .shape = price->shape };
        size_t first = radio_cell_early(price->shape, 0, 0), end = radio_shape_cells(price->shape);
        int err;

        for (size_t i = 0; i < plain->n_states; i++)
                plain->states[i].rate.move.given = false;
        err = price_time(&calm, plain, signal);
        if (!err)
                err = price_early(&calm, plain, signal);
        if (!err)
                memcpy(price->cell_uj + first, calm.cell_uj + first, (end - first) * sizeof(*price->cell_uj));
        return err;
}

int radio_price_make(struct radio_price *price, const struct radio *radio, enum radio_signal signal,
                     const struct radio_shape *shape)
{
        _cleanup_(radio_clear) struct radio plain = { 0 };
        struct radio_price made = { .shape = shape };
        int err = copy_priced(radio, false, false, &plain);

        if (!err)
                err = price_time(&made, &plain, signal);
        for (size_t c = 0; !err && c < radio_shape_classes(shape); c++)
                err = price_packets(&made, radio, &plain, signal, c);
        if (!err)
                err = price_calm(&made, &plain, signal);
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

/* Bytes are stored without their class: those of an owner's packets. */
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
