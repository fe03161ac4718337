/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define FJ_PER_J 1e15

static int64_t ns_of_ms(double ms)
{
        return (int64_t)llround(ms * 1e6);
}

static int64_t uw_of_mw(double mw)
{
        return (int64_t)llround(mw * 1e3);
}

/* Number of past packets that the radio's rules may look at; 0: none must be kept. */
static size_t n_counted(const struct radio *radio)
{
        uint64_t n = 0;

        for (size_t i = 0; i < radio->n_states; i++) {
                const struct radio_state *state = &radio->states[i];
                uint64_t reset = state->reset.bytes > 0 ? RADIO_PACKETS_MAX : state->reset.packets + 1;

                if (state->rate.move.given)
                        n = MAX(n, state->rate.packets + 1);
                if (state->reset.given)
                        n = MAX(n, reset);
        }
        return (size_t)n;
}

int radio_run_start(struct radio_run *run, const struct radio *radio, enum radio_signal signal)
{
        *run = (struct radio_run){ .radio = radio, .signal = signal, .state = radio->initial.state,
                                   .n_kept = n_counted(radio) };
        if (run->n_kept > 0) {
                run->recent = calloc(run->n_kept, sizeof(*run->recent));
                if (!run->recent)
                        return -ENOMEM;
        }
        return 0;
}

void radio_run_clear(struct radio_run *run)
{
        free(run->recent);
        free(run->waiting);
        *run = (struct radio_run){ 0 };
}

static const struct radio_state *now_in(const struct radio_run *run)
{
        return &run->radio->states[run->state];
}

/* Time that pulses were on during the first @since_ns of the state. */
static int64_t pulsed_ns(const struct radio_state *state, int64_t since_ns)
{
        int64_t period = ns_of_ms(state->pulse.period_ms), on = ns_of_ms(state->pulse.on_ms), rest = since_ns % period;

        return since_ns / period * on + (rest < on ? rest : on);
}

static void pass(struct radio_run *run, int64_t until_ns)
{
        const struct radio_state *state = now_in(run);
        struct radio_total *total = &run->totals[run->state];
        int64_t power_uw = uw_of_mw(radio_power_mw(state, run->signal)), took_ns = until_ns - run->now_ns;

        total->ns += took_ns;
        total->fj += (radio_fj)power_uw * took_ns;
        if (state->pulse.given) {
                int64_t on_ns = pulsed_ns(state, until_ns - run->entered_ns) -
                                pulsed_ns(state, run->now_ns - run->entered_ns);

                total->fj += (radio_fj)(uw_of_mw(state->pulse.mw) - (state->pulse.absolute ? power_uw : 0)) * on_ns;
        }
        run->now_ns = until_ns;
}

/* Time at which silence ends the state; INT64_MAX: never. */
static int64_t timer_ns(const struct radio_run *run)
{
        const struct radio_state *state = now_in(run);
        int64_t since_ns = run->entered_ns;

        if (!state->after.move.given || state->after.move.state == run->state)
                return INT64_MAX;
        if (!state->after.fixed && run->restarted_ns > since_ns)
                since_ns = run->restarted_ns;
        return since_ns + ns_of_ms(state->after.ms);
}

/* Time of the next pulse, at which waiting packets are received; INT64_MAX: none waits. */
static int64_t pulse_ns(const struct radio_run *run)
{
        int64_t period;

        if (run->n_waiting == 0)
                return INT64_MAX;
        period = ns_of_ms(now_in(run)->pulse.period_ms);
        return run->entered_ns + (run->now_ns - run->entered_ns + period - 1) / period * period;
}

static void enter(struct radio_run *run, size_t state)
{
        run->state = state;
        run->entered_ns = run->now_ns;
}

/* Have at least @packets come in the last @ms, including one that comes now? */
static bool came(const struct radio_run *run, uint64_t packets, double ms)
{
        if (packets == 0 || run->n_recent < packets)
                return packets == 0;
        return run->recent[(run->n_recent - packets) % run->n_kept].time_ns > run->now_ns - ns_of_ms(ms);
}

static uint64_t bytes_in_last(const struct radio_run *run, double ms)
{
        uint64_t first = run->n_recent < run->n_kept ? 0 : run->n_recent - run->n_kept, end = run->n_recent;
        int64_t since_ns = run->now_ns - ns_of_ms(ms);

        while (first < end) {
                uint64_t middle = first + (end - first) / 2;

                if (run->recent[middle % run->n_kept].time_ns > since_ns)
                        end = middle;
                else
                        first = middle + 1;
        }
        return first == run->n_recent ? 0 : run->bytes - run->recent[first % run->n_kept].bytes;
}

static bool restarts(const struct radio_run *run, const struct radio_state *state)
{
        if (!state->reset.given)
                return true;
        return came(run, state->reset.packets, state->reset.ms) &&
               bytes_in_last(run, state->reset.ms) >= state->reset.bytes;
}

/* The state's price, or else the radio's; 0 if neither is given. */
static int64_t price_fj(const struct radio_value *own, const struct radio_value *radios)
{
        double nj = isnan(own->value) ? radios->value : own->value;

        return isnan(nj) ? 0 : (int64_t)llround(nj * 1e6);
}

static void pay(struct radio_run *run, enum radio_direction direction, uint64_t bytes)
{
        const struct radio_state *state = now_in(run);
        struct radio_total *total = &run->totals[run->state];

        total->fj += (radio_fj)price_fj(&state->nj_per_byte[direction], &run->radio->nj_per_byte[direction]) * bytes;
        total->fj += price_fj(&state->nj_per_packet[direction], &run->radio->nj_per_packet[direction]);
}

/* Packets are on the air one after another. */
static void occupy(struct radio_run *run, enum radio_direction direction, uint64_t bytes)
{
        double kbps = run->radio->phy_kbps[direction], ns = kbps > 0 ? (double)bytes * 8e6 / kbps : 0;

        if (run->busy_until_ns < run->now_ns)
                run->busy_until_ns = run->now_ns;
        run->busy_until_ns += (int64_t)llround(fmin(ns, (double)(RADIO_NS_MAX - run->busy_until_ns)));
}

static int deliver(struct radio_run *run, enum radio_direction direction, uint64_t bytes);

/* Receives the waiting packets: at a pulse, or after a state change, as the new state may receive at once. */
static int hear(struct radio_run *run)
{
        struct radio_packet *waiting = TAKE_PTR(run->waiting);
        size_t n = run->n_waiting;
        int err = 0;

        run->n_waiting = run->capacity = 0;
        for (size_t i = 0; !err && i < n; i++) {
                err = deliver(run, RADIO_RX, waiting[i].bytes);
                if (!err) /* a state with a timer of 0 ends before the next packet is heard */
                        err = radio_run_until(run, run->now_ns);
        }
        free(waiting);
        return err;
}

static int wait_for_pulse(struct radio_run *run, uint64_t bytes)
{
        int err = util_grow(&run->waiting, &run->capacity, run->n_waiting + 1, sizeof(*run->waiting));

        if (!err)
                run->waiting[run->n_waiting++] = (struct radio_packet){ run->now_ns, bytes };
        return err;
}

static bool at_pulse(const struct radio_run *run)
{
        return (run->now_ns - run->entered_ns) % ns_of_ms(now_in(run)->pulse.period_ms) == 0;
}

static int deliver(struct radio_run *run, enum radio_direction direction, uint64_t bytes)
{
        const struct radio_state *state = now_in(run);
        bool moves = state->on[direction].move.given && bytes >= state->on[direction].least_bytes;
        size_t before = run->state;

        if (moves && state->on[direction].at_pulse && !at_pulse(run))
                return wait_for_pulse(run, bytes);
        if (run->recent)
                run->recent[run->n_recent++ % run->n_kept] = (struct radio_packet){ run->now_ns, run->bytes };
        run->bytes += bytes;
        if (moves && state->on[direction].move.state != run->state)
                enter(run, state->on[direction].move.state);
        state = now_in(run);
        if (state->rate.move.given && state->rate.move.state != run->state &&
            came(run, state->rate.packets + 1, state->rate.ms))
                enter(run, state->rate.move.state);
        occupy(run, direction, bytes);
        pay(run, direction, bytes);
        if (restarts(run, now_in(run)))
                run->restarted_ns = run->busy_until_ns;
        return run->state != before && run->n_waiting > 0 ? hear(run) : 0;
}

int radio_run_until(struct radio_run *run, int64_t time_ns)
{
        while (run->now_ns <= time_ns) {
                int64_t timer = timer_ns(run), pulse = pulse_ns(run), next = timer < pulse ? timer : pulse;
                int err = 0;

                if (next > time_ns) {
                        pass(run, time_ns);
                        return 0;
                }
                if (next > run->now_ns)
                        pass(run, next);
                if (timer <= pulse)
                        enter(run, now_in(run)->after.move.state);
                if (run->n_waiting > 0)
                        err = hear(run);
                if (err)
                        return err;
        }
        return 0;
}

int radio_run_packet(struct radio_run *run, int64_t time_ns, enum radio_direction direction, uint64_t bytes)
{
        int err = radio_run_until(run, time_ns);

        return err ? err : deliver(run, direction, bytes);
}

double radio_total_j(const struct radio_total *total)
{
        return wide_to_double(total->fj) / FJ_PER_J;
}

double radio_run_energy_j(const struct radio_run *run)
{
        radio_fj sum = 0;

        for (size_t i = 0; i < run->radio->n_states; i++)
                sum += run->totals[i].fj;
        return wide_to_double(sum) / FJ_PER_J;
}
