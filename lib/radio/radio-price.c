/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-price.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "radio-meter.h"
#include "util/units.h"
#include "util/util.h"

#define AWAKE_MS 80 /* no radio sleeps within this silence */

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
