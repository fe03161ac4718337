/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio-private.h"

#include <math.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

#define SHORT 6           /* timers shorter than the ladder's, which are determined by the rate of packets */
#define END_MS 600        /* silence after which a high rate has ended */

const struct radio_traits radio_traits_wifi = { "wifi", 8000, true };
const struct radio_traits radio_traits_cellular = { "cellular", 26000, false };

void radio_columns_make(struct radio_columns *columns, const struct radio_traits *traits,
                        const struct radio_shape *shape)
{
        *columns = (struct radio_columns){ .traits = traits, .shape = shape,
                                           .n_rates = traits->thresholds ? shape->n_rates : 0 };
        for (int i = 0; i < SHORT; i++)
                columns->timer_ms[columns->n_timers++] = (double)shape->rung_ms[1] * exp2((i - SHORT) / 2.0);
        for (size_t k = 1; k < shape->n_rungs && shape->rung_ms[k] <= traits->timer_max_ms; k++)
                columns->timer_ms[columns->n_timers++] = (double)shape->rung_ms[k];
        while (shape->rung_ms[columns->end_rung] < END_MS)
                columns->end_rung++;
        columns->p = end_column(columns, columns->n_rates);
}

/*
 * Time in s that a radio with this timer was up after packets of a class. Packets closer than the shortest
 * rung are taken as evenly spaced.
 */
static double up_s(const struct radio_columns *columns, const struct radio_amounts *amounts, size_t class,
                   double packets, size_t timer)
{
        size_t rung = timer < SHORT ? 1 : timer - SHORT + 1;
        double up = (double)amounts->cells[radio_cell_up(columns->shape, class, rung)] / 1e3;

        return timer < SHORT ? fmin(up, packets * columns->timer_ms[timer] / 1e3) : up;
}

/* A class contributes to the columns of its own rate and of all lower ones. */
static void add_class(const struct radio_columns *columns, const struct radio_row *row, size_t class, double *x)
{
        const struct radio_amounts *amounts = &row->amounts;
        size_t rate = class % columns->shape->n_rates, rates = MIN(rate + 1, columns->n_rates);
        double packets = 0;

        for (size_t d = 0; d < RADIO_DIRECTIONS; d++) {
                double n = (double)amounts->cells[radio_cell_packets(class, d)];

                packets += n;
                x[COLUMN_PACKETS + d] += n / row->seconds;
        }
        for (size_t r = 0; r < rates; r++)
                x[end_column(columns, r)] +=
                        (double)amounts->cells[radio_cell_opened(columns->shape, class, columns->end_rung)] /
                        row->seconds;
        for (size_t t = 0; t < columns->n_timers; t++) {
                double up = up_s(columns, amounts, class, packets, t) / row->seconds;

                x[up_column(t)] += up;
                for (size_t r = 0; r < rates; r++)
                        x[above_column(columns, r, t)] += up;
        }
}

void radio_columns_row(const struct radio_columns *columns, const struct radio_row *row, double *x)
{
        memset(x, 0, columns->p * sizeof(*x));
        x[COLUMN_OFFSET] = 1;
        x[COLUMN_WAKES] = row->wakes / row->seconds;
        for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                x[COLUMN_MB + d] = (double)row->amounts.bytes[d] / BYTES_PER_MB / row->seconds;
        for (size_t c = 0; c < radio_shape_classes(columns->shape); c++)
                add_class(columns, row, c, x);
}
