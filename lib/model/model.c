/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model.h"
#include "kind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/quantile.h"
#include "util/tuning.h"
#include "util/util.h"

bool model_knows(const struct model_vector *vector)
{
        for (size_t i = 0; i < vector->n; i++) {
                if (vector->weight[i] != 0)
                        return true;
        }
        return vector->unpriced == 0;
}

double model_energy_mj(const struct profile *profile, const struct model_vector *vector)
{
        double sum = 0;

        for (size_t i = 0; i < vector->n; i++)
                sum += vector->weight[i] * profile->coefficients[i].value;
        return sum;
}

/* Percents of [fit] may be missing: a missing one adds nothing. */
static double fraction(double percent)
{
        return isnan(percent) ? 0 : percent / 100;
}

static double extra_number(const struct profile *profile, const char *section, const char *key, double otherwise)
{
        const char *text = profile_extra(profile, section, key);
        double value;

        return text && util_parse_double(text, &value) == 0 && value >= 0 && value < 1e9 ? value : otherwise;
}

/* The learnt value, or the usual one if it was not learnt. */
static double learned_or(double learned, double usual)
{
        return isnan(learned) ? usual : learned;
}

static void component_energies(const struct profile *profile, const struct model_vector *vector,
                               double component_mj[COMPONENT_COUNT])
{
        memset(component_mj, 0, COMPONENT_COUNT * sizeof(*component_mj));
        for (size_t i = 0; i < vector->n; i++)
                if (vector->weight[i] != 0) /* most are */
                        component_mj[model_term_component(profile->coefficients[i].term)] +=
                                vector->weight[i] * profile->coefficients[i].value;
}

void model_vector_add_user(const struct profile *profile, const struct model_user *user, struct model_vector *vector)
{
        const struct profile_app *app = *user->app ? profile_find_app(profile, user->app) : NULL;
        double component_mj[COMPONENT_COUNT];

        if (!app)
                return;
        component_energies(profile, vector, component_mj);
        for (size_t i = profile->n_coefficients; i-- > 0 && profile->coefficients[i].term >= TERM_APP_CPU;) {
                const struct coefficient *coefficient = &profile->coefficients[i];

                if (coefficient->policy != app->number)
                        continue;
                if (coefficient->term == TERM_APP_CPU || coefficient->term == TERM_APP_DISPLAY)
                        vector->weight[i] = component_mj[model_term_component(coefficient->term)];
                else if ((coefficient->term == TERM_APP_FRONT) == user->front)
                        vector->weight[i] = user->active_s;
        }
}

#define BEHIND_MOST 3 /* limit of a background app's uncounted energy, in multiples of its counted energy */

/*
 * Apps' pictures save up to six tenths of the part of a white display's power that depends on the picture. A
 * calibration with a grey picture may have shown how far that part is from proportional to the light.
 */
static double display_misfit_percent(const struct profile *profile)
{
        double emission = extra_number(profile, "display", "x-emission_percent", NAN);
        double bend = extra_number(profile, "display", "x-emission_bend_percent", 0);
        double usual = isnan(emission) ? TUNING_MISFIT_DISPLAY_PERCENT :
                                         hypot(hypot(TUNING_MISFIT_LCD_PERCENT, bend),
                                               TUNING_MISFIT_CONTENT * fmin(emission, 100));

        return learned_or(profile->learned.misfit_display_percent, usual);
}

static bool has_app_term(const struct profile *profile, enum term term, const struct profile_app *app)
{
        return app && profile_find(profile, term, app->number, 0, "") >= 0;
}

/* Errors of what radios sent and received: @parts[0] by amounts, @parts[1] by an automaton; mJ times percent. */
static void radio_misfits(const struct profile *profile, const struct model_vector *vector, double wifi_mj,
                          double parts[2])
{
        const struct coefficient *c = profile->coefficients;
        double learned = profile->learned.misfit_radio_percent, bytes_mj = wifi_mj, automaton_mj = 0;

        for (size_t i = 0; i < vector->n && c[i].term <= TERM_CELLULAR_TX; i++) {
                if (c[i].term == TERM_WIFI_RADIO)
                        bytes_mj -= vector->weight[i] * c[i].value;
                if (c[i].term == TERM_WIFI_RADIO || c[i].term == TERM_CELLULAR)
                        automaton_mj += vector->weight[i] * c[i].value;
                if (c[i].term == TERM_CELLULAR_RX || c[i].term == TERM_CELLULAR_TX)
                        bytes_mj += vector->weight[i] * c[i].value;
        }
        parts[0] = bytes_mj * learned_or(learned, TUNING_MISFIT_RADIO_PERCENT);
        parts[1] = automaton_mj * learned_or(learned, TUNING_MISFIT_AUTOMATON_PERCENT);
}

/*
 * Knowledge of apps that were not seen comes from the apps that were learnt: Student's t with UNSEEN_FREEDOM degrees of
 * freedom and one for each of these apps, relative to the t of the profile's own.
 */
#define UNSEEN_FREEDOM 3.0
#define UNSEEN_LEVEL 0.95

static double unseen_factor(const struct profile *profile)
{
        double freedom = UNSEEN_FREEDOM;

        if (isnan(profile->learned.within_percent))
                return 1;
        for (size_t i = 0; i < profile->n_coefficients; i++)
                freedom += profile->coefficients[i].term == TERM_APP_CPU;
        return fmax(quantile_student_t(freedom, UNSEEN_LEVEL) /
                            quantile_student_t(profile->degrees_of_freedom, UNSEEN_LEVEL), 1);
}

static double cpu_misfit_percent(const struct profile *profile)
{
        double usual = kind_left_percent(profile, TUNING_MISFIT_CPU_PERCENT, TUNING_MISFIT_INSTRUCTIONS_PERCENT,
                                         TUNING_MISFIT_KIND_PERCENT);

        return unseen_factor(profile) * learned_or(profile->learned.misfit_cpu_percent, usual);
}

double model_misfit_sd_j(const struct profile *profile, const struct model_user *user,
                         const struct model_vector *vector)
{
        const struct profile_learned *learned = &profile->learned;
        const struct profile_app *app = *user->app ? profile_find_app(profile, user->app) : NULL;
        double component_mj[COMPONENT_COUNT], parts[5] = { 0 }, watts_mw, counted_mj = 0, sum = 0;

        if (isnan(profile->degrees_of_freedom))
                return 0;
        component_energies(profile, vector, component_mj);
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                counted_mj += component_mj[c];
        if (component_mj[COMPONENT_CPU] != 0 && !has_app_term(profile, TERM_APP_CPU, app))
                parts[0] = component_mj[COMPONENT_CPU] * cpu_misfit_percent(profile);
        if (component_mj[COMPONENT_DISPLAY] != 0 && !has_app_term(profile, TERM_APP_DISPLAY, app))
                parts[1] = component_mj[COMPONENT_DISPLAY] * display_misfit_percent(profile);
        if (component_mj[COMPONENT_WIFI] != 0 || component_mj[COMPONENT_CELLULAR] != 0)
                radio_misfits(profile, vector, component_mj[COMPONENT_WIFI], parts + 3);
        watts_mw = user->front ? learned_or(learned->misfit_front_mw, TUNING_MISFIT_FRONT_MW) :
                                 learned_or(learned->misfit_behind_mw, TUNING_MISFIT_BEHIND_MW);
        if (*user->app && !has_app_term(profile, user->front ? TERM_APP_FRONT : TERM_APP_BEHIND, app))
                parts[2] = 100 * user->active_s * watts_mw;
        /* An app that keeps a radio or a sensor on in the background uses it; a hundred sleeping daemons do not. */
        if (!user->front)
                parts[2] = fmin(parts[2], 100 * BEHIND_MOST * counted_mj);
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
                sum += parts[i] * parts[i];
        return sqrt(sum) * 1e-5;
}

double model_averaged(double seconds, double tau_s)
{
        double x = seconds / tau_s;

        if (!(x > 1e-4))
                return 1;
        return 2 / x * (1 + expm1(-x) / x);
}

double model_busy_cores(const struct usage *usage)
{
        double busy_ns = 0, any_ns = 0;

        for (size_t i = 0; i < usage->cpu.n; i++) {
                busy_ns += (double)usage->cpu.list[i].busy_ns;
                any_ns += (double)usage->cpu.list[i].any_ns;
        }
        return any_ns > 0 && busy_ns > 0 ? fmax(busy_ns / any_ns, 1) : NAN;
}

/* How many doublings of busy cores lie between this use of an app and those that it was learnt from. */
static double doublings(const struct profile *profile, const struct profile_app *app, const struct usage *usage)
{
        double cores = model_busy_cores(usage), learnt;
        char section[32];

        snprintf(section, sizeof(section), "app %u", app->number);
        learnt = extra_number(profile, section, "x-cores", NAN);
        return isnan(cores) || !(learnt >= 1) ? 0 : log2(cores / learnt);
}

/* CPU time whose kind of work was not counted adds its error, whether the app was learnt or not. */
double model_within_sd_j(const struct profile *profile, const struct model_user *user, const struct usage *usage,
                         const struct model_vector *vector)
{
        const struct profile_learned *learned = &profile->learned;
        const struct profile_app *app = *user->app ? profile_find_app(profile, user->app) : NULL;
        double component_mj[COMPONENT_COUNT], energy_mj = 0, within, cores = 0;
        double kind_mj = kind_unknown_mj(profile, usage, vector);

        if (isnan(learned->within_percent) || isnan(learned->within_tau_s))
                return kind_mj * 1e-3;
        component_energies(profile, vector, component_mj);
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                if (c != COMPONENT_BASE)
                        energy_mj += component_mj[c];
        within = fraction(learned->within_percent) * energy_mj;
        within *= sqrt(model_averaged(user->active_s, learned->within_tau_s));
        if (has_app_term(profile, TERM_APP_CPU, app))
                cores = TUNING_DOUBLING * component_mj[COMPONENT_CPU] * doublings(profile, app, usage);
        return hypot(hypot(within, cores), kind_mj) * 1e-3;
}

double model_misfit_sum_j2(const struct profile *profile, double sum, double squares)
{
        double common = learned_or(profile->learned.common, TUNING_MISFIT_COMMON);

        return (1 - common) * squares + common * sum * sum;
}

/* Parts of a usage that have errors in common. */
struct parts {
        double component_mj[COMPONENT_COUNT];
        double load_mj;  /* all components except the base */
        double scale2_mj, discrepancy2, misfit2; /* the same for all coefficients */
};

static struct parts parts_of(const struct profile *profile, const struct model_vector *vector)
{
        double scale = profile_joule_error(profile) > 0 ? 0 : fraction(profile->scale_percent), total_mj = 0;
        struct parts parts = {
                .discrepancy2 = pow(fraction(profile->discrepancy_percent), 2),
                .misfit2 = pow(fraction(profile->misfit_percent), 2),
        };

        component_energies(profile, vector, parts.component_mj);
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                total_mj += parts.component_mj[c];
        parts.load_mj = total_mj - parts.component_mj[COMPONENT_BASE];
        parts.scale2_mj = scale * scale * total_mj;
        return parts;
}

/* Errors that components have in common: covariance with the energy of coefficient @i at a weight of one. */
static double common_mj2(const struct profile *profile, const struct parts *parts, size_t i)
{
        const struct coefficient *one = &profile->coefficients[i];
        enum component component = model_term_component(one->term);
        double load_mj = component == COMPONENT_BASE ? 0 : parts->load_mj;

        return (parts->scale2_mj + parts->discrepancy2 * parts->component_mj[component] + parts->misfit2 * load_mj) *
               one->value;
}

void model_covariance_j2(const struct profile *profile, const struct model_vector *vector, double *ret)
{
        struct parts parts = parts_of(profile, vector);

        for (size_t i = 0; i < vector->n; i++) {
                const double *row = &profile->covariance[i * profile->n_coefficients];
                double sum = common_mj2(profile, &parts, i);

                for (size_t k = 0; k < vector->n; k++)
                        sum += vector->weight[k] * row[k];
                ret[i] = sum * 1e-6;
        }
}

/* Covariances are symmetric, so each pair is read once. */
double model_variance_j2(const struct profile *profile, const struct model_vector *vector)
{
        struct parts parts = parts_of(profile, vector);
        double sum_mj2 = 0;

        if (isnan(profile->degrees_of_freedom))
                return NAN;
        for (size_t i = 0; i < vector->n; i++) {
                const double *row = &profile->covariance[i * profile->n_coefficients], *weight = vector->weight;
                double sum = 0;

                if (weight[i] == 0) /* most are */
                        continue;
                for (size_t k = 0; k < i; k++)
                        if (weight[k] != 0)
                                sum += weight[k] * row[k];
                sum_mj2 += weight[i] * (2 * sum + weight[i] * row[i] + common_mj2(profile, &parts, i));
        }
        return sum_mj2 < 0 ? 0 : sum_mj2 * 1e-6; /* NaN stays */
}

void model_energy_alone(const struct profile *profile, const struct model_vector *vector, struct model_energy *ret)
{
        *ret = (struct model_energy){ .half_width_j = NAN };
        component_energies(profile, vector, ret->component_j);
        for (size_t c = 0; c < COMPONENT_COUNT; c++) {
                ret->component_j[c] *= 1e-3;
                ret->value_j += ret->component_j[c];
                if (vector->unknown & (UINT32_C(1) << c) && ret->component_j[c] == 0)
                        ret->component_j[c] = NAN;
        }
        if (!model_knows(vector))
                ret->value_j = NAN;
}

void model_energy(const struct profile *profile, const struct model_vector *vector, double level,
                  double extra_sd_j, struct model_energy *ret)
{
        double spread_mj = 0, sd_j, t;

        model_energy_alone(profile, vector, ret);
        if (isnan(ret->value_j))
                return;
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                spread_mj += vector->component_spread_mj[c];
        t = quantile_student_t(profile->degrees_of_freedom, level);
        sd_j = sqrt(model_variance_j2(profile, vector) + extra_sd_j * extra_sd_j);
        ret->half_width_j = profile_width(profile, ANSWER_COST) * hypot(t * sd_j, spread_mj * 1e-3);
}

double model_session_sd_j(const struct profile *profile, double seconds, double energy_j)
{
        return fraction(profile->learned.session_percent) * energy_j *
               sqrt(model_averaged(seconds, TUNING_SESSION_TAU_S));
}

/*
 * A process of standard deviation s and exponential correlation tau, integrated over T, has the variance
 * 2 s^2 tau (T - tau (1 - exp(-T/tau))): s^2 T^2 where T is short, 2 s^2 tau T where it is long.
 */
double model_background_sd_j(const struct profile *profile, double seconds)
{
        double sd_w = learned_or(profile->learned.background_sd_mw,
                                 extra_number(profile, "base", "x-background_sd_mw", TUNING_BACKGROUND_SD_MW)) * 1e-3;
        double tau_s = extra_number(profile, "base", "x-background_tau_s", TUNING_BACKGROUND_TAU_S);

        if (!(seconds > 0))
                return 0;
        if (tau_s < 1e-6 * seconds)
                return sd_w * sqrt(2 * tau_s * seconds);
        return sd_w * sqrt(2 * tau_s * fmax(seconds + tau_s * expm1(-seconds / tau_s), 0));
}
