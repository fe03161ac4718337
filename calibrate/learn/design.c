/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "design.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/regression.h"
#include "util/tuning.h"
#include "util/util.h"

#define J_PER_MJ 1e-3

const uint32_t design_signals[DESIGN_SIGNALS] = { 40, 55, 70, 85 };

enum term design_learnt_term(enum learnt learnt)
{
        static const enum term terms[LEARNT_COUNT] = { TERM_APP_CPU, TERM_APP_DISPLAY, TERM_APP_FRONT, TERM_APP_BEHIND };

        return terms[learnt];
}

void design_clear(struct design *design)
{
        free(design->rows);
        free(design->apps);
        free(design->stretch_radio);
        matrix_freep(&design->x);
        *design = (struct design){ 0 };
}

static struct design_app *find_app(const struct design *design, const char *id)
{
        for (size_t i = 0; i < design->n_apps; i++)
                if (strcmp(design->apps[i].id, id) == 0)
                        return &design->apps[i];
        return NULL;
}

static int by_energy(const void *a, const void *b)
{
        const struct design_app *x = a, *y = b;

        return (x->energy_j < y->energy_j) - (x->energy_j > y->energy_j);
}

static void use_energies(const struct design *design, const struct model_vector *vector, const double *coefficients,
                         double component_j[COMPONENT_COUNT])
{
        memset(component_j, 0, COMPONENT_COUNT * sizeof(*component_j));
        for (size_t j = 0; j < design->p; j++)
                component_j[model_term_component(design->prior->coefficients[j].term)] +=
                        vector->weight[j] * coefficients[j] * J_PER_MJ;
}

static void use_amounts(const struct everyday_use *use, const double component_j[COMPONENT_COUNT],
                        double amount[LEARNT_COUNT])
{
        bool front = use->state == STATE_FOREGROUND;

        amount[LEARNT_CPU] = component_j[COMPONENT_CPU];
        amount[LEARNT_DISPLAY] = component_j[COMPONENT_DISPLAY];
        amount[LEARNT_FRONT] = front ? use->active_s : 0;
        amount[LEARNT_BEHIND] = front ? 0 : use->active_s;
}

/* A use's vector, also of one that did nothing. */
static int use_vector(const struct design *design, const struct everyday_use *use, struct model_vector *vector)
{
        struct usage usage = use->usage;

        if (usage_is_empty(&usage))
                usage.have = USAGE_ALL;
        return model_vector_make(design->prior, &usage, vector);
}

struct named { /* a use of an app, and the how manieth it is in all rows */
        const struct everyday_use *use;
        size_t at;
};

static int by_name(const void *a, const void *b)
{
        const struct named *x = a, *y = b;
        int order = strcmp(x->use->app, y->use->app);

        return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Sorted, because whoever starts programs of new names makes tens of thousands of apps. */
static int list_names(const struct design *design, struct named **ret, size_t *ret_n)
{
        struct named *list;
        size_t most = 1, n = 0;

        for (size_t i = 0; i < design->n; i++)
                most += design->rows[i].everyday->n_uses;
        list = calloc(most, sizeof(*list));
        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < design->n; i++)
                for (size_t u = 0; u < design->rows[i].everyday->n_uses; u++)
                        if (profile_can_name(design->rows[i].everyday->uses[u].app) &&
                            strcmp(design->rows[i].everyday->uses[u].app, TUNING_OTHER_APPS) != 0) { /* many, not one */
                                list[n] = (struct named){ &design->rows[i].everyday->uses[u], n };
                                n++;
                        }
        if (n > 1)
                qsort(list, n, sizeof(*list), by_name);
        *ret = list;
        *ret_n = n;
        return 0;
}

/* In the order of their names. */
static int add_app(struct design *design, const struct everyday_use *use, size_t *capacity)
{
        struct design_app *app = design->n_apps > 0 ? &design->apps[design->n_apps - 1] : NULL;
        double coefficients_j[COMPONENT_COUNT], amount[LEARNT_COUNT];
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        _cleanup_free_ double *values = calloc(design->p + 1, sizeof(*values));
        int err = values ? use_vector(design, use, &vector) : -ENOMEM;

        if (!err && (!app || strcmp(app->id, use->app) != 0)) {
                err = util_grow(&design->apps, capacity, design->n_apps + 1, sizeof(*design->apps));
                if (!err) {
                        app = &design->apps[design->n_apps++];
                        *app = (struct design_app){ 0 };
                        snprintf(app->id, sizeof(app->id), "%s", use->app);
                }
        }
        if (err)
                return err;
        for (size_t j = 0; j < design->p; j++)
                values[j] = design->prior->coefficients[j].value;
        use_energies(design, &vector, values, coefficients_j);
        use_amounts(use, coefficients_j, amount);
        for (size_t k = 0; k < LEARNT_COUNT; k++)
                app->amount[k] += amount[k];
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                app->energy_j += coefficients_j[c];
        return 0;
}

/* Less than this is nothing that a battery's level shows. */
#define LEAST_J 2.0
#define LEAST_S 60.0

/* What an app draws at rest that runs in so large a part of the time cannot be told from the base, and is part of it. */
#define ALWAYS 0.8

static int find_apps(struct design *design)
{
        size_t others = design->p + DESIGN_SIGNALS;
        size_t left = others < PROFILE_COEFFICIENTS_MAX ? (PROFILE_COEFFICIENTS_MAX - others) / LEARNT_COUNT : 0;
        _cleanup_free_ struct named *names = NULL;
        size_t capacity = 0, n = 0;
        double seconds = 0;
        int err;

        err = list_names(design, &names, &n);
        for (size_t i = 0; !err && i < n; i++)
                err = add_app(design, names[i].use, &capacity);
        if (err)
                return err;
        if (design->n_apps > 1)
                qsort(design->apps, design->n_apps, sizeof(*design->apps), by_energy);
        left = MIN(left, (size_t)DESIGN_APPS_MAX);
        design->n_apps = MIN(design->n_apps, left);
        for (size_t i = 0; i < design->n; i++)
                seconds += design->rows[i].seconds;
        for (size_t a = 0; a < design->n_apps; a++)
                for (size_t k = 0; k < LEARNT_COUNT; k++) {
                        double least = k < LEARNT_FRONT ? LEAST_J : LEAST_S;
                        double most = k < LEARNT_FRONT ? INFINITY : ALWAYS * seconds;
                        double amount = design->apps[a].amount[k];

                        design->apps[a].column[k] = amount > least && amount < most ? design->q++ : SIZE_MAX;
                        design->apps[a].always[k] = amount >= most;
                }
        return 0;
}

static bool has_signal(const struct design *design)
{
        for (size_t i = 0; i < design->n; i++)
                for (size_t u = 0; u < design->rows[i].everyday->n_uses; u++)
                        if (design->rows[i].everyday->uses[u].usage.signal.n > 0)
                                return true;
        return false;
}

/* By the percentage alone where the battery has no voltage: then a percent is one of energy. */
static double shown_energy_j(const struct design *design, const struct everyday *everyday)
{
        if (!isnan(everyday->energy_j))
                return everyday->energy_j;
        return everyday->percent * J_PER_PERCENT(design->prior->energy_full_mwh);
}

static int take_rows(struct design *design, const struct everyday *list, size_t n)
{
        size_t first = n > DESIGN_ROWS_MAX ? n - DESIGN_ROWS_MAX : 0;

        design->rows = calloc(n - first + 1, sizeof(*design->rows));
        if (!design->rows)
                return -ENOMEM;
        for (size_t i = first; i < n; i++) {
                struct design_row *row = &design->rows[design->n];
                bool follows = list[i].follows && design->n > 0 && i > first;

                *row = (struct design_row){ .everyday = &list[i], .energy_j = shown_energy_j(design, &list[i]),
                                            .seconds = (double)list[i].elapsed_ns / NS_PER_S, .late_s = list[i].late_s };
                if (!(row->energy_j > 0) || !(row->seconds > 0) || !(list[i].late_s >= 0))
                        continue;
                design->n_stretches += !follows;
                row->stretch = design->n_stretches - 1;
                row->late_before_s = follows ? row[-1].late_s : row->late_s;
                design->shared += list[i].shared;
                design->n++;
        }
        design->shared /= design->n > 0 ? (double)design->n : 1;
        return design->n > 0 ? 0 : -ENODATA;
}

int design_make(const struct profile *prior, const struct everyday *list, size_t n, const struct design_change *changes,
                size_t n_changes, struct design *ret)
{
        struct design design = { .prior = prior, .p = prior->n_coefficients };
        int err = take_rows(&design, list, n);
        size_t together = 1;

        design.common = design.p;
        design.q = design.p + COMPONENT_COUNT;
        design.signal = SIZE_MAX;
        if (!err)
                err = find_apps(&design);
        if (!err && has_signal(&design)) {
                design.signal = design.q;
                design.q += DESIGN_SIGNALS;
        }
        if (!err) {
                design.stretch_radio = calloc(design.n_stretches, sizeof(*design.stretch_radio));
                err = design.stretch_radio ? 0 : -ENOMEM;
                together = (design.n_stretches + DESIGN_RADIO_MAX - 1) / DESIGN_RADIO_MAX;
        }
        for (size_t s = 0; !err && s < design.n_stretches; s++) {
                bool first = s % together == 0;

                design.stretch_radio[s] = first ? design.q++ : design.stretch_radio[s - 1];
        }
        for (size_t c = 0; !err && c < n_changes; c++) {
                design.changes[c] = changes[c];
                design.change_column[c] = design.q++;
                design.n_changes++;
        }
        /* The calibration's, if it saw some. */
        design.waves = 0;
        while (design.waves < design.p && prior->coefficients[design.waves].term != TERM_CURVE)
                design.waves++;
        if (design.waves == design.p) {
                design.waves = design.q;
                design.q += LEVEL_COLUMNS;
        }
        if (!err) {
                design.x = gsl_matrix_calloc(design.n, design.q);
                err = design.x ? 0 : -ENOMEM;
        }
        if (err) {
                design_clear(&design);
                return err;
        }
        *ret = design;
        return 0;
}

/* What an app without columns may draw beyond its counters, and what no counter tells: no cpufreq, several storages. */
static void add_unknown(const struct design *design, const struct everyday_use *use, bool known,
                        const struct model_vector *vector, struct design_row *row)
{
        struct model_user user = { use->app, use->state == STATE_FOREGROUND, use->active_s };
        double sd_j = known ? 0 : model_misfit_sd_j(design->prior, &user, vector), spread_j = 0;

        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                spread_j += vector->component_spread_mj[c] * J_PER_MJ;
        row->extra_j2 += sd_j * sd_j + spread_j * spread_j / 3;
}

void design_coefficients(const struct design *design, const double *values, double *coefficients)
{
        for (size_t j = 0; j < design->p; j++) {
                const struct coefficient *prior = &design->prior->coefficients[j];

                coefficients[j] = values[j];
                if (prior->term != TERM_CURVE)
                        coefficients[j] += values[design->common + model_term_component(prior->term)] * prior->value;
        }
}

static int fill_use(struct design *design, size_t i, const struct everyday_use *use, const double *coefficients)
{
        struct design_row *row = &design->rows[i];
        const struct design_app *app = *use->app ? find_app(design, use->app) : NULL;
        double component_j[COMPONENT_COUNT], amount[LEARNT_COUNT], *x = gsl_matrix_ptr(design->x, i, 0);
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        int err = use_vector(design, use, &vector);

        if (err)
                return err;
        for (size_t j = 0; j < design->p; j++) {
                const struct coefficient *prior = &design->prior->coefficients[j];

                x[j] += vector.weight[j] * J_PER_MJ;
                x[design->common + model_term_component(prior->term)] += vector.weight[j] * prior->value * J_PER_MJ;
        }
        use_energies(design, &vector, coefficients, component_j);
        use_amounts(use, component_j, amount);
        for (size_t k = 0; app && k < LEARNT_COUNT; k++)
                if (app->column[k] != SIZE_MAX)
                        x[app->column[k]] += amount[k];
        if (design->signal != SIZE_MAX) {
                double share[DESIGN_SIGNALS], air_j = model_air_mj(&vector, design->prior, coefficients) * J_PER_MJ;

                usage_signal_shares(&use->usage, design_signals, DESIGN_SIGNALS, share);
                for (size_t k = 0; k < DESIGN_SIGNALS; k++)
                        x[design->signal + k] += share[k] * air_j;
        }
        if (design->stretch_radio[row->stretch] != SIZE_MAX && *use->app)
                x[design->stretch_radio[row->stretch]] += component_j[COMPONENT_WIFI];
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                row->model_j += component_j[c];
        for (size_t c = 0; c < design->n_changes; c++) {
                const struct design_change *change = &design->changes[c];

                if (row->stretch >= change->stretch)
                        continue;
                if (change->app == SIZE_MAX)
                        x[design->change_column[c]] += component_j[change->component];
                else if (&design->apps[change->app] == app)
                        for (size_t k = 0; k < COMPONENT_COUNT; k++)
                                x[design->change_column[c]] += component_j[k];
        }
        add_unknown(design, use, !*use->app || app, &vector, row);
        return 0;
}

int design_fill(struct design *design, const double *values)
{
        _cleanup_free_ double *coefficients = calloc(design->p + 1, sizeof(*coefficients));

        if (!coefficients)
                return -ENOMEM;
        design_coefficients(design, values, coefficients);
        gsl_matrix_set_zero(design->x);
        for (size_t i = 0; i < design->n; i++) {
                struct design_row *row = &design->rows[i];

                row->model_j = row->extra_j2 = 0;
                for (size_t u = 0; u < row->everyday->n_uses; u++) {
                        int err = fill_use(design, i, &row->everyday->uses[u], coefficients);

                        if (err)
                                return err;
                }
                regression_level_columns(row->everyday->level / 100, row->model_j,
                                         gsl_matrix_ptr(design->x, i, design->waves));
        }
        return 0;
}

void design_app_energies(const struct design *design, size_t app, double *energy_j)
{
        for (size_t i = 0; i < design->n; i++) {
                const struct design_app *a = &design->apps[app];

                energy_j[i] = 0;
                for (size_t k = 0; k < LEARNT_FRONT; k++)
                        if (a->column[k] != SIZE_MAX)
                                energy_j[i] += gsl_matrix_get(design->x, i, a->column[k]);
        }
}
