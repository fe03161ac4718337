/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The power of a virtual device at a moment, split into apps and base:
 *
 *   P = (P0 + sum_p [ idle_pf + S_pf*any + A_pf*u*(1 - k*max(0, u-1)/(n-1)) ]) * L
 *       + D + P_wifi*on + rates + bursts + gpu + daemons
 *
 * where u is the summed utilisation of a policy's n cores, any = 1 - prod(1 - u_c), k the sub-additivity and
 * L the leakage factor. (S_pf + idle_pf)*any is divided among apps by busy time; idle_pf*(1 - any) is base.
 *
 * Policies with one core each that are `as` another form a package: S and k then apply to all its cores, n
 * and u-1 are those of the package, and S_pf*any of each policy is its share, by busy time, of the time that
 * any core of the package is awake.
 */

#include "model/profile.h"
#include "noise.h"
#include "virtual.h"

#define POWER_MAX_POLICIES VIRTUAL_POLICIES_MAX
#define POWER_MAX_CPUS VIRTUAL_CPUS_MAX

struct power_opp {
        uint32_t khz;
        double active_w;
        double shared_w;
        double idle_w; /* above idling at the lowest frequency */
};

struct power_policy {
        uint32_t policy;
        uint32_t cpu[POWER_MAX_CPUS]; /* CPU numbers */
        unsigned first_cpu;           /* index of its first CPU in the device's list */
        unsigned n_cpus;
        struct power_opp *opps;       /* ascending */
        size_t n_opps;
        size_t first_opp;             /* index of its first operating point in the device's list */
        uint32_t package;             /* as in struct core */
        double spin_ipc;              /* instructions per cycle of the work that A and S are of */
        double instruction_cycles;    /* energy of an instruction, and of a cache event, ... */
        double miss_cycles;           /* ... in cycles of a core that does that work */
};

struct power_level {
        uint32_t brightness;
        double power_w;
};

/* The true coefficients in watts and joules. */
struct power_model {
        double base_w;
        double suspend_w;      /* power of the whole device */
        double sub_additivity; /* k */
        struct power_policy policies[POWER_MAX_POLICIES];
        size_t n_policies;
        unsigned n_cpus;
        size_t n_opps;
        struct power_level *display; /* ascending */
        size_t n_display;
        uint32_t max_brightness;     /* UINT32_MAX: not given in the file */
        double j_per_byte[RATE_COUNT];
        bool wifi;                   /* the device has WiFi */
        double wifi_on_w;
        double wake_j;
        double gpu_w;
        double gps_on_w, gps_sleep_w, audio_on_w, camera_on_w;
};

/* Returns -EINVAL after a sentence if there are too many CPUs or policies. */
int power_model_init(struct power_model *model, const struct profile *truth, const struct log *log);
void power_model_clear(struct power_model *model);
double power_display_w(const struct power_model *model, uint32_t brightness);
/* Index of @khz among the policy's operating points, or -EINVAL. */
int power_find_opp(const struct power_policy *policy, uint32_t khz);
/*
 * Energy of a cycle that executes @instructions and has @misses cache events, over that of the work that A and S are
 * of. Exactly 1 for that work.
 */
double power_kind(const struct power_policy *policy, double instructions, double misses);
int power_find_policy(const struct power_model *model, uint32_t policy);

/* Power of one policy at one operating point, before leakage. */
struct power_cpu {
        double busy;          /* u: number of busy cores */
        double any;           /* share of time with at least one busy core */
        double nobody_w;      /* idle_pf * (1 - any), at the frequency of idle moments */
        double kind_w;     /* its part that depends on the kind of work: A, and its share of S */
        double per_busy_w; /* power of one busy core that its app is charged: A, and its share of S and idle */
};

/* @idle_opp: operating point while no core works. */
void power_cpu(const struct power_model *model, unsigned policy, size_t opp, size_t idle_opp,
               const double *utilisation, struct power_cpu *ret);
