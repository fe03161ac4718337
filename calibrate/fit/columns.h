/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The columns of the regression are the coefficients of the profile: what the device offers and the
 * observations or the plan touch. A usage becomes a row in s, MB and counts, so that coefficient (mW, mJ/MB,
 * mJ) times entry is mJ.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"
#include "model/usage.h"

#define COLUMNS_POLICIES_MAX 8
#define COLUMNS_POINTS_MAX 64
#define COLUMNS_MEMBERS_MAX 64

struct device_member { /* a policy of a group */
        uint32_t policy;
        char cpus[32];
};

/* A policy, or a group of policies of one kind with equal coefficients. */
struct device_policy {
        uint32_t policy; /* a group's first */
        char cpus[PROFILE_NAME_MAX];
        uint32_t n_cpus;
        uint32_t khz[COLUMNS_POINTS_MAX]; /* ascending */
        size_t n_khz;
        struct device_member members[COLUMNS_MEMBERS_MAX];
        size_t n_members; /* 0: no group */
        uint32_t sharing; /* CPUs that share an S; 0: all of them */
};

/* False if no two of its cores share an S: its column would equal that of A. */
bool columns_policy_shares(const struct device_policy *policy);

/* What is known of the device besides its observations. */
struct device {
        char name[PROFILE_NAME_MAX];
        char method[16];
        double energy_full_mwh;  /* NaN unknown */
        uint32_t max_brightness; /* 0 unknown */
        struct device_policy policies[COLUMNS_POLICIES_MAX]; /* ascending */
        size_t n_policies;
        struct profile *before;  /* of --only: what was measured before; NULL: everything is measured */
        unsigned only;           /* 1 << component that is measured again; the base always is */
        const struct profile *radio; /* its radios price what goes over them; not owned; NULL: bytes and bursts have their prices */
};

/* Has it the radio that is to be known to fit observations of this kind? True of kinds that need none. */
bool columns_can_fit(const struct device *device, const char *kind);

struct cJSON;
/*
 * Policies, and what --only asked for, of a struct hardware_description as JSON, or of a "start" line.
 * columns_device_clear() it. 0; -EINVAL; -ENOMEM.
 */
int columns_device_from_json(const struct cJSON *json, struct device *device);
void columns_device_clear(struct device *device);

struct columns {
        struct device device;
        struct coefficient *list; /* in the profile's order; value and error NaN */
        size_t n;
        size_t active[COLUMNS_POLICIES_MAX]; /* first column of A and of S of each policy, SIZE_MAX: none */
        size_t shared[COLUMNS_POLICIES_MAX];
        size_t idle[COLUMNS_POLICIES_MAX];   /* of what idling costs, at a middle and the highest point; 0 at the lowest */
        size_t n_idle[COLUMNS_POLICIES_MAX];
        size_t term[TERM_COUNT];             /* first column of each term, SIZE_MAX: none */
        size_t levels;                       /* how many display columns */
        bool *kept;                          /* n: it stays as in device.before */
};

/* The columns for @usages, of which each may be NULL. */
int columns_make(const struct device *device, const struct usage *const *usages, size_t n,
                 struct columns *ret);
void columns_clear(struct columns *columns);

/* Adds @usage to @row. Between frequencies and levels it is split linearly; outside the nearest takes all. */
void columns_row(const struct columns *columns, const struct usage *usage, double *row);
