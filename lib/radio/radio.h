/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A radio as an automaton: each state draws a power, packets and silence cause transitions, and each byte and
 * packet has a price. It is read from [radio NAME], [radio NAME STATE] and [carrier NAME] sections of a
 * profile (docs/radios.md). radio-run.h computes the energy of a sequence of packets.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/ini-text.h"

#define RADIO_NAME_MAX 32 /* longest name including its NUL; RADIO_TEXT_MAX includes it, too */
#define RADIOS_MAX 8
#define RADIO_STATES_MAX 16
#define RADIO_CARRIERS_MAX 16
#define RADIO_TEXT_MAX 160
#define RADIO_PACKETS_MAX 4096 /* most packets that a rule may count */
#define RADIO_BYTES_MAX 1000000000000 /* largest packet, and most bytes that a rule may count */

enum radio_direction {
        RADIO_TX,
        RADIO_RX,
        RADIO_DIRECTIONS
};
enum radio_signal {
        RADIO_SIGNAL_HIGH,
        RADIO_SIGNAL_MEDIUM,
        RADIO_SIGNAL_LOW,
        RADIO_SIGNALS
};
extern const char *const radio_directions[RADIO_DIRECTIONS]; /* "tx", "rx" */
extern const char *const radio_signals[RADIO_SIGNALS];       /* "high", ... */

struct radio_value {
        double value;          /* at least 0, in the unit of the member's name; NaN: not given */
        double standard_error; /* NaN: unknown */
};

/* A transition to another state. */
struct radio_move {
        bool given;
        char name[RADIO_NAME_MAX]; /* name of the other state */
        size_t state;              /* index of that state, set by radio_finish() */
};

struct radio_state {
        char name[RADIO_NAME_MAX];
        struct radio_value power_mw;                     /* at any signal ... */
        struct radio_value signal_mw[RADIO_SIGNALS];     /* ... or at this one */
        struct {
                bool given, absolute; /* absolute: the pulse replaces the state's power; otherwise it is added */
                double mw, on_ms, period_ms;
        } pulse;
        struct {
                struct radio_move move;
                uint64_t least_bytes;
                bool at_pulse;        /* received at the next pulse */
        } on[RADIO_DIRECTIONS];
        struct {
                struct radio_move move;
                double ms;
                bool fixed; /* runs from the state's beginning; otherwise from the end of the last packet */
        } after;
        struct {
                struct radio_move move;
                uint64_t packets;
                double ms;
        } rate;                       /* transition if more than this many packets come within this time */
        struct {
                bool given;
                uint64_t bytes, packets;
                double ms;
        } reset;                      /* only this much traffic within this time restarts the timer */
        struct radio_value nj_per_byte[RADIO_DIRECTIONS];
        struct radio_value nj_per_packet[RADIO_DIRECTIONS];
        unsigned line; /* line of its first key, for error messages; 0: not from a file */
};

struct radio {
        char name[RADIO_NAME_MAX];
        char source[RADIO_TEXT_MAX];  /* origin of the numbers; "": not given */
        int verified;                 /* checked against that source: 1 yes, 0 no, -1 not given */
        struct radio_move initial;
        double phy_kbps[RADIO_DIRECTIONS]; /* 0: a packet takes no time */
        struct radio_value nj_per_byte[RADIO_DIRECTIONS]; /* used where a state gives none */
        struct radio_value nj_per_packet[RADIO_DIRECTIONS];
        struct radio_state *states;
        size_t n_states;
        unsigned line;                /* line of its first key, as above */
};

/* Timers of one network, which replace the radio's. */
struct radio_carrier {
        char name[RADIO_NAME_MAX];
        char radio[RADIO_NAME_MAX];
        struct {
                char state[RADIO_NAME_MAX];
                double after_ms;
        } timers[RADIO_STATES_MAX];
        size_t n_timers;
        unsigned line; /* line of its section, for error messages */
};

struct radios {
        struct radio *list;
        size_t n;
        struct radio_carrier *carriers;
        size_t n_carriers;
};

void radio_clear_all(struct radios *radios); /* frees the contents and leaves @radios empty */
void radio_clear(struct radio *radio);       /* the same for one radio */
/* Belongs to @radios. NULL: there is no such radio. */
const struct radio *radio_find(const struct radios *radios, const char *name);
/* End with radio_clear_all(). Returns 0 or -ENOMEM. */
int radio_copy_all(const struct radios *radios, struct radios *ret);

/*
 * Adds copies of radios with new names, and their carriers, while there is room. Returns 0; -ENOMEM, and some
 * may have been added.
 */
int radio_add_others(const struct radios *from, struct radios *to);

/*
 * Parses one key of a section whose name begins with "radio" or "carrier"; @instance is the rest of the name.
 * Returns 0; -EINVAL after ini_error(); -ENOMEM.
 */
int radio_parse_key(struct radios *radios, const struct ini_place *place, const char *section, const char *instance,
                     const char *key, const char *value);
/*
 * Call after the last key. Checks that all named states exist, that each can be reached, and that each cycle
 * of timers takes time. Returns 0; -EINVAL after ini_error().
 */
int radio_finish(struct radios *radios, const struct ini_place *place);
/* Prints all sections as text that parses to the same radios. */
void radio_print(const struct radios *radios, FILE *out);

/*
 * Loads a profile, or a file with radio sections only. @ret: end with radio_clear_all(). @others: whether the
 * file has other sections, which profile_load() reads. Returns 0; -EINVAL or another negative errno if it
 * cannot be read, after a sentence to @log; -ENOMEM.
 */
int radio_load(const char *path, const struct log *log, struct radios *ret, bool *others);

/*
 * Copies a radio with a carrier's timers in place of its own; @carrier NULL: with its own. End with
 * radio_clear(). Returns 0; -ENOENT: no such radio; -ESRCH: the radio has no such carrier; -ENOMEM.
 */
int radio_with_carrier(const struct radios *radios, const char *name, const char *carrier, struct radio *ret);
/* Power of a state at a signal level, without its pulses. */
double radio_power_mw(const struct radio_state *state, enum radio_signal signal);
