/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the files that read a profile; nobody else includes it. */

#include "profile.h"
#include "util/ini-text.h"

struct pair {
        char keys[2 * PROFILE_KEY_MAX];
        double value;
        unsigned line;
};

struct placed { /* a coefficient and where it stood */
        struct coefficient coefficient;
        unsigned line;
};

struct as { /* a policy with the coefficients of another, and where that was said */
        uint32_t policy, as;
        unsigned line;
};

struct parser {
        struct profile *profile;
        bool version_seen;
        bool numbers_seen[128]; /* by index in number_keys */
        uint32_t words_seen;   /* by index in the table of words */
        struct placed *coefficients;
        size_t n_coefficients, coefficient_capacity;
        struct pair *pairs;
        size_t n_pairs, pair_capacity;
        size_t voltage_capacity, emission_capacity;
        unsigned emission_line; /* line of the highest level */
        unsigned work_line;     /* where profile_parse_work() found its last key; 0: none */
        struct as as[256];
        size_t n_as;
        struct parser *measured; /* parser for the sections [measured ...]; NULL: there were none */
};

int profile_twice(const struct ini_place *place, const char *key);
/* A number without sign or leading zeros, so that a key has one spelling. */
bool profile_parse_index(const char *text, uint64_t max, uint32_t *ret);
int profile_parse_emission(struct parser *parser, const struct ini_place *place, const char *key, const char *value);
int profile_parse_governor(struct parser *parser, const struct ini_place *place, const char *value);
int profile_parse_only(const struct ini_place *place, const char *key, const char *value, const char *only,
                       bool *ret); /* a key with one value */
int profile_parse_counters(const struct ini_place *place, const char *value, enum virtual_counters *ret);
int profile_parse_idle_states(const struct ini_place *place, const char *value, enum idle_states *ret);
/* Keys of [cpu P] that only a virtual device has. 1: it is another key. */
int profile_parse_work(struct parser *parser, const struct ini_place *place, const char *instance, const char *key,
                       const char *value);
int profile_parse_voltage(struct parser *parser, const struct ini_place *place, const char *key, const char *value);

/* Called after the last of @lines: sorts, and checks everything that depends on more than one key. */
int profile_finish(struct parser *parser, const char *name, unsigned lines, const struct log *log);
