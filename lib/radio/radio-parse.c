/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parses the keys of [radio NAME], [radio NAME STATE] and [carrier NAME] sections, one at a time. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "radio.h"
#include "util/text.h"
#include "util/util.h"

#define POWER_MAX_MW 1e6
#define MS_MAX 864e5
#define NJ_MAX 1e9
#define KBPS_MAX 1e9
#define FILE_MAX (1 << 20)
#define WORDS_MAX 8

struct words {
        char text[INI_LINE_MAX];
        char *list[WORDS_MAX];
        size_t n;
};

static void split(const char *value, struct words *words)
{
        char *rest = words->text;

        snprintf(words->text, sizeof(words->text), "%s", value);
        for (words->n = 0; words->n < WORDS_MAX;) {
                char *word = strtok_r(words->n ? NULL : words->text, " \t", &rest);

                if (!word)
                        break;
                words->list[words->n++] = word;
        }
}

static bool is_name(const char *name)
{
        return *name && strlen(name) < RADIO_NAME_MAX && util_only_has(name, "-_");
}

static int wrong(const struct ini_place *place, const char *key, const char *value, const char *form)
{
        return ini_error(place, "%s = %.60s is not %s", key, value, form);
}

static int twice(const struct ini_place *place, const char *key)
{
        return ini_error(place, "%s is given twice", key);
}

static int parse_move(const struct ini_place *place, const char *key, const char *name, struct radio_move *move)
{
        if (move->given)
                return twice(place, key);
        if (!is_name(name))
                return wrong(place, key, name, "the name of a state");
        move->given = true;
        strcpy(move->name, name);
        return 0;
}

/* "VALUE" or "VALUE STANDARD_ERROR" */
static int parse_value(const struct ini_place *place, const char *key, const char *value, double max,
                       struct radio_value *ret)
{
        struct words words;
        int err;

        if (!isnan(ret->value))
                return twice(place, key);
        split(value, &words);
        if (words.n < 1 || words.n > 2)
                return wrong(place, key, value, "a number, with its standard error or without");
        err = ini_number(place, key, words.list[0], 0, max, &ret->value);
        if (!err && words.n == 2)
                err = ini_number(place, "the standard error", words.list[1], 0, max, &ret->standard_error);
        return err;
}

/* MW ON_MS PERIOD_MS [absolute] */
static int parse_pulse(const struct ini_place *place, const char *value, struct radio_state *state)
{
        struct words words;
        int err;

        split(value, &words);
        if (state->pulse.given)
                return twice(place, "pulse");
        if (words.n < 3 || words.n > 4 || (words.n == 4 && strcmp(words.list[3], "absolute") != 0))
                return wrong(place, "pulse", value, "MW ON_MS PERIOD_MS [absolute]");
        state->pulse.given = true;
        state->pulse.absolute = words.n == 4;
        err = ini_number(place, "pulse", words.list[0], 0, POWER_MAX_MW, &state->pulse.mw);
        if (!err)
                err = ini_number(place, "pulse", words.list[1], 0, MS_MAX, &state->pulse.on_ms);
        if (!err)
                err = ini_number(place, "pulse", words.list[2], 1e-3, MS_MAX, &state->pulse.period_ms);
        if (!err && state->pulse.on_ms > state->pulse.period_ms)
                err = ini_error(place, "a pulse of %s ms does not fit into a period of %s ms", words.list[1],
                                words.list[2]);
        return err;
}

static int parse_count(const struct ini_place *place, const char *key, const char *word, double max, uint64_t *ret)
{
        if (util_parse_u64(word, ret) < 0 || (double)*ret > max)
                return ini_error(place, "%s = %.60s is not a whole number up to %.0f", key, word, max);
        return 0;
}

/* STATE [>= BYTES] [at pulse] */
static int parse_on(const struct ini_place *place, const char *key, const char *value, enum radio_direction direction,
                    struct radio_state *state)
{
        struct words words;
        size_t at = 1;
        int err;

        split(value, &words);
        err = parse_move(place, key, words.n ? words.list[0] : "", &state->on[direction].move);
        if (!err && at + 1 < words.n && strcmp(words.list[at], ">=") == 0) {
                err = parse_count(place, key, words.list[at + 1], RADIO_BYTES_MAX, &state->on[direction].least_bytes);
                at += 2;
        }
        if (!err && direction == RADIO_RX && at + 1 < words.n && strcmp(words.list[at], "at") == 0 &&
            strcmp(words.list[at + 1], "pulse") == 0) {
                state->on[direction].at_pulse = true;
                at += 2;
        }
        if (!err && at != words.n)
                return wrong(place, key, value,
                             direction == RADIO_RX ? "STATE [>= BYTES] [at pulse]" : "STATE [>= BYTES]");
        return err;
}

/* MS STATE [fixed] */
static int parse_after(const struct ini_place *place, const char *value, struct radio_state *state)
{
        struct words words;
        int err;

        split(value, &words);
        if (words.n < 2 || words.n > 3 || (words.n == 3 && strcmp(words.list[2], "fixed") != 0))
                return wrong(place, "after", value, "MS STATE [fixed]");
        err = parse_move(place, "after", words.list[1], &state->after.move);
        state->after.fixed = words.n == 3;
        return err ? err : ini_number(place, "after", words.list[0], 0, MS_MAX, &state->after.ms);
}

/* STATE > PACKETS MS */
static int parse_rate(const struct ini_place *place, const char *value, struct radio_state *state)
{
        struct words words;
        int err;

        split(value, &words);
        if (words.n != 4 || strcmp(words.list[1], ">") != 0)
                return wrong(place, "on_rate", value, "STATE > PACKETS MS");
        err = parse_move(place, "on_rate", words.list[0], &state->rate.move);
        if (!err)
                err = parse_count(place, "on_rate", words.list[2], RADIO_PACKETS_MAX - 1, &state->rate.packets);
        return err ? err : ini_number(place, "on_rate", words.list[3], 1e-3, MS_MAX, &state->rate.ms);
}

/* BYTES MS, or PACKETS MS */
static int parse_reset(const struct ini_place *place, const char *key, const char *value, bool packets,
                       struct radio_state *state)
{
        struct words words;
        int err;

        split(value, &words);
        if (state->reset.given)
                return ini_error(place, "%s: what restarts the timer is given twice", key);
        if (words.n != 2)
                return wrong(place, key, value, packets ? "PACKETS MS" : "BYTES MS");
        state->reset.given = true;
        err = packets ? parse_count(place, key, words.list[0], RADIO_PACKETS_MAX, &state->reset.packets) :
                        parse_count(place, key, words.list[0], RADIO_BYTES_MAX, &state->reset.bytes);
        return err ? err : ini_number(place, key, words.list[1], 1e-3, MS_MAX, &state->reset.ms);
}

/* Parses tx_nj_per_byte and similar keys. Returns 1 if @key is none of them. */
static int parse_price(const struct ini_place *place, const char *key, const char *value, struct radio_value *per_byte,
                       struct radio_value *per_packet)
{
        for (int d = 0; d < RADIO_DIRECTIONS; d++) {
                if (strncmp(key, radio_directions[d], 2) != 0)
                        continue;
                if (strcmp(key + 2, "_nj_per_byte") == 0)
                        return parse_value(place, key, value, NJ_MAX, &per_byte[d]);
                if (strcmp(key + 2, "_nj_per_packet") == 0)
                        return parse_value(place, key, value, NJ_MAX * 1e3, &per_packet[d]);
        }
        return 1;
}

static int parse_state_key(const struct ini_place *place, struct radio_state *state, const char *key, const char *value)
{
        int err;

        if (strcmp(key, "power_mw") == 0)
                return parse_value(place, key, value, POWER_MAX_MW, &state->power_mw);
        for (int s = 0; s < RADIO_SIGNALS; s++)
                if (strncmp(key, "power_mw.", 9) == 0 && strcmp(key + 9, radio_signals[s]) == 0)
                        return parse_value(place, key, value, POWER_MAX_MW, &state->signal_mw[s]);
        if (strcmp(key, "pulse") == 0)
                return parse_pulse(place, value, state);
        if (strcmp(key, "on_tx") == 0)
                return parse_on(place, key, value, RADIO_TX, state);
        if (strcmp(key, "on_rx") == 0)
                return parse_on(place, key, value, RADIO_RX, state);
        if (strcmp(key, "on_rate") == 0)
                return parse_rate(place, value, state);
        if (strcmp(key, "after") == 0)
                return parse_after(place, value, state);
        if (strcmp(key, "reset") == 0)
                return parse_reset(place, key, value, false, state);
        if (strcmp(key, "reset_packets") == 0)
                return parse_reset(place, key, value, true, state);
        err = parse_price(place, key, value, state->nj_per_byte, state->nj_per_packet);
        return err == 1 ? ini_error(place, "%.60s is no key of a radio's state", key) : err;
}

static int parse_radio_key(const struct ini_place *place, struct radio *radio, const char *key, const char *value)
{
        static const char *const rates[RADIO_DIRECTIONS] = { "phy_kbps_up", "phy_kbps_down" };
        char clean[INI_LINE_MAX];
        int err;

        if (strcmp(key, "initial") == 0)
                return parse_move(place, key, value, &radio->initial);
        if (strcmp(key, "source") == 0) {
                if (*radio->source)
                        return twice(place, key);
                if (!*value || strlen(value) >= sizeof(radio->source) ||
                    strcmp(util_printable(value, clean, sizeof(clean)), value) != 0)
                        return ini_error(place, "source is not UTF-8 text of up to %zu bytes",
                                         sizeof(radio->source) - 1);
                strcpy(radio->source, value);
                return 0;
        }
        if (strcmp(key, "verified") == 0) {
                if (radio->verified >= 0)
                        return twice(place, key);
                if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
                        return wrong(place, key, value, "yes or no");
                radio->verified = strcmp(value, "yes") == 0;
                return 0;
        }
        for (int d = 0; d < RADIO_DIRECTIONS; d++) {
                if (strcmp(key, rates[d]) != 0)
                        continue;
                if (!isnan(radio->phy_kbps[d]))
                        return twice(place, key);
                return ini_number(place, key, value, 0, KBPS_MAX, &radio->phy_kbps[d]);
        }
        err = parse_price(place, key, value, radio->nj_per_byte, radio->nj_per_packet);
        return err == 1 ? ini_error(place, "%.60s is no key of [radio %s]", key, radio->name) : err;
}

/* radio = NAME, or STATE.after_ms = MS */
static int parse_carrier_key(const struct ini_place *place, struct radio_carrier *carrier, const char *key,
                             const char *value)
{
        size_t length = strcspn(key, ".");
        char name[RADIO_NAME_MAX];

        carrier->line = place->line;
        if (strcmp(key, "radio") == 0) {
                if (*carrier->radio)
                        return twice(place, key);
                if (!is_name(value))
                        return wrong(place, key, value, "the name of a radio");
                strcpy(carrier->radio, value);
                return 0;
        }
        if (strcmp(key + length, ".after_ms") != 0 || length >= sizeof(name))
                return ini_error(place, "%.60s is no key of [carrier %s]; it may be radio or STATE.after_ms", key,
                                 carrier->name);
        memcpy(name, key, length);
        name[length] = '\0';
        for (size_t i = 0; i < carrier->n_timers; i++)
                if (strcmp(carrier->timers[i].state, name) == 0)
                        return twice(place, key);
        if (!is_name(name) || carrier->n_timers == RADIO_STATES_MAX)
                return ini_error(place, "[carrier %s] has more than %d timers, or one of no state", carrier->name,
                                 RADIO_STATES_MAX);
        strcpy(carrier->timers[carrier->n_timers].state, name);
        return ini_number(place, key, value, 0, MS_MAX, &carrier->timers[carrier->n_timers++].after_ms);
}

static void unknown(struct radio_value *values, size_t n)
{
        for (size_t i = 0; i < n; i++)
                values[i] = (struct radio_value){ NAN, NAN };
}

/*
 * Finds the entry with @name, or appends one with only its name set; NULL if all @max are in use. The list
 * has room for @max entries, and each entry begins with its name.
 */
static void *find_or_add(void *list, size_t *n, size_t max, size_t size, const char *name)
{
        char *at = list;

        for (size_t i = 0; i < *n; i++, at += size)
                if (strcmp(at, name) == 0)
                        return at;
        if (*n == max)
                return NULL;
        ++*n;
        memset(at, 0, size);
        return strcpy(at, name);
}

static int parse_carrier(struct radios *radios, const struct ini_place *place, const char *name, const char *key,
                         const char *value)
{
        struct radio_carrier *carrier;

        if (!radios->carriers)
                radios->carriers = calloc(RADIO_CARRIERS_MAX, sizeof(*carrier));
        if (!radios->carriers)
                return -ENOMEM;
        carrier = find_or_add(radios->carriers, &radios->n_carriers, RADIO_CARRIERS_MAX, sizeof(*carrier), name);
        if (!carrier)
                return ini_error(place, "more than %d carriers", RADIO_CARRIERS_MAX);
        return parse_carrier_key(place, carrier, key, value);
}

static int find_radio(struct radios *radios, const struct ini_place *place, const char *name, struct radio **ret)
{
        size_t before = radios->n;

        if (!radios->list)
                radios->list = calloc(RADIOS_MAX, sizeof(*radios->list));
        if (!radios->list)
                return -ENOMEM;
        *ret = find_or_add(radios->list, &radios->n, RADIOS_MAX, sizeof(**ret), name);
        if (!*ret)
                return ini_error(place, "more than %d radios", RADIOS_MAX);
        if (radios->n == before)
                return 0;
        (*ret)->line = place->line;
        (*ret)->verified = -1;
        (*ret)->phy_kbps[RADIO_TX] = (*ret)->phy_kbps[RADIO_RX] = NAN;
        unknown((*ret)->nj_per_byte, RADIO_DIRECTIONS);
        unknown((*ret)->nj_per_packet, RADIO_DIRECTIONS);
        return 0;
}

static int find_state(struct radio *radio, const struct ini_place *place, const char *name, struct radio_state **ret)
{
        size_t before = radio->n_states;

        if (!radio->states)
                radio->states = calloc(RADIO_STATES_MAX, sizeof(*radio->states));
        if (!radio->states)
                return -ENOMEM;
        *ret = find_or_add(radio->states, &radio->n_states, RADIO_STATES_MAX, sizeof(**ret), name);
        if (!*ret)
                return ini_error(place, "[radio %s] has more than %d states", radio->name, RADIO_STATES_MAX);
        if (radio->n_states == before)
                return 0;
        (*ret)->line = place->line;
        unknown(&(*ret)->power_mw, 1);
        unknown((*ret)->signal_mw, RADIO_SIGNALS);
        unknown((*ret)->nj_per_byte, RADIO_DIRECTIONS);
        unknown((*ret)->nj_per_packet, RADIO_DIRECTIONS);
        return 0;
}

int radio_parse_key(struct radios *radios, const struct ini_place *place, const char *section, const char *instance,
                     const char *key, const char *value)
{
        bool is_carrier = strcmp(section, "carrier") == 0;
        struct radio_state *state;
        struct radio *radio;
        struct words words;
        int err;

        split(instance, &words);
        if (words.n < 1 || words.n > (is_carrier ? 1u : 2u) || !is_name(words.list[0]) ||
            (words.n == 2 && !is_name(words.list[1])))
                return ini_error(place, "[%s %.60s] is not [%s]", section, instance,
                                 is_carrier ? "carrier NAME" : "radio NAME] or [radio NAME STATE");
        if (is_carrier)
                return parse_carrier(radios, place, words.list[0], key, value);
        err = find_radio(radios, place, words.list[0], &radio);
        if (err || words.n == 1)
                return err ? err : parse_radio_key(place, radio, key, value);
        err = find_state(radio, place, words.list[1], &state);
        return err ? err : parse_state_key(place, state, key, value);
}

struct file {
        struct radios *radios;
        bool others;
};

static int on_key(void *data, const struct ini_place *place, const char *section, const char *key, const char *value)
{
        struct file *file = data;
        size_t length = strcspn(section, " ");
        char name[INI_LINE_MAX];

        snprintf(name, sizeof(name), "%.*s", (int)length, section);
        if (strcmp(name, "radio") != 0 && strcmp(name, "carrier") != 0) {
                file->others = true;
                return 0;
        }
        return radio_parse_key(file->radios, place, name, section + length, key, value);
}

int radio_load(const char *path, const struct log *log, struct radios *ret, bool *others)
{
        _cleanup_free_ char *text = NULL;
        _cleanup_(radio_clear_all) struct radios radios = { 0 };
        struct file file = { &radios, false };
        struct ini_place place = { path, 0, log };
        size_t length;
        int err = ini_text_read(path, FILE_MAX, log, &text, &length);

        if (!err)
                err = ini_text_parse(text, length, path, log, on_key, &file);
        if (!err)
                err = radio_finish(&radios, &place);
        if (err)
                return err;
        *others = file.others;
        *ret = radios;
        radios = (struct radios){ 0 };
        return 0;
}
