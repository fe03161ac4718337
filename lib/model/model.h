/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The power model: a usage times a profile's coefficients is energy.
 *
 *   E = P0*T + sum over policies p, frequencies f of [ A_pf * busy_pf + S_pf * any_pf + I_pf * (any_pf + idle_pf) ]
 *     + D(brightness)*T_on + e_r*R + e_w*W + P_wifi*T_wifi + e_rx*RX + e_tx*TX + E_wake*N_wake + G*gpu_busy
 *     + P_gps*T_gps + P_sleep*(T - T_gps) + P_audio*T_audio + P_camera*T_camera
 *
 * Energy is linear in the coefficients, so its variance is v'Cv with v the usage
 * in the coefficients' order.
 */

#include "profile.h"
#include "usage.h"

/*
 * A usage in the order of a profile's coefficients: the weight that each is multiplied with, in s, MB or a count, so
 * that coefficient times weight is mJ. Between measured frequencies or levels the weight is split linearly; outside,
 * the nearest takes it (of a frequency scaled by the usual slope), and `component_spread_mj` grows. `not_measured`
 * names parts of the usage that the profile or the counters lack.
 */
struct model_vector {
        double *weight;          /* one per coefficient */
        size_t n;
        double component_spread_mj[COMPONENT_COUNT]; /* half the possible range, e.g. without cpufreq */
        uint32_t unknown;        /* 1 << component: not counted, or a coefficient of it is missing */
        uint32_t unpriced;       /* 1 << component: some of it was used, and has no coefficient */
        char **not_measured;     /* coefficient keys or counters, e.g. "wifi.tx_mj_per_mb", "disk (not counted)" */
        size_t n_not_measured;
};

int model_vector_make(const struct profile *profile, const struct usage *usage, struct model_vector *ret);

/*
 * How CPU time at a frequency of a policy becomes weights: amount * rest at @low and amount * part at @high, for each
 * of the terms of CPU time.
 */
#define MODEL_CPU_TERMS 3
struct model_split { /* the weights of two coefficients for each second */
        size_t low, high;
        double rest, part;
};
struct model_place {
        uint32_t policy, khz;
        bool within; /* false: a term was not measured, or not at this frequency */
        struct model_split by[MODEL_CPU_TERMS];
        /* beyond the measured frequencies: half of the interval, relative to the value; of idling, in mW; else 0 */
        double half, idle_spread_mw;
};

/* A profile's coefficients by term, found once for many usages. */
#define MODEL_PLACES_MAX 128
struct model_prices {
        const struct profile *profile;
        size_t first[TERM_COUNT + 1]; /* where the coefficients of each term begin */
        uint32_t components;          /* 1 << component: some term of it has a coefficient */
        uint32_t held;                /* 1 << amount: apps hold it */
        struct {
                uint32_t amounts;     /* 1 << amount: the others that a coefficient of the component prices ... */
                uint32_t have;        /* ... and that all were counted */
        } plain[COMPONENT_COUNT];
        size_t n_places, next_place;
        struct model_place places[MODEL_PLACES_MAX]; /* as usages need them; most have the same frequencies */
};
void model_prices_find(const struct profile *profile, struct model_prices *ret);
/* @ret: all zero, or from an earlier call with the same prices, whose memory is reused; all zero on an error. */
int model_vector_price(struct model_prices *prices, const struct usage *usage, struct model_vector *ret);
void model_vector_clear(struct model_vector *vector);
/*
 * Adds @from, or a multiple of it, to @to, which may be all zero.
 * 0; -ENOMEM; -EINVAL: they are of different profiles.
 */
int model_vector_add(struct model_vector *to, const struct model_vector *from);
int model_vector_add_scaled(struct model_vector *to, const struct model_vector *from, double factor);
/* Adds all of @from except its weights; @to has an array of weights then, zeros if it had none. 0; likewise. */
int model_vector_add_rest(struct model_vector *to, const struct model_vector *from);

/*
 * The app whose usage it is. An app draws more or less than its counters show: what everyday use taught of it (its
 * [app N]) is added to the vector; the unknown rest is its misfit.
 */
struct model_user {
        const char *app;  /* "": nobody, and nothing is added */
        bool front;       /* it had the screen */
        double active_s;  /* how long it had the screen, or ran behind others */
};

/* @vector: from model_vector_make(). Learnt parts are relative to its energy by the present coefficients. */
void model_vector_add_user(const struct profile *profile, const struct model_user *user, struct model_vector *vector);

/*
 * Standard deviation of the app's energy around its counted energy, beyond what was learnt of it; J. It is computed
 * from values learnt of all apps, else from tuning.h's, of worlds that do not share the model's form. 0 without [fit].
 */
double model_misfit_sd_j(const struct profile *profile, const struct model_user *user,
                         const struct model_vector *vector);
/*
 * Standard deviation of a learnt app's energy at other times, J: its power varies over time, and with the number of
 * cores. Before anything was learnt the misfit covers both. CPU time whose kind of work is unknown always adds its
 * error (kind_unknown_mj()).
 */
double model_within_sd_j(const struct profile *profile, const struct model_user *user, const struct usage *usage,
                         const struct model_vector *vector);
/* Variance of the mean over @seconds of a process of variance 1 and correlation exp(-t / tau). */
double model_averaged(double seconds, double tau_s);
/* Mean number of cores that were busy while any was; NaN: no CPU time. */
double model_busy_cores(const struct usage *usage);
/* Variance of several apps' misfits, from the sum of their standard deviations and the sum of the squares. */
double model_misfit_sum_j2(const struct profile *profile, double sum, double squares);

/*
 * The part of the energy that depends on the signal's strength: that of bytes over WiFi; mJ. @values: coefficients in
 * place of the profile's, or NULL.
 */
double model_air_mj(const struct model_vector *vector, const struct profile *profile, const double *values);

/* False: something was used, and nothing of it has a coefficient, so that the energy is unknown and not 0. */
bool model_knows(const struct model_vector *vector);
/* The energy of the known parts, in mJ. */
double model_energy_mj(const struct profile *profile, const struct model_vector *vector);
/*
 * v'Cv + (scale*E)^2 + sum over components of (discrepancy*E_c)^2 + (misfit*(E - E_base))^2, in J^2;
 * NaN: no standard errors or no [fit].
 */
double model_variance_j2(const struct profile *profile, const struct model_vector *vector);
/*
 * Covariance of the same error with the energy of each coefficient at a weight of one, in J^2; @vector->n values. Their
 * scalar product with the weights of another usage is the covariance of both energies.
 */
void model_covariance_j2(const struct profile *profile, const struct model_vector *vector, double *ret);

struct model_energy {
        double value_j;                       /* sum of the known parts; NaN: no part that was used is known */
        double half_width_j;                  /* NaN: no standard errors, so no interval */
        double component_j[COMPONENT_COUNT];  /* NaN unknown; 0 where it was not used */
};

/**
 * model_energy() - energy of a usage with its interval
 * @level: 0.95 for costs, 0.90 for forecasts
 * @extra_sd_j: another standard deviation in quadrature, e.g. of daemons that no counter shows; 0 for none
 *
 * half width = width * sqrt(t(degrees_of_freedom)^2 * (v'Cv + (scale*E)^2 + sum over components of
 * (discrepancy*E_c)^2 + (misfit*(E - E_base))^2
 *                   + extra_sd^2) + spread^2)      (joulecast-profile(5))
 *
 * The spread is a half range and no standard deviation, so it gets no t: an unknown frequency alone gives
 * exactly the range over all operating points.
 */
void model_energy(const struct profile *profile, const struct model_vector *vector, double level,
                  double extra_sd_j, struct model_energy *ret);
/* The same without the interval, which takes most of the time: half_width_j is NaN. */
void model_energy_alone(const struct profile *profile, const struct model_vector *vector, struct model_energy *ret);

/* sd of the energy of daemons that no counter shows over @seconds: tuning.h or the profile's x- keys; J. */
double model_background_sd_j(const struct profile *profile, double seconds);
/* sd of a total by what differs from session to session (place, temperature), as a meter showed; J. */
double model_session_sd_j(const struct profile *profile, double seconds, double energy_j);
