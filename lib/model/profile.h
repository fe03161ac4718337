/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A profile is a device's power model: coefficients with their covariance, and
 * how intervals come from them. Calibration writes it, prediction reads it, a
 * distribution can ship it. With a [virtual] section it is the truth of a
 * virtual device, plus the physics that a calibration has to see through.
 *
 * "Not measured" is a missing coefficient, never 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

#include "component.h"
#include "radio/radio.h"
#include "util/log.h"
#include "util/util.h"

#define PROFILE_VERSION 1
#define PROFILE_KEY_MAX 96 /* longest key of a coefficient, with its NUL */
#define PROFILE_NAME_MAX 64
/* The device name in a profile that a machine made of itself. */
#define PROFILE_DEVICE_HERE "this machine"
#define PROFILE_APP_MAX 128 /* longest id of an app, with its NUL */
#define PROFILE_COEFFICIENT_MAX 1e9
#define PROFILE_COEFFICIENTS_MAX 512
#define PROFILE_APPS_MAX 512
#define PROFILE_GAUGE_PIECES_MAX 64
#define PROFILE_BYTES_MAX (8u << 20) /* limit for its file; the largest that calibration writes has a twentieth */

static inline enum component model_term_component(enum term term)
{
        return term_keys[term].component;
}

struct coefficient {
        enum term term;
        uint32_t policy;             /* policy of a CPU term; for an app's term, the number of its [app N] */
        uint32_t point;              /* kHz of a CPU term, brightness of a display term */
        char disk[PROFILE_NAME_MAX]; /* name of a storage; "" for [disk] */
        double value;                /* in the term's unit; 0..1e9, for an app's term also negative */
        double standard_error;       /* same unit; NaN: unknown */
};

struct profile_policy {
        uint32_t policy;
        char cpus[PROFILE_NAME_MAX]; /* "0-3"; "" unknown */
        uint32_t n_cpus;             /* counted from cpus; 0 unknown */
        uint32_t as;                 /* the policy whose coefficients count for this one; @policy if it has its own */
        /* a virtual device's physics (docs/physics.md); 0: the key is missing */
        double spin_ipc;             /* instructions per cycle of a calibration's load */
        double instruction_cycles;   /* energy of an instruction, in cycles of a busy core */
        double idle_share;           /* part of A that idling at a frequency takes */
};

/* Which events a virtual device counts beside its apps' cycles. */
enum virtual_counters {
        VIRTUAL_COUNTERS_NONE,
        VIRTUAL_COUNTERS_INSTRUCTIONS,
        VIRTUAL_COUNTERS_ALL, /* instructions and a cache event */
};

/* Which idle states a device's cores enter at a pinned clock. */
enum idle_states {
        IDLE_STATES_UNKNOWN,
        IDLE_STATES_DEEP,
        IDLE_STATES_SHALLOW, /* wait for an interrupt, and nothing deeper */
};

/* A point of the open-circuit voltage curve. */
struct voltage_point {
        double percent; /* state of charge 0..100 */
        double voltage_mv;
};

/* Power that a white picture takes at a brightness, above that of a black one. */
struct emission_point {
        uint32_t brightness;
        double power_mw;
};

/* The physics of a virtual device; 0 where the key is missing, which means: that effect is off. */
struct profile_virtual {
        bool present;
        uint64_t seed;
        double level_step_percent;
        double level_refresh_s;
        struct voltage_point *voltage;
        size_t n_voltage;
        double resistance_mohm;
        double nonlinearity_percent;
        double background_mw;
        double background_tau_s;
        double spike_mw;
        double spike_s;
        double spike_per_h;
        double sub_additivity_percent;
        double leakage_percent_per_c;
        double thermal_c_per_w;
        double thermal_tau_s;
        double ambient_sd_c;
        double rate_variation_percent;
        double gauge_period_s;
        double gauge_noise_percent;
        double gauge_quantum_mw;
        double gauge_gain_percent;
        double gauge_offset_mw;
        double gauge_piece_percent;
        double gauge_smoothing_s;
        double gauge_average_s;
        double gauge_gain_at_load_percent; /* may be negative */
        double gauge_load_mw;
        double gauge_attack;
        double gauge_delay_s;
        double gauge_skip_percent;
        bool gauge_derived;
        double level_scatter_percent;
        double level_drift_percent;
        double level_drift_length_percent;
        double level_lag_percent;
        uint32_t gauge_pieces;
        double charge_full_error_percent; /* may be negative */
        double radio_variation;
        double radio_variation_tau_s;
        double radio_signal_db;           /* standard deviation of the shown signal; 0: none is shown */
        double radio_signal_noise_db;
        double network_packets_per_s;     /* packets of others on the network, to all, also to this device */
        bool idle_lowers;                 /* governor = idle-lowers */
        bool proc;                        /* collector = proc, or a governor that implies it */
        bool hidden_khz;                  /* frequencies = hidden */
        bool no_cycles;                   /* cycles = none */
        enum virtual_counters counters;
        double counter_share;             /* part of the time in which they are read */
        double kind_residual;             /* standard deviation of the log of apps' CPU power that no counter shows */
        double kind_variation;            /* the same for one app over time, ... */
        double kind_variation_tau_s;      /* ... and its correlation time */
        enum idle_states idle_states;
        struct emission_point *emission;  /* [display] emission_mw.LEVEL, ascending */
        size_t n_emission;
};

/*
 * An app that was found in everyday use to need more or less than its counters say: coefficients with its number
 * are its own.
 */
struct profile_app {
        uint32_t number;
        char id[PROFILE_APP_MAX];
};

/*
 * Kinds of answers. Their scores say how often answers of one kind held when compared with what the battery gave
 * later; NaN where that was not tried.
 */
enum answer_kind {
        ANSWER_COST,
        ANSWER_PREDICT,
        ANSWER_BUDGET,
        ANSWER_COUNT
};

extern const char *const answer_kinds[ANSWER_COUNT]; /* their commands */

struct profile_score {
        double scored;  /* stretches of use for which it was tried; old ones count less */
        double held;    /* number of these inside the interval; for a budget: the battery lasted for `low` */
        double likely;  /* for a budget only: number for which the battery lasted for `likely` */
        double width;   /* factor on the half width of such intervals that follows from this */
};

/*
 * Values learnt in everyday use (`joulecast learn`); each NaN where it was not learnt. The misfits are standard
 * deviations among apps, for those without terms of their own.
 */
struct profile_learned {
        double spans;                /* everyday observations behind it */
        double charge_full_percent;  /* by how much the shown full charge is above the true one */
        double charge_full_se;
        double misfit_cpu_percent;
        double misfit_display_percent;
        double misfit_radio_percent; /* variation of the energy of a byte or burst over a radio, from hour to hour */
        double misfit_front_mw;
        double misfit_behind_mw;
        double common;               /* part of those variances that all apps share, 0..1 */
        double within_percent;       /* standard deviation of an app's power over time, in percent of its energy, ... */
        double within_tau_s;         /* ... and its correlation time */
        double background_sd_mw;     /* standard deviation of daemons that no counter shows */
        double session_percent;      /* standard deviation of all energy from session to session, in percent of it */
        struct profile_score score[ANSWER_COUNT];
        char until[32];              /* ISO 8601, end of the newest observation; "" unknown */
};

struct profile_extra { /* a key that begins with x-; kept as it stands */
        char *section;
        char *key;
        char *value;
};

struct profile {
        char device[PROFILE_NAME_MAX];
        char *match;      /* NULL: none */
        char method[16];  /* percent gauge ticks import virtual class; "" unknown */
        char created[32]; /* ISO 8601; "" unknown */

        double degrees_of_freedom; /* [fit]; NaN: no [fit], so low and high are unknown */
        double scale_percent;
        double discrepancy_percent;
        double misfit_percent;     /* error of held-back states, of their power above the base; NaN: they agreed */

        double energy_full_mwh;    /* always known */
        uint32_t max_brightness;   /* 0: unknown */

        struct profile_policy *policies; /* ascending */
        size_t n_policies;

        struct coefficient *coefficients; /* in the order of struct coefficient's fields: term, policy, point, disk */
        size_t n_coefficients;
        double *covariance; /* n x n, row-major, units multiplied; the diagonal is standard_error^2, NaN unknown */

        struct radios radios;
        struct radio_prices *radio_prices; /* prices for the radios whose packets are counted (radio-usage.h) */
        struct profile_virtual virtual_device;

        struct profile_app *apps;    /* ascending by number */
        size_t n_apps;
        struct profile_learned learned;
        /* Coefficients, [fit] and [battery] as calibrated, where learning changed them; or NULL. */
        struct profile *measured;

        struct profile_extra *extras;
        size_t n_extras;
};

/**
 * profile_parse() - text to profile
 * @text:   the whole file; need not end in NUL
 * @name:   the file's name in the sentence about an error
 * @log:    gets that one sentence with file and line; may be NULL
 * @ret:    free it with profile_free(); written only on success
 *
 * Refused: an unknown key, another version, a value out of range or NaN, a missing required key, a text
 * that is cut off or binary, a line of 190 characters or more, a covariance that is not positive
 * semi-definite beyond rounding. Nothing is applied then.
 *
 * Return: 0; -EINVAL for a bad text; -ENOMEM.
 */
int profile_parse(const char *text, size_t length, const char *name, const struct log *log,
                  struct profile **ret);

/* Reads @path and parses it. 0; -ENOENT; -EINVAL; another negative errno. */
int profile_load(const char *path, const struct log *log, struct profile **ret);

/* A profile with nothing but a battery, to be filled by profile_add() and profile_set_covariance(). */
int profile_new(const char *device, double energy_full_mwh, struct profile **ret);
void profile_free(struct profile *profile);
DEFINE_CLEANUP(struct profile, profile_free)

/* A copy; profile_free() it. 0; -ENOMEM. */
int profile_copy(const struct profile *profile, struct profile **ret);
/*
 * profile_measured() - as the calibration left it: without [app N], [learned] and [measured ...]
 *
 * 0; -ENOMEM.
 */
int profile_measured(const struct profile *profile, struct profile **ret);
/* The factor on half widths of answers of that kind, learnt from how often they held; 1: nothing is known. */
double profile_width(const struct profile *profile, enum answer_kind kind);
/*
 * Relative standard deviation that only joules have, if all energies were measured by this battery's own gauge: it
 * cancels in percent of the battery, minutes and budgets. 0: the profile's scale error counts in those, too.
 */
double profile_joule_error(const struct profile *profile);
/* True energy of a joule that the battery shows, as its full charge may be stale; 1: nothing is known. */
double profile_shown_part(const struct profile *profile);
/*
 * The text of a profile; parsing it again gives the same doubles, bit for bit. free() it. 0; -EFBIG: it would be longer
 * than what profile_load() reads; -ENOMEM.
 */
int profile_print(const struct profile *profile, char **ret);
/* profile_print() and util_write_file(). */
int profile_save(const struct profile *profile, const char *path);

/*
 * Adds a coefficient at its place in the order;
 * covariance with the others is 0. 0; -EEXIST; -EINVAL; -ENOMEM.
 */
int profile_add(struct profile *profile, const struct coefficient *coefficient);
int profile_add_policy(struct profile *profile, uint32_t policy, const char *cpus);
/* -EEXIST: the number, or the id, is taken. */
int profile_add_app(struct profile *profile, uint32_t number, const char *id);
/*
 * Whether a file can hold the id unchanged: a value has no blanks at its ends, and a blank and ";" begin a comment.
 */
bool profile_can_name(const char *id);
/* NULL: nothing was learnt of it. */
const struct profile_app *profile_find_app(const struct profile *profile, const char *id);
/*
 * Gives @policy, which is added where it is new, the coefficients of @as.
 * -EEXIST: it has those of another.
 */
int profile_set_as(struct profile *profile, uint32_t policy, uint32_t as);
/* The policy whose coefficients count for @policy. */
uint32_t profile_as(const struct profile *profile, uint32_t policy);
/* The value of an x- key, or NULL; setting one; and taking it out, if it is there. */
const char *profile_extra(const struct profile *profile, const char *section, const char *key);
int profile_set_extra(struct profile *profile, const char *section, const char *key, const char *value);
void profile_drop_extra(struct profile *profile, const char *section, const char *key);

/*
 * Did states that were not fitted come out as predicted (x-validated of [profile])? 1; 0; -1: it was not tried.
 */
int profile_validated(const struct profile *profile);
/*
 * The source of its numbers: "calibrated" on the device itself; "shipped" for it; or from its "class"
 * (profile-class.h).
 */
const char *profile_basis(const struct profile *profile);

/* Covariance of two coefficients by their indices, units multiplied. */
double profile_covariance(const struct profile *profile, size_t i, size_t j);
void profile_set_covariance(struct profile *profile, size_t i, size_t j, double value);

/*
 * 0; -EINVAL where the covariance is not positive semi-definite beyond rounding,
 * or a pair has no standard errors.
 */
int profile_check_covariance(const struct profile *profile);

/* Index of a coefficient, or -ENOENT. */
ssize_t profile_find(const struct profile *profile, enum term term, uint32_t policy, uint32_t point,
                     const char *disk);
ssize_t profile_find_key(const struct profile *profile, const char *key);
/* A half-width above this part of the value tells no more than that the value is not far from 0. */
#define PROFILE_RESOLVED_MAX 0.5
/*
 * Is the interval of a power, an energy or a factor no wider than that? True without an interval, and for parts
 * that were learnt.
 */
bool profile_is_resolved(const struct coefficient *coefficient, double half_width);
/* The coefficient's key, e.g. "cpu.0.active_mw.384000"; @buf of PROFILE_KEY_MAX. Returns @buf. */
char *profile_coefficient_key(const struct coefficient *coefficient, char *buf);

/* Mean open-circuit voltage over 0..100 % in mV (trapezoid), or NaN without a curve. */
double profile_mean_voltage_mv(const struct profile *profile);
/* Open-circuit voltage at @percent, or NaN. */
double profile_voltage_mv(const struct profile *profile, double percent);
