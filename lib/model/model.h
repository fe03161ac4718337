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
 * A usage in the order of a profile's coefficients: what each is multiplied with, in s, MB or a count, so
 * that coefficient times weight is mJ. Between measured frequencies or levels the weight is split linearly;
 * outside, the nearest takes it and `spread_mj` grows. `not_measured` names what the usage has and the
 * profile or the counters lack.
 */
struct model_vector {
        double *weight;          /* one per coefficient */
        size_t n;
        double component_spread_mj[COMPONENT_COUNT]; /* half the range of what is not known better: no cpufreq */
        uint32_t unknown;        /* 1 << component: not counted, or a coefficient of it is missing */
        uint32_t unpriced;       /* 1 << component: some of it was used, and has no coefficient */
        char **not_measured;     /* coefficient keys or counters, e.g. "wifi.tx_mj_per_mb", "disk (not counted)" */
        size_t n_not_measured;
};

int model_vector_make(const struct profile *profile, const struct usage *usage, struct model_vector *ret);
void model_vector_clear(struct model_vector *vector);
/*
 * Adds one to another, or a multiple of it; @to may be all zero.
 * 0; -ENOMEM; -EINVAL for another profile's.
 */
int model_vector_add(struct model_vector *to, const struct model_vector *from);
int model_vector_add_scaled(struct model_vector *to, const struct model_vector *from, double factor);

/*
 * Who used it. An app's usage is not all that it draws: what everyday use showed of it (its [app N]) is added to the
 * vector; what is not known of it is its misfit.
 */
struct model_user {
        const char *app;  /* "": nobody, and nothing is added */
        bool front;       /* it had the screen */
        double active_s;  /* for so long it did, or ran behind others */
};

/* @vector: of model_vector_make(). The parts are of its energy by the present coefficients. */
void model_vector_add_user(const struct profile *profile, const struct model_user *user, struct model_vector *vector);

/*
 * Standard deviation of what this app draws against what is counted of it, beyond what was learnt; J. By what was
 * learnt of all apps, else by worlds that do not share the model's form (tuning.h). 0 without [fit].
 */
double model_misfit_sd_j(const struct profile *profile, const struct model_user *user, const struct model_vector *vector);
/* Of several apps, whose misfits have @sum and sum of squares @squares of standard deviations. */
double model_misfit_sum_j2(const struct profile *profile, double sum, double squares);

/* What of it the signal's strength scales: bytes over WiFi. @values: in place of the profile's coefficients, or NULL. */
double model_air_mj(const struct model_vector *vector, const struct profile *profile, const double *values);

/* False: something was used, and nothing of it has a coefficient, so that the energy is unknown and not 0. */
bool model_knows(const struct model_vector *vector);
/* The energy of what is known, in mJ. */
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
        double value_j;                       /* of what is known; NaN: nothing of what was used is */
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

/* sd of the energy of daemons that no counter shows over @seconds: tuning.h or the profile's x- keys; J. */
double model_background_sd_j(const struct profile *profile, double seconds);
