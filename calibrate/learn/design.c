/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "design.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/regression.h"
#include "model/kind.h"
#include "util/tuning.h"
#include "util/util.h"

#define J_PER_MJ 1e-3

const uint32_t design_signals[DESIGN_SIGNALS] = { 40, 55, 70, 85 };

enum term design_learnt_term(enum learnt learnt)
{
        static const enum term terms[LEARNT_COUNT] = { TERM_APP_CPU, TERM_APP_DISPLAY, TERM_APP_FRONT,
                                                       TERM_APP_BEHIND };

        return terms[learnt];
}

void design_clear(struct design *design)
{
        free(design->rows);
        free(design->apps);
        free(design->uses);
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

/* The model vector of a use, which may be empty. */
static int use_vector(const struct design *design, const struct everyday_use *use, struct model_vector *vector)
{
        struct usage usage = use->usage;

        if (usage_is_empty(&usage))
                usage.have = USAGE_ALL;
        return model_vector_make(design->prior, &usage, vector);
}

struct named { /* a use of an app, and its index among the uses of all rows */
        const struct everyday_use *use;
        size_t at;
};

static int by_name(const void *a, const void *b)
{
        const struct named *x = a, *y = b;
        int order = strcmp(x->use->app, y->use->app);

        return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Sorts by name, because a system that starts programs of ever new names has tens of thousands of apps. */
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

/* Adds a use to its app; the uses must come in the order of their apps' names. */
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
        for (size_t i = 0; i < use->usage.cpu.n; i++) {
                app->busy_s += (double)use->usage.cpu.list[i].busy_ns / NS_PER_S;
                app->any_s += (double)use->usage.cpu.list[i].any_ns / NS_PER_S;
        }
        return 0;
}

/* An app's total below this (J, or s of running) does not show in a battery's level: no column is made. */
#define LEAST_J 2.0
#define LEAST_S 60.0

/*
 * An app that runs for more than this part of the time has no column for its constant power: that cannot be told
 * from the base, and is part of it.
 */
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

/* Without a voltage only the percentage is known, and a percent counts as a percent of the full energy. */
static double shown_energy_j(const struct design *design, const struct everyday *everyday)
{
        if (!isnan(everyday->energy_j))
                return everyday->energy_j;
        return everyday->percent * J_PER_PERCENT(design->prior->energy_full_mwh);
}

/* Longer than that the power at rest does not stay the same: places, temperatures and cells change. */
#define SESSION_S 600.0

/* Where there is but one row, its session is not told from its noise; where only a level is known, neither. */
static void find_sessions(struct design *design)
{
        size_t n = 0;

        for (size_t end = design->n, first; end > 0; end = first) {
                int64_t end_ns = design->rows[end - 1].everyday->end_ns;
                bool column;

                for (first = end - 1; first > 0; first--)
                        if ((double)(end_ns - design->rows[first - 1].everyday->start_ns) > SESSION_S * NS_PER_S)
                                break;
                column = design->metered && end - first > 1 && n++ < DESIGN_SESSIONS_MAX;
                for (size_t i = first; i < end; i++)
                        design->rows[i].session = column ? design->q : SIZE_MAX;
                design->q += column;
        }
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

                *row = (struct design_row){ .everyday = &list[i],
                                            .energy_j = shown_energy_j(design, &list[i]),
                                            .seconds = (double)list[i].elapsed_ns / NS_PER_S,
                                            .late_s = list[i].late_s };
                if (!(row->energy_j > 0) || !(row->seconds > 0) || !(list[i].late_s >= 0))
                        continue;
                design->n_stretches += !follows;
                row->stretch = design->n_stretches - 1;
                row->late_before_s = follows ? row[-1].late_s : row->late_s;
                design->shared += list[i].shared;
                design->n++;
        }
        design->metered = true;
        for (size_t i = 0; i < design->n; i++)
                design->metered = design->metered && design->rows[i].everyday->metered;
        design->shared /= design->n > 0 ? (double)design->n : 1;
        return design->n > 0 ? 0 : -ENODATA;
}

/* Usual values of phones and boards, until the rows give better ones; the daemons' value comes from calibrations. */
#define WITHIN 0.15
#define WITHIN_TAU_S 60.0
#define REST_W 0.15 /* where the power at rest is not known */

static int make_scatter(struct design *design)
{
        ssize_t at = profile_find(design->prior, TERM_BASE, 0, 0, "");
        double rest_w = at < 0 ? REST_W : design->prior->coefficients[at].value * J_PER_MJ;
        size_t most = 1;

        design->scatter = (struct scatter){ .within = WITHIN, .tau_s = WITHIN_TAU_S,
                                            .background_w = regression_options_default.noise.background_part * rest_w };
        for (size_t i = 0; i < design->n; i++)
                most += design->rows[i].everyday->n_uses;
        design->uses = calloc(most, sizeof(*design->uses));
        return design->uses ? 0 : -ENOMEM;
}

void design_vary(struct design *design)
{
        const struct scatter *scatter = &design->scatter;

        for (size_t i = 0; i < design->n; i++)
                design->rows[i].within_j2 = 0;
        for (size_t u = 0; u < design->n_uses; u++) {
                const struct design_use *use = &design->uses[u];

                design->rows[use->row].within_j2 += pow(scatter->within * use->energy_j, 2) *
                                                    model_averaged(use->seconds, scatter->tau_s);
        }
}

int design_make(const struct profile *prior, const struct everyday *list, size_t n, const struct design_change *changes,
                size_t n_changes, struct design *ret)
{
        struct design design = { .prior = prior, .p = prior->n_coefficients };
        int err = take_rows(&design, list, n);
        size_t together = 1;

        design.common = design.p;
        design.q = design.p + DESIGN_COMMON;
        design.signal = SIZE_MAX;
        if (!err)
                err = make_scatter(&design);
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
        find_sessions(&design);
        /* The gauge's curve has the calibration's columns, if it has such, else columns of its own. */
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

/*
 * Adds the variance that no column shows: the power of an app without columns beyond its counters, and missing
 * counters (no cpufreq, several storages).
 */
static void add_unknown(const struct design *design, const struct everyday_use *use, bool known,
                        const struct model_vector *vector, struct design_row *row)
{
        struct model_user user = { use->app, use->state == STATE_FOREGROUND, use->active_s };
        double sd_j = known ? 0 : model_misfit_sd_j(design->prior, &user, vector), spread_j = 0;

        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                spread_j += vector->component_spread_mj[c] * J_PER_MJ;
        row->extra_j2 += sd_j * sd_j + spread_j * spread_j / 3;
}

bool design_has_term(unsigned part, enum term term)
{
        bool air = term == TERM_WIFI_RX || term == TERM_WIFI_TX || term == TERM_WIFI_RADIO;

        if (kind_is_ratio(term)) /* A and S, which it multiplies, are scaled already */
                return false;
        return part == DESIGN_ALL || model_term_component(term) == part || (part == DESIGN_AIR && air);
}

/* Calculates the p coefficients from the values of the q columns. */
static void design_coefficients(const struct design *design, const double *values, double *coefficients)
{
        for (size_t j = 0; j < design->p; j++) {
                const struct coefficient *prior = &design->prior->coefficients[j];

                coefficients[j] = values[j];
                for (unsigned part = 0; part < DESIGN_COMMON; part++)
                        if (design_has_term(part, prior->term))
                                coefficients[j] += values[design->common + part] * prior->value;
        }
}

/* An app's energy without the base. */
static double app_energy_j(const struct design_app *app, const double component_j[COMPONENT_COUNT],
                           const double amount[LEARNT_COUNT], const double *values)
{
        double sum = 0;

        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                sum += c == COMPONENT_BASE ? 0 : component_j[c];
        for (size_t k = 0; app && k < LEARNT_COUNT; k++)
                if (app->column[k] != SIZE_MAX)
                        sum += values[app->column[k]] * amount[k];
        return sum;
}

static int fill_use(struct design *design, size_t i, const struct everyday_use *use, const double *coefficients,
                    const double *values)
{
        struct design_row *row = &design->rows[i];
        const struct design_app *app = *use->app ? find_app(design, use->app) : NULL;
        double component_j[COMPONENT_COUNT], amount[LEARNT_COUNT], *x = gsl_matrix_ptr(design->x, i, 0), energy_j;
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        int err = use_vector(design, use, &vector);

        if (err)
                return err;
        kind_weigh(design->prior, &use->usage, coefficients, &vector);
        for (size_t j = 0; j < design->p; j++) {
                const struct coefficient *prior = &design->prior->coefficients[j];

                x[j] += vector.weight[j] * J_PER_MJ;
                for (unsigned part = 0; part < DESIGN_COMMON; part++)
                        if (design_has_term(part, prior->term))
                                x[design->common + part] += vector.weight[j] * prior->value * J_PER_MJ;
        }
        use_energies(design, &vector, coefficients, component_j);
        use_amounts(use, component_j, amount);
        energy_j = component_j[COMPONENT_BASE] + app_energy_j(app, component_j, amount, values);
        if (*use->app)
                design->uses[design->n_uses++] =
                        (struct design_use){ .row = i, .app = app, .energy_j = energy_j, .seconds = use->active_s };
        if (row->session != SIZE_MAX)
                x[row->session] += energy_j;
        for (size_t k = 0; app && k < LEARNT_COUNT; k++)
                if (app->column[k] != SIZE_MAX)
                        x[app->column[k]] += amount[k];
        if (design->signal != SIZE_MAX) {
                double share[DESIGN_SIGNALS], air_j = model_air_mj(&vector, design->prior, coefficients) * J_PER_MJ;

                usage_signal_shares(&use->usage, design_signals, DESIGN_SIGNALS, share);
                for (size_t k = 0; k < DESIGN_SIGNALS; k++)
                        x[design->signal + k] += share[k] * air_j;
        }
        if (*use->app)
                x[design->stretch_radio[row->stretch]] += component_j[COMPONENT_WIFI];
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                row->model_j += component_j[c];
        for (size_t c = 0; c < design->n_changes; c++) {
                const struct design_change *change = &design->changes[c];

                if (row->stretch >= change->stretch)
                        continue;
                if (change->app != SIZE_MAX && &design->apps[change->app] != app)
                        continue;
                for (size_t j = 0; j < design->p; j++)
                        if (design_has_term(change->app != SIZE_MAX ? (unsigned)DESIGN_ALL : change->part,
                                            design->prior->coefficients[j].term))
                                x[design->change_column[c]] += vector.weight[j] * coefficients[j] * J_PER_MJ;
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
        design->n_uses = 0;
        for (size_t i = 0; i < design->n; i++) {
                struct design_row *row = &design->rows[i];

                row->model_j = row->extra_j2 = 0;
                row->first_use = design->n_uses;
                for (size_t u = 0; u < row->everyday->n_uses; u++) {
                        int err = fill_use(design, i, &row->everyday->uses[u], coefficients, values);

                        if (err)
                                return err;
                }
                regression_level_columns(row->everyday->level / 100, row->model_j,
                                         gsl_matrix_ptr(design->x, i, design->waves));
        }
        design_vary(design);
        return 0;
}
