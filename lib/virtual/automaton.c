/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "automaton.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define LONGEST_NS 1e18 /* thirty years, so that the sum of a few such times does not overflow */

static uint64_t to_ns(double ms)
{
        return (uint64_t)llround(fmin(ms * 1e6, LONGEST_NS));
}

static fj price(const struct radio_value *own, const struct radio_value *usual)
{
        double nj = isnan(own->value) ? usual->value : own->value;

        return isnan(nj) ? 0 : (fj)llround(nj * 1e6);
}

static void make_state(struct automaton_state *to, const struct radio_state *from, const struct radio *radio)
{
        to->power_uw = llround(1e3 * radio_power_mw(from, RADIO_SIGNAL_HIGH));
        if (from->pulse.given) {
                to->pulse_uw = llround(1e3 * from->pulse.mw) - (from->pulse.absolute ? to->power_uw : 0);
                to->on_ns = to_ns(from->pulse.on_ms);
                to->period_ns = to_ns(from->pulse.period_ms);
        }
        for (unsigned d = 0; d < RADIO_DIRECTIONS; d++) {
                to->on[d].given = from->on[d].move.given;
                to->on[d].at_pulse = from->on[d].at_pulse && to->period_ns > 0;
                to->on[d].state = from->on[d].move.state;
                to->on[d].least_bytes = from->on[d].least_bytes;
                to->on[d].byte_fj = price(&from->nj_per_byte[d], &radio->nj_per_byte[d]);
                to->on[d].packet_fj = price(&from->nj_per_packet[d], &radio->nj_per_packet[d]);
        }
        to->next = from->after.move.state;
        to->ends = from->after.move.given;
        to->fixed = from->after.fixed;
        to->after_ns = to_ns(from->after.ms);
        to->counts = from->rate.move.given;
        to->busier = from->rate.move.state;
        to->rate_packets = from->rate.packets;
        to->rate_ns = to_ns(from->rate.ms);
        to->resets = from->reset.given;
        to->reset_bytes = from->reset.bytes;
        to->reset_packets = from->reset.packets;
        to->reset_ns = to_ns(from->reset.ms);
}

/*
 * Marks the states where silence ends: one without a timer, or a cycle of timers. After n steps from any
 * state, the automaton is in one of them.
 */
static void find_rest(struct automaton *automaton)
{
        struct automaton_state *states = automaton->states;

        for (size_t i = 0; i < automaton->n_states; i++)
                if (states[i].next == i)
                        states[i].ends = false;
        for (size_t i = 0; i < automaton->n_states; i++) {
                size_t at = i;

                for (size_t step = 0; step < automaton->n_states && states[at].ends; step++)
                        at = states[at].next;
                for (size_t step = 0; step < automaton->n_states && !states[at].rests; step++) {
                        states[at].rests = true;
                        at = states[at].ends ? states[at].next : at;
                }
        }
}

static double mean_power_uw(const struct automaton_state *state)
{
        double pulse_uw = state->period_ns > 0 ? (double)state->pulse_uw * (double)state->on_ns /
                          (double)state->period_ns : 0;

        return (double)state->power_uw + pulse_uw;
}

/* Mean power of the state, or the cycle of states, in which silence after a first packet ends. */
static int64_t find_rest_power(const struct automaton *automaton)
{
        const struct automaton_state *states = automaton->states, *first = &states[automaton->initial];
        size_t at = first->on[RADIO_TX].given ? first->on[RADIO_TX].state : automaton->initial, begin;
        double energy = 0, time_ns = 0;

        while (!states[at].rests)
                at = states[at].next;
        begin = at;
        do {
                energy += mean_power_uw(&states[at]) * (double)states[at].after_ns;
                time_ns += (double)states[at].after_ns;
                at = states[at].next;
        } while (states[begin].ends && at != begin);
        return llround(states[begin].ends ? energy / time_ns : mean_power_uw(&states[begin]));
}

int automaton_init(struct automaton *automaton, const struct radio *radio, uint64_t now_ns)
{
        *automaton = (struct automaton){ .n_states = radio->n_states, .initial = radio->initial.state };
        for (size_t i = 0; i < radio->n_states; i++)
                make_state(&automaton->states[i], &radio->states[i], radio);
        for (unsigned d = 0; d < RADIO_DIRECTIONS; d++)
                automaton->ns_per_byte[d] = radio->phy_kbps[d] > 0 ? 8e6 / radio->phy_kbps[d] : 0;
        find_rest(automaton);
        automaton->rest_uw = find_rest_power(automaton);
        automaton->recent = calloc(RADIO_PACKETS_MAX, sizeof(*automaton->recent));
        if (!automaton->recent)
                return -ENOMEM;
        automaton_restart(automaton, now_ns);
        return 0;
}

void automaton_clear(struct automaton *automaton)
{
        free(automaton->recent);
        free(automaton->held);
        free(automaton->owners);
        *automaton = (struct automaton){ 0 };
}

/* Split among all who keep the radio awake; the remainder goes to who woke it. */
static fj shared_part(const struct automaton *automaton, size_t owner)
{
        return wide_divide(automaton->span.shared * automaton->owners[owner].packets, automaton->span.packets);
}

static fj span_part(const struct automaton *automaton, size_t owner)
{
        fj part;

        if (!automaton->span.open)
                return 0;
        if (owner != automaton->span.opener)
                return shared_part(automaton, owner);
        part = automaton->span.promotion + automaton->span.shared + automaton->span.tail;
        for (size_t i = 0; i < automaton->n_owners; i++)
                part -= i == owner ? 0 : shared_part(automaton, i);
        return part;
}

static void end_span(struct automaton *automaton)
{
        if (!automaton->span.open)
                return;
        for (size_t i = 0; i < automaton->n_owners; i++)
                automaton->owners[i].energy += span_part(automaton, i);
        for (size_t i = 0; i < automaton->n_owners; i++)
                automaton->owners[i].packets = 0;
        memset(&automaton->span, 0, sizeof(automaton->span));
}

void automaton_restart(struct automaton *automaton, uint64_t now_ns)
{
        end_span(automaton);
        automaton->now_ns = automaton->began_ns = automaton->quiet_ns = automaton->air_ns = now_ns;
        automaton->state = automaton->initial;
        automaton->n_packets = automaton->n_held = automaton->n_heard = 0;
        automaton->fresh = false;
}

static uint64_t on_until(const struct automaton_state *state, uint64_t age_ns)
{
        uint64_t part_ns = age_ns % state->period_ns;

        return age_ns / state->period_ns * state->on_ns + MIN(part_ns, state->on_ns);
}

static void book(struct automaton *automaton, uint64_t time_ns, fj energy)
{
        fj rest = (fj)automaton->rest_uw * time_ns;

        automaton->state_energy[automaton->state] += energy;
        if (!automaton->span.open) {
                automaton->base += energy;
                return;
        }
        automaton->base += rest;
        energy -= rest;
        if (automaton->span.promoting)
                automaton->span.promotion += energy;
        else if (automaton->now_ns < automaton->air_ns)
                automaton->span.shared += energy;
        else
                automaton->span.tail += energy;
}

/* Lets time pass without events. Time while a packet is on the air is not part of the tail yet. */
static void pass(struct automaton *automaton, uint64_t until_ns)
{
        const struct automaton_state *state = &automaton->states[automaton->state];

        while (automaton->now_ns < until_ns) {
                bool sending = automaton->now_ns < automaton->air_ns;
                uint64_t to_ns = sending ? MIN(until_ns, automaton->air_ns) : until_ns;
                fj energy = (fj)state->power_uw * (to_ns - automaton->now_ns);

                if (state->period_ns > 0)
                        energy += (fj)state->pulse_uw * (on_until(state, to_ns - automaton->began_ns) -
                                                         on_until(state, automaton->now_ns - automaton->began_ns));
                book(automaton, to_ns - automaton->now_ns, energy);
                automaton->state_ns[automaton->state] += to_ns - automaton->now_ns;
                automaton->now_ns = to_ns;
        }
}

static void enter(struct automaton *automaton, size_t state)
{
        if (state == automaton->state)
                return;
        automaton->state = state;
        automaton->began_ns = automaton->now_ns;
        automaton->fresh |= automaton->n_held > 0 && automaton->n_heard == 0;
        automaton->heard_ns = MIN(automaton->heard_ns, automaton->now_ns);
        if (!automaton->states[state].fixed)
                automaton->span.promoting = false;
        if (automaton->states[state].rests)
                end_span(automaton);
}

/* Counts bytes or packets within the last @length_ns, up to @enough. */
static uint64_t count_recent(const struct automaton *automaton, uint64_t length_ns, bool bytes, uint64_t enough)
{
        uint64_t n = 0, kept = MIN(automaton->n_packets, (uint64_t)RADIO_PACKETS_MAX);

        for (uint64_t i = 1; i <= kept && n < enough; i++) {
                const struct automaton_packet *packet =
                        &automaton->recent[(automaton->n_packets - i) % RADIO_PACKETS_MAX];

                if (automaton->now_ns - packet->time_ns >= length_ns)
                        break;
                n += bytes ? packet->bytes : 1;
        }
        return n;
}

static bool restarts(const struct automaton *automaton, const struct automaton_state *state)
{
        return !state->resets ||
               (count_recent(automaton, state->reset_ns, true, state->reset_bytes) >= state->reset_bytes &&
                count_recent(automaton, state->reset_ns, false, state->reset_packets) >= state->reset_packets);
}

static void send(struct automaton *automaton, const struct automaton_packet *packet)
{
        const struct automaton_state *state = &automaton->states[automaton->state];
        fj cost = state->on[packet->direction].byte_fj * packet->bytes + state->on[packet->direction].packet_fj;
        double air_ns = automaton->ns_per_byte[packet->direction] * (double)packet->bytes;

        automaton->state_energy[automaton->state] += cost;
        automaton->owners[packet->owner].energy += cost;
        automaton->air_ns = MAX(automaton->air_ns, automaton->now_ns) + (uint64_t)llround(fmin(air_ns, LONGEST_NS));
        automaton->air_ns = MIN(automaton->air_ns, UINT64_MAX / 4);
        if (restarts(automaton, state))
                automaton->quiet_ns = automaton->air_ns;
        if (state->rests)
                return;
        if (!automaton->span.open) {
                automaton->span.open = true;
                automaton->span.opener = packet->owner;
                automaton->span.promoting = state->ends && state->fixed;
        }
        automaton->span.shared += automaton->span.tail;
        automaton->span.tail = 0;
        automaton->span.packets++;
        automaton->owners[packet->owner].packets++;
}

static int hold(struct automaton *automaton, const struct automaton_packet *packet)
{
        const struct automaton_state *state = &automaton->states[automaton->state];
        uint64_t age_ns = automaton->now_ns - automaton->began_ns;

        if (automaton->n_held == AUTOMATON_HELD_MAX)
                return -ENOBUFS;
        if (util_grow(&automaton->held, &automaton->held_capacity, automaton->n_held + 1, sizeof(*packet)) < 0)
                return -ENOMEM;
        automaton->held[automaton->n_held++] = *packet;
        automaton->heard_ns = automaton->began_ns + (age_ns / state->period_ns + 1) * state->period_ns;
        return 0;
}

static int come(struct automaton *automaton, struct automaton_packet packet)
{
        const struct automaton_state *state = &automaton->states[automaton->state];
        unsigned d = packet.direction;
        bool led = state->on[d].given && packet.bytes >= state->on[d].least_bytes;

        packet.time_ns = automaton->now_ns;
        if (led && state->on[d].at_pulse && (automaton->now_ns - automaton->began_ns) % state->period_ns != 0)
                return hold(automaton, &packet);
        if (led)
                enter(automaton, state->on[d].state);
        automaton->recent[automaton->n_packets++ % RADIO_PACKETS_MAX] = packet;
        state = &automaton->states[automaton->state];
        if (state->counts &&
            count_recent(automaton, state->rate_ns, false, state->rate_packets + 1) > state->rate_packets)
                enter(automaton, state->busier);
        send(automaton, &packet);
        return 0;
}

/* End of the state's timer; UINT64_MAX: never. */
static uint64_t state_end(const struct automaton *automaton)
{
        const struct automaton_state *state = &automaton->states[automaton->state];

        if (!state->ends)
                return UINT64_MAX;
        return (state->fixed ? automaton->began_ns : MAX(automaton->began_ns, automaton->quiet_ns)) + state->after_ns;
}

/* Receives the first of the waiting packets. */
static int hear(struct automaton *automaton)
{
        struct automaton_packet packet = automaton->held[automaton->n_heard++];
        int err;

        if (automaton->n_heard == automaton->n_held)
                automaton->n_heard = automaton->n_held = 0;
        err = come(automaton, packet);
        automaton->fresh = false;
        return err;
}

int automaton_run(struct automaton *automaton, uint64_t until_ns)
{
        for (;;) {
                uint64_t end_ns = state_end(automaton);
                uint64_t heard_ns = automaton->n_held > 0 ? automaton->heard_ns : UINT64_MAX;
                int err = 0;

                if (MIN(end_ns, heard_ns) > until_ns)
                        break;
                pass(automaton, MIN(end_ns, heard_ns));
                if (end_ns < heard_ns || (end_ns == heard_ns && !automaton->fresh))
                        enter(automaton, automaton->states[automaton->state].next);
                else
                        err = hear(automaton);
                if (err)
                        return err;
        }
        pass(automaton, until_ns);
        return 0;
}

int automaton_packet(struct automaton *automaton, uint64_t now_ns, enum radio_direction direction, uint64_t bytes,
                     size_t owner)
{
        size_t before = automaton->n_owners;
        int err = automaton_run(automaton, now_ns);

        if (!err)
                err = util_grow(&automaton->owners, &automaton->owners_capacity, owner + 1,
                                sizeof(*automaton->owners));
        if (err)
                return err;
        if (owner >= before) {
                memset(automaton->owners + before, 0, (owner + 1 - before) * sizeof(*automaton->owners));
                automaton->n_owners = owner + 1;
        }
        return come(automaton, (struct automaton_packet){ .bytes = bytes, .owner = owner, .direction = direction });
}

double automaton_power_w(const struct automaton *automaton)
{
        return mean_power_uw(&automaton->states[automaton->state]) / 1e6;
}

fj automaton_total(const struct automaton *automaton)
{
        fj total = 0;

        for (size_t i = 0; i < automaton->n_states; i++)
                total += automaton->state_energy[i];
        return total;
}

fj automaton_of(const struct automaton *automaton, size_t owner)
{
        if (owner >= automaton->n_owners)
                return 0;
        return automaton->owners[owner].energy + span_part(automaton, owner);
}

void automaton_forget(struct automaton *automaton)
{
        for (size_t i = 0; i < automaton->n_owners; i++)
                automaton->owners[i].energy = 0;
        memset(automaton->state_energy, 0, sizeof(automaton->state_energy));
        memset(automaton->state_ns, 0, sizeof(automaton->state_ns));
        automaton->base = automaton->span.promotion = automaton->span.shared = automaton->span.tail = 0;
}
