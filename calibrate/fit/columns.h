/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The columns of the regression are the coefficients of the profile: those that the device has and that the
 * observations or the plan use. A usage becomes a row in s, MB and counts, so that coefficient (mW, mJ/MB,
 * mJ) times entry is mJ.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/kind.h"
#include "model/profile.h"
#include "model/usage.h"

#define COLUMNS_POLICIES_MAX 8
#define COLUMNS_POINTS_MAX 64
#define COLUMNS_MEMBERS_MAX 64

struct device_member { /* a policy that belongs to a group */
        uint32_t policy;
        char cpus[32];
};

/* A policy, or a group of policies of one kind with equal coefficients. */
struct device_policy {
        uint32_t policy; /* the first policy if it is a group */
        char cpus[PROFILE_NAME_MAX];
        uint32_t n_cpus;
        uint32_t khz[COLUMNS_POINTS_MAX]; /* ascending */
        size_t n_khz;
        struct device_member members[COLUMNS_MEMBERS_MAX];
        size_t n_members; /* 0: it is no group */
        uint32_t sharing; /* CPUs that share an S; 0: all of them */
};

/* Returns false if no two of its cores share an S: that column would equal the one of A. */
bool columns_policy_shares(const struct device_policy *policy);

/* Voltages of operating points, ascending by frequency. */
struct voltages {
        struct voltage {
                uint32_t khz;
                double volts;
        } *list;
        size_t n;
};

/* Facts about the device that do not come from observations. */
struct device {
        char name[PROFILE_NAME_MAX];
        char method[16];
        double energy_full_mwh;  /* NaN unknown */
        uint32_t max_brightness; /* 0 unknown */
        struct device_policy policies[COLUMNS_POLICIES_MAX]; /* ascending */
        size_t n_policies;
        struct profile *before;  /* earlier profile, with --only; NULL: everything is measured */
        unsigned only;           /* 1 << component that is measured again; the base always is */
        /* idling and S at the highest frequency, as parts of A there; 0 and 0: the usual priors */
        double idle_part, idle_sd, shared_part, shared_sd;
        const struct voltages *voltages; /* NULL: unknown; not owned */
        char miss_event[64];     /* counted as misses; "" unknown */
        const struct points *usual; /* events of the work that A and S are of; NULL: of all rows; not owned */
        bool prices_bytes;       /* over a modem or a cable; a calibration moves none there */
        const struct profile *radio; /* its radios price their traffic; not owned; NULL: bytes and bursts have prices */
};

/* Fitting some kinds of observations needs a certain radio. Is it known, or does this kind need none? */
bool columns_can_fit(const struct device *device, const char *kind);

struct cJSON;
/*
 * Reads policies, and the components of --only, from a struct hardware_description as JSON or from a "start"
 * line. End with columns_device_clear(). Returns 0; -EINVAL; -ENOMEM.
 */
int columns_device_from_json(const struct cJSON *json, struct device *device);
void columns_device_clear(struct device *device);
/* Sets the priors of idle power and of S, by the idle states that the cores enter at a pinned clock. */
void columns_device_idle(struct device *device, enum idle_states states);

/*
 * The kind of work of a policy (model/kind.h). Its columns are differences of phi and mu from their usual values,
 * which A and S already have in their rows; the factors of these columns depend on A and S, so the fit is repeated with
 * the last values of A and S.
 */
struct columns_kind {
        size_t instructions, misses;   /* columns; SIZE_MAX: none */
        double usual_instructions, usual_misses; /* per cycle, of all rows */
        struct kind_prior instructions_prior, misses_prior;
};

struct columns {
        struct device device;
        struct coefficient *list; /* in the order of the profile; value and error are NaN */
        size_t n;
        size_t active[COLUMNS_POLICIES_MAX]; /* first column of A and of S of each policy; SIZE_MAX: none */
        size_t shared[COLUMNS_POLICIES_MAX];
        /* columns for idling at a middle and at the highest point; it is 0 at the lowest */
        size_t idle[COLUMNS_POLICIES_MAX];
        size_t n_idle[COLUMNS_POLICIES_MAX];
        struct columns_kind kind[COLUMNS_POLICIES_MAX];
        double *last;                        /* n values of the coefficients by the last fit; NULL: there was none */
        size_t term[TERM_COUNT];             /* first column of each term; SIZE_MAX: none */
        size_t levels;                       /* number of display columns */
        /* level that the base has, as the screen was never off; BRIGHTNESS_UNKNOWN: none */
        uint32_t dimmest;
        bool *kept;                          /* n values: the coefficient stays as in device.before */
};

/*
 * Drops from an ascending list, until it has @most, whichever has the closest neighbours; never the first and
 * the last.
 */
void columns_thin(uint32_t *list, size_t *n, size_t most);

/* Makes the columns for @usages; entries may be NULL. */
int columns_make(const struct device *device, const struct usage *const *usages, size_t n,
                 struct columns *ret);
void columns_clear(struct columns *columns);
/* Is any kind of work counted? Then the fit is repeated. */
bool columns_have_kinds(const struct columns *columns);
/* The prior of a column of kinds of work, around which its values are; NULL: it is another. */
const struct kind_prior *columns_kind_prior(const struct columns *columns, size_t column);

/*
 * Adds @usage to @row. It is split linearly between frequencies and levels; beyond the ends, the nearest one
 * gets all.
 */
void columns_row(const struct columns *columns, const struct usage *usage, double *row);
