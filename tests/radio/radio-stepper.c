/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-stepper.h"

#include <math.h>
#include <stdlib.h>

#include "util/wide.h"

typedef int_wide stepper_fj;

struct stepper {
        const struct radio *radio;
        enum radio_signal signal;
        int64_t tick_ns, now;
        size_t state;
        int64_t entered, busy_until, restarted;
        bool moved;
        struct stepper_packet *heard; /* in the order in which they were, with that tick */
        size_t n_heard;
        struct stepper_packet *waiting;
        size_t n_waiting;
        stepper_fj fj[RADIO_STATES_MAX];
        int64_t ticks[RADIO_STATES_MAX];
};

static int64_t ticks_of(const struct stepper *stepper, double ms)
{
        return llround(ms * 1e6) / stepper->tick_ns;
}

static const struct radio_state *here(const struct stepper *stepper)
{
        return &stepper->radio->states[stepper->state];
}

static void move(struct stepper *stepper, const struct radio_move *rule)
{
        if (rule->state == stepper->state)
                return;
        stepper->state = rule->state;
        stepper->entered = stepper->now;
        stepper->moved = true;
}

/* Counts packets and bytes of the last @ms, now included. */
static void count_heard(const struct stepper *stepper, double ms, uint64_t *packets, uint64_t *bytes)
{
        *packets = *bytes = 0;
        for (size_t i = stepper->n_heard; i > 0; i--) {
                if (stepper->heard[i - 1].tick <= stepper->now - ticks_of(stepper, ms))
                        break;
                *packets += 1;
                *bytes += stepper->heard[i - 1].bytes;
        }
}

static double price(const struct radio_value *of_state, const struct radio_value *of_radio)
{
        return !isnan(of_state->value) ? of_state->value : !isnan(of_radio->value) ? of_radio->value : 0;
}

static bool restarts(const struct stepper *stepper)
{
        const struct radio_state *state = here(stepper);
        uint64_t packets, bytes;

        count_heard(stepper, state->reset.ms, &packets, &bytes);
        return !state->reset.given || (packets >= state->reset.packets && bytes >= state->reset.bytes);
}

static void hear(struct stepper *stepper, enum radio_direction d, uint64_t bytes)
{
        const struct radio *radio = stepper->radio;
        uint64_t packets, sum;

        stepper->heard[stepper->n_heard++] = (struct stepper_packet){ stepper->now, d, bytes };
        if (here(stepper)->on[d].move.given && bytes >= here(stepper)->on[d].least_bytes)
                move(stepper, &here(stepper)->on[d].move);
        count_heard(stepper, here(stepper)->rate.ms, &packets, &sum);
        if (here(stepper)->rate.move.given && packets > here(stepper)->rate.packets)
                move(stepper, &here(stepper)->rate.move);
        stepper->fj[stepper->state] += (stepper_fj)bytes *
                        llround(price(&here(stepper)->nj_per_byte[d], &radio->nj_per_byte[d]) * 1e6);
        stepper->fj[stepper->state] +=
                        llround(price(&here(stepper)->nj_per_packet[d], &radio->nj_per_packet[d]) * 1e6);
        if (stepper->busy_until < stepper->now)
                stepper->busy_until = stepper->now;
        if (radio->phy_kbps[d] > 0)
                stepper->busy_until += ticks_of(stepper, 8.0 * (double)bytes / radio->phy_kbps[d]);
        if (restarts(stepper))
                stepper->restarted = stepper->busy_until;
}

static void timers(struct stepper *stepper);

/* At a pulse, or when the state that they waited in has ended. */
static void hear_waiting(struct stepper *stepper)
{
        size_t n = stepper->n_waiting;

        stepper->n_waiting = 0;
        for (size_t i = 0; i < n; i++) {
                hear(stepper, stepper->waiting[i].direction, stepper->waiting[i].bytes);
                timers(stepper);
        }
}

static void after_move(struct stepper *stepper)
{
        if (stepper->moved && stepper->n_waiting > 0)
                hear_waiting(stepper);
        stepper->moved = false;
}

static void timers(struct stepper *stepper)
{
        for (;;) {
                const struct radio_state *state = here(stepper);
                int64_t since = stepper->entered;

                if (!state->after.move.given || state->after.move.state == stepper->state)
                        return;
                if (!state->after.fixed && stepper->restarted > since)
                        since = stepper->restarted;
                if (stepper->now < since + ticks_of(stepper, state->after.ms))
                        return;
                move(stepper, &state->after.move);
                after_move(stepper);
        }
}

static void pulse(struct stepper *stepper)
{
        const struct radio_state *state = here(stepper);

        if (stepper->n_waiting == 0 ||
            (stepper->now - stepper->entered) % ticks_of(stepper, state->pulse.period_ms) != 0)
                return;
        hear_waiting(stepper);
        stepper->moved = false;
}

static void packet(struct stepper *stepper, const struct stepper_packet *packet)
{
        timers(stepper);
        if (here(stepper)->on[packet->direction].move.given && here(stepper)->on[packet->direction].at_pulse &&
            packet->bytes >= here(stepper)->on[packet->direction].least_bytes) {
                stepper->waiting[stepper->n_waiting++] = *packet;
                pulse(stepper);
        } else {
                hear(stepper, packet->direction, packet->bytes);
                after_move(stepper);
        }
        timers(stepper);
}

static void draw(struct stepper *stepper)
{
        const struct radio_state *state = here(stepper);
        int64_t uw = llround(radio_power_mw(state, stepper->signal) * 1e3);

        if (state->pulse.given && (stepper->now - stepper->entered) % ticks_of(stepper, state->pulse.period_ms) <
                                                  ticks_of(stepper, state->pulse.on_ms))
                uw = (state->pulse.absolute ? 0 : uw) + llround(state->pulse.mw * 1e3);
        stepper->fj[stepper->state] += (stepper_fj)uw * stepper->tick_ns;
        stepper->ticks[stepper->state]++;
}

void stepper_run(const struct radio *radio, enum radio_signal signal, int64_t tick_ns,
                 const struct stepper_packet *packets, size_t n_packets, int64_t until, struct stepper_total *totals)
{
        struct stepper stepper = { .radio = radio, .signal = signal, .tick_ns = tick_ns,
                                   .state = radio->initial.state };
        size_t next = 0;

        stepper.heard = calloc(n_packets + 1, sizeof(*stepper.heard));
        stepper.waiting = calloc(n_packets + 1, sizeof(*stepper.waiting));
        if (!stepper.heard || !stepper.waiting)
                abort();
        for (;; stepper.now++) {
                timers(&stepper);
                pulse(&stepper);
                timers(&stepper);
                if (stepper.now == until)
                        break;
                for (; next < n_packets && packets[next].tick == stepper.now; next++)
                        packet(&stepper, &packets[next]);
                draw(&stepper);
        }
        for (size_t i = 0; i < radio->n_states; i++)
                totals[i] = (struct stepper_total){ stepper.ticks[i], wide_to_double(stepper.fj[i]) / 1e15 };
        free(stepper.heard);
        free(stepper.waiting);
}
