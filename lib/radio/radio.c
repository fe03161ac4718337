/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

const char *const radio_directions[RADIO_DIRECTIONS] = { "tx", "rx" };
const char *const radio_signals[RADIO_SIGNALS] = { "high", "medium", "low" };

void radio_clear(struct radio *radio)
{
        free(radio->states);
        *radio = (struct radio){ 0 };
}

void radio_clear_all(struct radios *radios)
{
        for (size_t i = 0; i < radios->n; i++)
                radio_clear(&radios->list[i]);
        free(radios->list);
        free(radios->carriers);
        *radios = (struct radios){ 0 };
}

const struct radio *radio_find(const struct radios *radios, const char *name)
{
        for (size_t i = 0; i < radios->n; i++)
                if (strcmp(radios->list[i].name, name) == 0)
                        return &radios->list[i];
        return NULL;
}

static int copy_radio(const struct radio *radio, struct radio *ret)
{
        struct radio_state *states = calloc(radio->n_states + 1, sizeof(*states));

        if (!states)
                return -ENOMEM;
        if (radio->n_states > 0)
                memcpy(states, radio->states, radio->n_states * sizeof(*states));
        *ret = *radio;
        ret->states = states;
        return 0;
}

int radio_copy_all(const struct radios *radios, struct radios *ret)
{
        struct radios copy = { 0 };
        int err = 0;

        copy.list = calloc(radios->n + 1, sizeof(*copy.list));
        copy.carriers = calloc(radios->n_carriers + 1, sizeof(*copy.carriers));
        if (!copy.list || !copy.carriers)
                err = -ENOMEM;
        for (size_t i = 0; !err && i < radios->n; i++) {
                err = copy_radio(&radios->list[i], &copy.list[i]);
                copy.n += !err;
        }
        if (err) {
                radio_clear_all(&copy);
                return err;
        }
        copy.n_carriers = radios->n_carriers;
        if (copy.n_carriers > 0)
                memcpy(copy.carriers, radios->carriers, copy.n_carriers * sizeof(*copy.carriers));
        *ret = copy;
        return 0;
}

static bool has_radio(const struct radios *radios, size_t n, const char *name)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(radios->list[i].name, name) == 0)
                        return true;
        return false;
}

int radio_add_others(const struct radios *from, struct radios *to)
{
        size_t before = to->n;
        struct radio *list = reallocarray(to->list, to->n + from->n + 1, sizeof(*list));
        struct radio_carrier *carriers;

        if (!list)
                return -ENOMEM;
        to->list = list;
        carriers = reallocarray(to->carriers, to->n_carriers + from->n_carriers + 1, sizeof(*carriers));
        if (!carriers)
                return -ENOMEM;
        to->carriers = carriers;
        for (size_t i = 0; i < from->n; i++) {
                if (has_radio(to, before, from->list[i].name) || to->n >= RADIOS_MAX)
                        continue;
                if (copy_radio(&from->list[i], &to->list[to->n]) < 0)
                        return -ENOMEM;
                to->n++;
        }
        for (size_t i = 0; i < from->n_carriers; i++)
                if (!has_radio(to, before, from->carriers[i].radio) && has_radio(to, to->n, from->carriers[i].radio))
                        to->carriers[to->n_carriers++] = from->carriers[i];
        return 0;
}

double radio_power_mw(const struct radio_state *state, enum radio_signal signal)
{
        return isnan(state->signal_mw[signal].value) ? state->power_mw.value : state->signal_mw[signal].value;
}

static struct radio_state *find_state(struct radio *radio, const char *name)
{
        for (size_t i = 0; i < radio->n_states; i++)
                if (strcmp(radio->states[i].name, name) == 0)
                        return &radio->states[i];
        return NULL;
}

static int resolve(struct radio *radio, const struct ini_place *place, const char *where, struct radio_move *move)
{
        const struct radio_state *state = move->given ? find_state(radio, move->name) : NULL;

        if (move->given && !state)
                return ini_error(place, "%s of [radio %s] names the state %s, which has no section [radio %s %s]",
                                 where, radio->name, move->name, radio->name, move->name);
        move->state = state ? (size_t)(state - radio->states) : 0;
        return 0;
}

static int resolve_state(struct radio *radio, const struct ini_place *place, struct radio_state *state)
{
        int err = resolve(radio, place, "after", &state->after.move);

        if (!err)
                err = resolve(radio, place, "on_rate", &state->rate.move);
        for (int d = 0; !err && d < RADIO_DIRECTIONS; d++)
                err = resolve(radio, place, d == RADIO_TX ? "on_tx" : "on_rx", &state->on[d].move);
        for (int s = 0; !err && s < RADIO_SIGNALS; s++)
                if (isnan(radio_power_mw(state, (enum radio_signal)s)))
                        return ini_error(place, "[radio %s %s] has no power_mw at %s signal", radio->name, state->name,
                                         radio_signals[s]);
        if (!err && state->on[RADIO_RX].at_pulse && !state->pulse.given)
                return ini_error(place, "on_rx of [radio %s %s] waits for a pulse, but it has no pulse", radio->name,
                                 state->name);
        return err;
}

static void reach(const struct radio *radio, size_t i, bool *reached)
{
        const struct radio_state *state = &radio->states[i];

        if (reached[i])
                return;
        reached[i] = true;
        if (state->after.move.given)
                reach(radio, state->after.move.state, reached);
        if (state->rate.move.given)
                reach(radio, state->rate.move.state, reached);
        for (int d = 0; d < RADIO_DIRECTIONS; d++)
                if (state->on[d].move.given)
                        reach(radio, state->on[d].move.state, reached);
}

/*
 * Least duration of a cycle of timers, in ms: with a shorter one, a day of silence would take too long to
 * compute.
 */
#define ROUND_MIN_MS 1.0

static bool spins(const struct radio *radio, size_t first)
{
        double took_ms = 0;
        size_t at = first;

        for (size_t i = 0; i < radio->n_states; i++) {
                const struct radio_state *state = &radio->states[at];

                if (!state->after.move.given)
                        return false;
                took_ms += state->after.ms;
                at = state->after.move.state;
                if (at == first)
                        return took_ms < ROUND_MIN_MS;
        }
        return false; /* it leads to a cycle that @first is not part of */
}

static int check_radio(struct radio *radio, const struct ini_place *place, const char *with)
{
        bool reached[RADIO_STATES_MAX] = { false };

        reach(radio, radio->initial.state, reached);
        for (size_t i = 0; i < radio->n_states; i++) {
                if (!reached[i])
                        return ini_error(place, "no packet and no timer leads to the state %s of [radio %s]",
                                         radio->states[i].name, radio->name);
                if (spins(radio, i))
                        return ini_error(place, "the timers of [radio %s]%s form a cycle of less than %g ms, which"
                                                " begins "
                                         "with the state %s", radio->name, with, ROUND_MIN_MS, radio->states[i].name);
        }
        return 0;
}

static struct ini_place at_line(const struct ini_place *place, unsigned line)
{
        return (struct ini_place){ place->name, line ? line : place->line, place->log };
}

static int finish_radio(struct radio *radio, const struct ini_place *place)
{
        struct ini_place at = at_line(place, radio->line);
        int err;

        if (radio->n_states == 0)
                return ini_error(&at, "[radio %s] has no states: no section [radio %s STATE]", radio->name,
                                 radio->name);
        if (!radio->initial.given)
                return ini_error(&at, "[radio %s] has no initial = STATE", radio->name);
        err = resolve(radio, &at, "initial", &radio->initial);
        for (size_t i = 0; !err && i < radio->n_states; i++) {
                struct ini_place section = at_line(place, radio->states[i].line);

                err = resolve_state(radio, &section, &radio->states[i]);
        }
        return err ? err : check_radio(radio, &at, "");
}

static int apply(struct radio *radio, const struct radio_carrier *carrier, const char **missing)
{
        for (size_t i = 0; i < carrier->n_timers; i++) {
                struct radio_state *state = find_state(radio, carrier->timers[i].state);

                *missing = carrier->timers[i].state;
                if (!state || !state->after.move.given)
                        return -ENOENT;
                state->after.ms = carrier->timers[i].after_ms;
        }
        return 0;
}

static int finish_carrier(const struct radios *radios, const struct radio_carrier *carrier,
                          const struct ini_place *place)
{
        struct ini_place at = at_line(place, carrier->line);
        const struct radio *radio = radio_find(radios, carrier->radio);
        char with[RADIO_NAME_MAX + 32];
        const char *missing = "";
        struct radio copy;
        int err;

        if (!radio)
                return ini_error(&at, *carrier->radio ? "[carrier %s] is of the radio %s, which has no section"
                                                      : "[carrier %s] has no radio = NAME%s",
                                 carrier->name, carrier->radio);
        err = copy_radio(radio, &copy);
        if (err)
                return err;
        snprintf(with, sizeof(with), " with [carrier %s]", carrier->name);
        err = apply(&copy, carrier, &missing);
        if (err)
                err = ini_error(&at, "[carrier %s] sets the timer of %s, but [radio %s %s] has no after", carrier->name,
                                missing, carrier->radio, missing);
        else
                err = check_radio(&copy, &at, with);
        radio_clear(&copy);
        return err;
}

int radio_finish(struct radios *radios, const struct ini_place *place)
{
        int err = 0;

        for (size_t i = 0; !err && i < radios->n; i++)
                err = finish_radio(&radios->list[i], place);
        for (size_t i = 0; !err && i < radios->n_carriers; i++)
                err = finish_carrier(radios, &radios->carriers[i], place);
        return err;
}

int radio_with_carrier(const struct radios *radios, const char *name, const char *carrier, struct radio *ret)
{
        const struct radio *radio = radio_find(radios, name);
        const char *missing;
        int err;

        if (!radio)
                return -ENOENT;
        err = copy_radio(radio, ret);
        if (err || !carrier)
                return err;
        for (size_t i = 0; i < radios->n_carriers; i++)
                if (strcmp(radios->carriers[i].name, carrier) == 0 && strcmp(radios->carriers[i].radio, name) == 0)
                        return apply(ret, &radios->carriers[i], &missing);
        radio_clear(ret);
        return -ESRCH;
}
