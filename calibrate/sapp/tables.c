/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/algebra.h"
#include "util/units.h"
#include "util/util.h"

#define KHZ_PER_GHZ 1e6

/* A system of equations: printed costs against usage. */
struct system {
        gsl_matrix *x;       /* in percent per unit of coefficient */
        gsl_vector *y;       /* percent */
        gsl_vector *half;    /* half a unit of the last printed digit */
        size_t n;
        size_t n_smooth;     /* number of the first columns that are neighbours on one axis */
};

static const char *partner_of(const char *name)
{
        return strcmp(name, "SApp") == 0 ? "Power Profiler" : name;
}

static const struct usage_table_row *find_partner(const struct usage_table *usage,
                                                  const struct cost_row *cost)
{
        for (size_t i = 0; i < usage->n_rows; i++)
                if (usage->rows[i].state == cost->state &&
                    strcmp(usage->rows[i].name, partner_of(cost->name)) == 0)
                        return &usage->rows[i];
        return NULL;
}

static void system_clear(struct system *system)
{
        matrix_freep(&system->x);
        vector_freep(&system->y);
        vector_freep(&system->half);
}

static int system_make(size_t rows, size_t p, struct system *ret)
{
        *ret = (struct system){ .x = gsl_matrix_calloc(rows, p), .y = gsl_vector_calloc(rows),
                                .half = gsl_vector_calloc(rows) };
        return ret->x && ret->y && ret->half ? 0 : -ENOMEM;
}

/* Residual of a row in units of its rounding. */
static double off_by(const struct system *system, const gsl_vector *value, size_t i)
{
        double off = -gsl_vector_get(system->y, i);

        for (size_t j = 0; j < value->size; j++)
                off += gsl_matrix_get(system->x, i, j) * gsl_vector_get(value, j);
        return fabs(off) / gsl_vector_get(system->half, i);
}

static double worst(const struct system *system, const gsl_vector *value)
{
        double most = 0;

        for (size_t i = 0; i < system->n; i++)
                most = fmax(most, off_by(system, value, i));
        return most;
}

/*
 * Least squares in units of the rounding, with @weight of each row and a penalty @smooth on differences
 * between the first n_smooth coefficients; none below 0.
 */
static int solve(const struct system *system, const gsl_vector *weight, double smooth, gsl_vector *value)
{
        size_t p = value->size;
        _cleanup_matrix_ gsl_matrix *gram = gsl_matrix_calloc(p, p);
        _cleanup_vector_ gsl_vector *moment = gsl_vector_calloc(p);
        _cleanup_free_ bool *nonneg = calloc(p, sizeof(*nonneg));

        if (!gram || !moment || !nonneg)
                return -ENOMEM;
        for (size_t i = 0; i < system->n; i++) {
                double w = gsl_vector_get(weight, i) / pow(gsl_vector_get(system->half, i), 2);

                for (size_t a = 0; a < p; a++) {
                        double xa = gsl_matrix_get(system->x, i, a) * w;

                        *gsl_vector_ptr(moment, a) += xa * gsl_vector_get(system->y, i);
                        for (size_t b = 0; b < p; b++)
                                *gsl_matrix_ptr(gram, a, b) += xa * gsl_matrix_get(system->x, i, b);
                }
        }
        for (size_t j = 0; j < p; j++) {
                nonneg[j] = true;
                *gsl_matrix_ptr(gram, j, j) += smooth * 1e-6;
        }
        for (size_t j = 1; j < system->n_smooth; j++) {
                *gsl_matrix_ptr(gram, j, j) += smooth;
                *gsl_matrix_ptr(gram, j - 1, j - 1) += smooth;
                *gsl_matrix_ptr(gram, j, j - 1) -= smooth;
                *gsl_matrix_ptr(gram, j - 1, j) -= smooth;
        }
        gsl_vector_set_all(value, 1);
        return algebra_nnls(gram, moment, nonneg, value);
}

/*
 * Every printed number was rounded, so a region of answers fits; we take the smoothest. The penalty decreases
 * until all rows are within their rounding, and rows that are not gain weight (Lawson's algorithm for the
 * least maximum).
 */
static int solve_within_rounding(const struct system *system, gsl_vector *value, double *ret)
{
        _cleanup_vector_ gsl_vector *weight = gsl_vector_alloc(system->n);
        double smooth = 1e3, most = INFINITY;

        if (!weight)
                return -ENOMEM;
        gsl_vector_set_all(weight, 1);
        for (int round = 0; round < 400; round++) {
                int err = solve(system, weight, smooth, value);

                if (err)
                        return err;
                most = worst(system, value);
                if (most < 0.98)
                        break;
                if (round % 8 == 7)
                        smooth /= 2;
                for (size_t i = 0; i < system->n; i++) {
                        double off = off_by(system, value, i);

                        if (off > 0.9)
                                *gsl_vector_ptr(weight, i) *= fmin(1 + off / 2, 2);
                }
        }
        *ret = most;
        return 0;
}

struct fit {
        const struct usage_table *usage;
        const struct cost_table *costs;
        double percent_mj; /* mJ of one percent */
        uint32_t *khz;     /* ascending */
        size_t n_khz;
        struct system system;
        struct outcome outcome;
};

/* Columns after the frequencies. */
static const struct {
        enum term term;
        enum cost_column column;
} others[] = {
        { TERM_DISPLAY, COST_DISPLAY },
        { TERM_DISK_READ, COST_IO },
        { TERM_DISK_WRITE, COST_IO },
        { TERM_WIFI_RX, COST_WIFI },
};

/* The amount that a row used. */
static double units(const struct usage_table_row *row, enum term term)
{
        switch (term) {
        case TERM_DISPLAY:
                return row->display_ms / 1000;
        case TERM_DISK_READ:
                return (double)row->usage.read_bytes / BYTES_PER_MB;
        case TERM_DISK_WRITE:
                return (double)row->usage.write_bytes / BYTES_PER_MB;
        default:
                return (double)row->usage.wifi_rx_bytes / BYTES_PER_MB;
        }
}

static double stretch_ghz(const struct fit *fit, size_t j)
{
        return (fit->khz[j] - (j > 0 ? fit->khz[j - 1] : 0)) / KHZ_PER_GHZ;
}

/*
 * Adds the columns of one kind of cost to an equation. The unknown of a frequency is the slope below it in mW
 * per GHz: not negative means monotone; all equal means proportional to frequency, as the paper found.
 */
static void add_columns(struct fit *fit, const struct usage_table_row *row, enum cost_column column)
{
        double *x = gsl_matrix_ptr(fit->system.x, fit->system.n, 0);

        for (size_t k = 0; column == COST_CPU && k < row->usage.cpu.n; k++)
                for (size_t j = 0; j < fit->n_khz && fit->khz[j] <= row->usage.cpu.list[k].khz; j++)
                        x[j] += (double)row->usage.cpu.list[k].busy_ns / NS_PER_S * stretch_ghz(fit, j) /
                                fit->percent_mj;
        for (size_t k = 0; k < ARRAY_SIZE(others); k++)
                if (others[k].column == column)
                        x[fit->n_khz + k] += units(row, others[k].term) / fit->percent_mj;
}

static void end_row(struct fit *fit, double percent, double half_unit)
{
        gsl_vector_set(fit->system.y, fit->system.n, percent);
        gsl_vector_set(fit->system.half, fit->system.n++, half_unit);
}

/* One equation for each printed cost and one for their sum. */
static void add_rows(struct fit *fit, const struct cost_row *cost, const struct usage_table_row *row)
{
        for (size_t k = 0; k < COST_COLUMNS; k++) {
                if (isnan(cost->percent[k]))
                        continue;
                add_columns(fit, row, k);
                end_row(fit, cost->percent[k], cost->half_unit[k]);
        }
        if (isnan(cost->total))
                return;
        for (size_t k = 0; k < COST_COLUMNS; k++)
                add_columns(fit, row, k);
        end_row(fit, cost->total, cost->total_half_unit);
}

static int keep(struct fit *fit, enum term term, uint32_t point, double value)
{
        /* Rounded to the digits that the tables support. */
        struct coefficient coefficient = { .term = term, .point = point, .value = round(value * 100) / 100,
                                           .standard_error = NAN };
        struct outcome_line *line;
        int err = profile_add(fit->outcome.profile, &coefficient);

        if (!err)
                err = outcome_line_add(&fit->outcome, &coefficient, &line);
        if (!err)
                line->value = coefficient.value;
        return err;
}

/* The paper's screen was at 70 % of 255. */
#define TABLE_BRIGHTNESS 178
#define TABLE_MAX_BRIGHTNESS 255

static bool used(const struct system *system, size_t column)
{
        for (size_t i = 0; i < system->n; i++)
                if (gsl_matrix_get(system->x, i, column) > 0)
                        return true;
        return false;
}

static int keep_all(struct fit *fit, const gsl_vector *value)
{
        double sum = 0;
        int err = 0;

        for (size_t j = 0; !err && j < fit->n_khz; j++) {
                sum += gsl_vector_get(value, j) * stretch_ghz(fit, j);
                err = keep(fit, TERM_CPU_ACTIVE, fit->khz[j], sum);
        }
        for (size_t k = 0; !err && k < ARRAY_SIZE(others); k++)
                if (used(&fit->system, fit->n_khz + k))
                        err = keep(fit, others[k].term, others[k].term == TERM_DISPLAY ? TABLE_BRIGHTNESS : 0,
                                   gsl_vector_get(value, fit->n_khz + k));
        return err;
}

static int compare_khz(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return (x > y) - (x < y);
}

static int make_system(struct fit *fit)
{
        size_t rows = fit->costs->n * (COST_COLUMNS + 1);

        fit->n_khz = fit->usage->n_khz;
        fit->khz = calloc(fit->n_khz + 1, sizeof(*fit->khz));
        if (!fit->khz)
                return -ENOMEM;
        for (size_t i = 0; i < fit->n_khz; i++)
                fit->khz[i] = fit->usage->khz[i];
        qsort(fit->khz, fit->n_khz, sizeof(*fit->khz), compare_khz);
        if (system_make(rows, fit->n_khz + ARRAY_SIZE(others), &fit->system) < 0)
                return -ENOMEM;
        fit->system.n_smooth = fit->n_khz;
        for (size_t i = 0; i < fit->costs->n; i++) {
                const struct usage_table_row *row = find_partner(fit->usage, &fit->costs->rows[i]);

                if (row)
                        add_rows(fit, &fit->costs->rows[i], row);
                fit->outcome.n_rows += row != NULL;
        }
        return fit->system.n > 0 ? 0 : -ENODATA;
}

static int solve_system(struct fit *fit)
{
        _cleanup_vector_ gsl_vector *value = gsl_vector_calloc(fit->system.x->size2);
        double most;
        int err = value ? solve_within_rounding(&fit->system, value, &most) : -ENOMEM;

        if (!err)
                err = keep_all(fit, value);
        if (!err && most >= 1)
                err = outcome_warn(&fit->outcome,
                                   "some costs are not reproduced within their rounding: off by %.1f half "
                                   "units of the last digit",
                                   most);
        return err;
}

static int make_profile(struct fit *fit, double energy_full_mwh)
{
        struct profile *profile;
        int err = profile_new("imported", energy_full_mwh, &fit->outcome.profile);

        if (err)
                return err;
        profile = fit->outcome.profile;
        snprintf(profile->method, sizeof(profile->method), "import");
        profile->max_brightness = TABLE_MAX_BRIGHTNESS;
        return profile_add_policy(profile, 0, "");
}

int tables_fit(const struct usage_table *usage, const struct cost_table *costs, double energy_full_mwh,
               struct outcome *ret, char *error, size_t error_size)
{
        struct fit fit = { .usage = usage,
                           .costs = costs,
                           .percent_mj = 1000 * J_PER_PERCENT(energy_full_mwh),
                           .outcome = { .estimator = "tables", .noise_scale = NAN } };
        int err = make_profile(&fit, energy_full_mwh);

        if (!err)
                err = make_system(&fit);
        if (err == -ENODATA)
                snprintf(error, error_size, "no row of the costs matches a row of the usage table");
        if (!err)
                err = solve_system(&fit);
        system_clear(&fit.system);
        free(fit.khz);
        if (err)
                outcome_clear(&fit.outcome);
        else
                *ret = fit.outcome;
        return err;
}
