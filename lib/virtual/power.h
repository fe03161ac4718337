/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The power of a virtual device at a moment, split into apps and base:
 *
 *   P = (P0 + sum_p [ idle_pf + S_pf*any + A_pf*u*(1 - k*max(0, u-1)/(n-1)) ]) * L
 *     + D + P_wifi*on + rates + bursts + gpu + daemons
 *
 * with u the summed utilisation of a policy's n cores, any = 1 - prod(1 - u_c),
 * k the sub-additivity and L the leakage factor. (S_pf + idle_pf)*any goes to
 * apps by busy time; idle_pf*(1 - any) is base.
 *
 * Of policies with one core each that are `as` another, a package, S and k see
 * all cores: n and u-1 are the package's, and S_pf*any is each policy's part by
 * busy time of what any core of the package keeps awake.
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
        uint32_t cpu[POWER_MAX_CPUS]; /* their numbers */
        unsigned first_cpu;           /* its first in the device's list of CPUs */
        unsigned n_cpus;
        struct power_opp *opps;       /* ascending */
        size_t n_opps;
        size_t first_opp;             /* its first in the device's list of operating points */
        uint32_t package;             /* as in struct core */
};

struct power_level {
        uint32_t brightness;
        double power_w;
};

/* The true coefficients in watts and joules. */
struct power_model {
        double base_w;
        double suspend_w;      /* of all of it */
        double sub_additivity; /* k */
        struct power_policy policies[POWER_MAX_POLICIES];
        size_t n_policies;
        unsigned n_cpus;
        size_t n_opps;
        struct power_level *display; /* ascending */
        size_t n_display;
        uint32_t max_brightness;     /* UINT32_MAX: the file does not say */
        double j_per_byte[RATE_COUNT];
        bool wifi;                   /* it has any WiFi */
        double wifi_on_w;
        double wake_j;
        double gpu_w;
        double gps_on_w, gps_sleep_w, audio_on_w, camera_on_w;
};

/* -EINVAL (and a sentence) for more CPUs or policies than there is room for. */
int power_model_init(struct power_model *model, const struct profile *truth, const struct log *log);
void power_model_clear(struct power_model *model);
double power_display_w(const struct power_model *model, uint32_t brightness);
/* Index of @khz among the policy's operating points, or -EINVAL. */
int power_find_opp(const struct power_policy *policy, uint32_t khz);
int power_find_policy(const struct power_model *model, uint32_t policy);

/* Of one policy at one operating point, before leakage. */
struct power_cpu {
        double busy;          /* u: cores at work */
        double any;           /* share of time with at least one */
        double nobody_w;      /* idle_pf * (1 - any), f of idle moments */
        double per_busy_w;    /* what one busy core costs its app: A, and its share of S and idle */
};

/* @idle_opp: where the clock is while none of its cores works. */
void power_cpu(const struct power_model *model, unsigned policy, size_t opp, size_t idle_opp,
               const double *utilisation, struct power_cpu *ret);
