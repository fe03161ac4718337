/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A radio as an automaton: in each state it draws a power, packets and silence move it to other states, and each byte
 * has a price of its own. It comes from [radio NAME], [radio NAME STATE] and [carrier NAME] sections of a profile
 * (docs/radios.md); radio-run.h computes the energy of a sequence of packets.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/ini-text.h"

#define RADIO_NAME_MAX 32 /* longest name, with its NUL; likewise RADIO_TEXT_MAX */
#define RADIOS_MAX 8
#define RADIO_STATES_MAX 16
#define RADIO_CARRIERS_MAX 16
#define RADIO_TEXT_MAX 160
#define RADIO_PACKETS_MAX 4096 /* that a rule may count */
#define RADIO_BYTES_MAX 1000000000000 /* of a packet, and of those that a rule may count */

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
        double value;          /* 0 or more, in the unit of the member's name; NaN: not given */
        double standard_error; /* NaN: unknown */
};

/* What moves a radio to another state. */
struct radio_move {
        bool given;
        char name[RADIO_NAME_MAX]; /* of the other state */
        size_t state;              /* its index, after radio_finish() */
};

struct radio_state {
        char name[RADIO_NAME_MAX];
        struct radio_value power_mw;                     /* at any signal ... */
        struct radio_value signal_mw[RADIO_SIGNALS];     /* ... or at this one */
        struct {
                bool given, absolute; /* instead of the state's power, not beside it */
                double mw, on_ms, period_ms;
        } pulse;
        struct {
                struct radio_move move;
                uint64_t least_bytes;
                bool at_pulse;        /* heard at the next pulse */
        } on[RADIO_DIRECTIONS];
        struct {
                struct radio_move move;
                double ms;
                bool fixed;           /* since the state began, else since the last packet's end */
        } after;
        struct {
                struct radio_move move;
                uint64_t packets;
                double ms;
        } rate;                       /* more than so many packets within this time */
        struct {
                bool given;
                uint64_t bytes, packets;
                double ms;
        } reset;                      /* only so much within this time restarts the timer */
        struct radio_value nj_per_byte[RADIO_DIRECTIONS];
        struct radio_value nj_per_packet[RADIO_DIRECTIONS];
        unsigned line;                                   /* of its first key, for an error; 0: of no file */
};

struct radio {
        char name[RADIO_NAME_MAX];
        char source[RADIO_TEXT_MAX];  /* where its numbers are from; "": not said */
        int verified;                 /* against that source: yes 1, no 0, not said -1 */
        struct radio_move initial;
        double phy_kbps[RADIO_DIRECTIONS]; /* 0: a packet takes no time */
        struct radio_value nj_per_byte[RADIO_DIRECTIONS]; /* where the state says none */
        struct radio_value nj_per_packet[RADIO_DIRECTIONS];
        struct radio_state *states;
        size_t n_states;
        unsigned line;                /* likewise */
};

/* Timers that one network has instead of the radio's. */
struct radio_carrier {
        char name[RADIO_NAME_MAX];
        char radio[RADIO_NAME_MAX];
        struct {
                char state[RADIO_NAME_MAX];
                double after_ms;
        } timers[RADIO_STATES_MAX];
        size_t n_timers;
        unsigned line; /* of its section, for an error */
};

struct radios {
        struct radio *list;
        size_t n;
        struct radio_carrier *carriers;
        size_t n_carriers;
};

void radio_clear_all(struct radios *radios); /* frees what it holds; it is empty then */
void radio_clear(struct radio *radio);       /* likewise */
/* It belongs to @radios; NULL: there is none. */
const struct radio *radio_find(const struct radios *radios, const char *name);
/* 0; -ENOMEM. radio_clear_all() it. */
int radio_copy_all(const struct radios *radios, struct radios *ret);

/* Adds copies of those of other names, with their carriers, as long as there is room. 0; -ENOMEM, and some may be added. */
int radio_add_others(const struct radios *from, struct radios *to);

/*
 * One key of a section whose first word is "radio" or "carrier", @instance the rest of its name. 0; -EINVAL after
 * ini_error(); -ENOMEM.
 */
int radio_parse_key(struct radios *radios, const struct ini_place *place, const char *section, const char *instance,
                     const char *key, const char *value);
/*
 * After the last key: are all named states there, can each be reached, and does each cycle of timers take some time?
 * 0; -EINVAL after ini_error().
 */
int radio_finish(struct radios *radios, const struct ini_place *place);
/* All sections, as text that is parsed to the same again. */
void radio_print(const struct radios *radios, FILE *out);

/*
 * A file that has such sections: a profile, or one with nothing else. @ret: radio_clear_all() it. @others: it has other
 * sections, too, which are left to profile_load(). 0; -EINVAL, or another negative errno if it cannot be read, after a
 * sentence to @log; -ENOMEM.
 */
int radio_load(const char *path, const struct log *log, struct radios *ret, bool *others);

/*
 * A radio with a carrier's timers in place of its own; @carrier NULL: as it is. radio_clear() it.
 * 0; -ENOENT: no such radio; -ESRCH: that radio has no such carrier; -ENOMEM.
 */
int radio_with_carrier(const struct radios *radios, const char *name, const char *carrier, struct radio *ret);
/* What a state draws at that signal, without its pulses. */
double radio_power_mw(const struct radio_state *state, enum radio_signal signal);
