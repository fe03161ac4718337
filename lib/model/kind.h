/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Kinds of work. A busy core takes more power if it executes more instructions per cycle, and if it misses its caches:
 *
 *   E = sum over frequencies f of (A_f busy_f + S_f any_f) * [ 1 + phi (i / i0 - 1) + mu (m - m0) ]
 *
 * with i and m the instructions and the cache events per cycle of the work, and i0, m0 those of the calibration's work,
 * for which A and S hold. phi (cpu.P.instruction_part) and mu (cpu.P.miss_cycles: the energy of an event in cycles of a
 * busy core) have no unit, and are the same at all frequencies of a policy.
 */

#include "model.h"

struct work_kind {
        double instructions, misses; /* per cycle; misses NaN: not counted */
};

/* The kind that was counted on the policies whose coefficients are those of @policy. False: none was. */
bool kind_of(const struct usage *usage, const struct profile *profile, uint32_t policy, struct work_kind *ret);
/* The kind of work for which the profile's A and S hold; misses NaN: unknown. False: the kind is not known. */
bool kind_usual(const struct profile *profile, uint32_t policy, struct work_kind *ret);
/* Stores that kind in the profile. @event: the cache event of the misses; "" or NULL: unknown. 0; -ENOMEM. */
int kind_set_usual(struct profile *profile, uint32_t policy, const struct work_kind *usual, const char *event);

/*
 * Sets the weights of phi and mu in a vector whose other weights are made, by @values of the coefficients
 * (NULL: the profile's).
 */
void kind_weigh(const struct profile *profile, const struct usage *usage, const double *values,
                struct model_vector *vector);
/* Standard deviation of CPU energy whose kind of work is unknown, though the profile prices kinds; mJ. */
double kind_unknown_mj(const struct profile *profile, const struct usage *usage, const struct model_vector *vector);

/* A coefficient that an error of the joules does not scale: for a kind of work, or for the gauge's curve. */
bool kind_is_ratio(enum term term);
/*
 * Remaining standard deviation of CPU energy among programs, in percent: @both if the profile prices misses,
 * @instructions if it prices only instructions, else @without.
 */
double kind_left_percent(const struct profile *profile, double without, double instructions, double both);

/* A price before any row was measured. */
struct kind_prior {
        double value, sd;
};
struct kind_prior kind_prior_instructions(double usual_instructions);
struct kind_prior kind_prior_misses(const char *event);
/* Gives the profile prices where it has none, with the mean kind counted in @sum as its usual kind. 0; -ENOMEM. */
int kind_add_prior(struct profile *profile, const struct usage *sum, const char *event);
