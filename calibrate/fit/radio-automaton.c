/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Converts the columns of a model to the states of a radio. */

#include "radio-private.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 3     /* most timers */
#define NEGLIGIBLE 0.05 /* a smaller part of the power is attributed to an error of the base */
#define NEIGHBOURS 1.5  /* timers at two adjacent rungs stand for one timer between them */
#define BUSY_MAX_MS 60000.0 /* far longer than that of any known radio */
#define RATE_MS 1000    /* period in which a threshold counts packets: a second in all radios known to us */

struct step {
        double ms, mw; /* power until this time after a packet */
};

static void merge_steps(struct step *steps, size_t *n, size_t at)
{
        double mw = steps[at].mw + steps[at + 1].mw;

        steps[at].ms = (steps[at].ms * steps[at].mw + steps[at + 1].ms * steps[at + 1].mw) / mw;
        steps[at].mw = mw;
        memmove(&steps[at + 1], &steps[at + 2], (*n - at - 2) * sizeof(*steps));
        (*n)--;
}

/* Index of the two timers that are closest. */
static size_t closest(const struct step *steps, size_t n)
{
        size_t at = 0;

        for (size_t i = 1; i + 1 < n; i++)
                if (steps[i + 1].ms / steps[i].ms < steps[at + 1].ms / steps[at].ms)
                        at = i;
        return at;
}

static size_t steps_of(const struct radio_columns *columns, const struct radio_model *model, struct step *steps)
{
        double all = 0;
        size_t n = 0;

        for (size_t t = 0; t < columns->n_timers; t++)
                all += model->value[up_column(t)];
        for (size_t t = 0; t < columns->n_timers; t++)
                if (model->value[up_column(t)] > NEGLIGIBLE * all)
                        steps[n++] = (struct step){ columns->timer_ms[t], model->value[up_column(t)] };
        for (size_t at = n > 1 ? closest(steps, n) : 0;
             n > 1 && (n > STEPS_MAX || steps[at + 1].ms / steps[at].ms < NEIGHBOURS); at = closest(steps, n))
                merge_steps(steps, &n, at);
        return n;
}

static double rounded(double value)
{
        return round(value * 1e3) / 1e3;
}

static struct radio_state *add_state(struct radio *radio, const char *name, double mw)
{
        struct radio_state *state = &radio->states[radio->n_states++];

        *state = (struct radio_state){ .power_mw = { rounded(mw), NAN } };
        snprintf(state->name, sizeof(state->name), "%s", name);
        for (size_t s = 0; s < RADIO_SIGNALS; s++)
                state->signal_mw[s] = (struct radio_value){ NAN, NAN };
        for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                state->nj_per_byte[d] = state->nj_per_packet[d] = (struct radio_value){ NAN, NAN };
        return state;
}

static struct radio_move move_to(const char *name)
{
        struct radio_move move = { .given = true };

        snprintf(move.name, sizeof(move.name), "%s", name);
        return move;
}

static void on_packet(struct radio_state *state, const char *name)
{
        for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                state->on[d].move = move_to(name);
}

static void set_after(struct radio_state *state, double ms, const char *name)
{
        state->after.move = move_to(name);
        state->after.ms = rounded(ms);
}

static const char *const step_names[STEPS_MAX] = { "awake", "awake-2", "awake-3" };

/*
 * Additional power above a rate, for @ms after a packet, and the additional energy until the radio is awake
 * again. 0 packets: no threshold.
 */
struct threshold {
        double packets, mw, ms, end_uj;
};

static struct threshold threshold_of(const struct radio_columns *columns, const struct radio_model *model)
{
        struct threshold sum = { 0 };

        for (size_t r = 0; r < columns->n_rates; r++) {
                sum.end_uj += 1e3 * model->value[end_column(columns, r)];
                for (size_t t = 0; t < columns->n_timers; t++) {
                        double mw = model->value[above_column(columns, r, t)];

                        sum.mw += mw;
                        sum.ms += mw * columns->timer_ms[t];
                        sum.packets += mw * (double)columns->shape->rate[r];
                }
        }
        if (!(sum.mw > 0))
                return sum;
        return (struct threshold){ .packets = fmax(1, round(sum.packets / sum.mw) - 1), .mw = sum.mw,
                                   .ms = sum.ms / sum.mw, .end_uj = sum.end_uj };
}

static void set_rate(struct radio_state *state, const struct threshold *threshold)
{
        if (!(threshold->packets > 0))
                return;
        state->rate.move = move_to("busy");
        state->rate.packets = (uint64_t)threshold->packets;
        state->rate.ms = RATE_MS;
}

/* The states: rest; awake after a packet; steps down again; and busy above a rate. */
int radio_automaton(const struct radio_columns *columns, const struct radio_model *model, struct radio *ret)
{
        struct threshold threshold = threshold_of(columns, model);
        struct step steps[RADIO_RUNGS_MAX];
        size_t n = steps_of(columns, model, steps);
        double mw = 0;
        struct radio radio = { .states = calloc(STEPS_MAX + 2, sizeof(*radio.states)), .verified = -1,
                               .phy_kbps = { NAN, NAN } };

        if (!radio.states)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                mw += steps[i].mw;
        if (!(rounded(mw) > 0)) {
                free(radio.states);
                return -ENODATA;
        }
        snprintf(radio.name, sizeof(radio.name), "%s", columns->traits->name);
        radio.initial = move_to("rest");
        for (size_t d = 0; d < RADIO_DIRECTIONS; d++) {
                radio.nj_per_packet[d] = (struct radio_value){ rounded(model->value[COLUMN_PACKETS + d] * 1e6), NAN };
                radio.nj_per_byte[d] = (struct radio_value){ rounded(model->value[COLUMN_MB + d]), NAN };
        }
        on_packet(add_state(&radio, "rest", 0), step_names[0]);
        for (size_t i = 0; i < n; i++) {
                struct radio_state *state = add_state(&radio, step_names[i], mw);

                if (i > 0)
                        on_packet(state, step_names[0]);
                set_rate(state, &threshold);
                set_after(state, steps[i].ms - (i > 0 ? steps[i - 1].ms : 0), i + 1 < n ? step_names[i + 1] : "rest");
                mw -= steps[i].mw;
        }
        if (threshold.packets > 0) {
                struct radio_state *busy = add_state(&radio, "busy", radio.states[1].power_mw.value + threshold.mw);
                double ms = (threshold.mw * threshold.ms + threshold.end_uj) / busy->power_mw.value;

                busy->reset.given = true;
                busy->reset.packets = (uint64_t)threshold.packets + 1;
                busy->reset.ms = RATE_MS;
                set_after(busy, fmin(ms, BUSY_MAX_MS), step_names[0]);
        }
        *ret = radio;
        return 0;
}
