/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "refit.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/json-print.h"
#include "model/radio-usage.h"
#include "refit-radio.h"
#include "util/util.h"

/*
 * Mean voltage of a lithium-ion cell over its whole charge, V, where the line of rows.c is at 50 %: converts
 * uAh to mWh if nothing better is known.
 */
#define GENERIC_MEAN_V 3.88

/* A cell is between 3.5 and 4.4 V, on average at this voltage: gives the number in series. */
#define CELL_V 3.95

static double cells_of(const struct observation *observations, size_t n)
{
        double sum_v = 0, seen = 0;

        for (size_t i = 0; i < n; i++)
                if (observations[i].voltage_mv > 0) {
                        sum_v += observations[i].voltage_mv / 1000;
                        seen++;
                }
        return seen > 0 ? fmax(round(sum_v / seen / CELL_V), 1) : 1;
}

static double energy_of(const struct observation *observations, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (observations[i].charge_full_uah > 0)
                        return observations[i].charge_full_uah / 1000 * GENERIC_MEAN_V *
                               cells_of(observations, n);
        return NAN;
}

int refit_device(const struct observation_run *run, const struct observation *observations, size_t n,
                 struct device *ret, char *error, size_t error_size)
{
        struct device device = { .energy_full_mwh = run->energy_full_mwh,
                                 .max_brightness = run->max_brightness };
        cJSON *json = cJSON_Parse(run->description ? run->description : "");
        int err = json_failed() ? -ENOMEM : columns_device_from_json(json, &device);

        cJSON_Delete(json);
        if (err) {
                columns_device_clear(&device);
                if (err != -ENOMEM)
                        snprintf(error, error_size, "the run's description of the device has invalid policies, or"
                                                    " lacks the profile that --only started from");
                return err == -ENOMEM ? err : -EINVAL;
        }
        snprintf(device.name, sizeof(device.name), "%s", run->device);
        snprintf(device.method, sizeof(device.method), "%s", run->method);
        if (!(device.energy_full_mwh > 0))
                device.energy_full_mwh = energy_of(observations, n);
        if (!(device.energy_full_mwh > 0)) {
                snprintf(error, error_size, "the energy of the full battery is unknown");
                columns_device_clear(&device);
                return -EINVAL;
        }
        *ret = device;
        return 0;
}

static int make_columns(const struct device *device, const struct observation *observations, size_t n,
                        struct columns *ret)
{
        _cleanup_free_ const struct usage **usages = calloc(n + 1, sizeof(*usages));

        if (!usages)
                return -ENOMEM;
        /*
         * A coefficient that no fitted row contains cannot be estimated, e.g. writes that only occur in the
         * first, unfitted mode.
         */
        for (size_t i = 0; i < n; i++)
                if (!observations[i].burn && !observations[i].held_back && !observations[i].rejected[0] &&
                    strcmp(observations[i].kind, "picture") != 0 && columns_can_fit(device, observations[i].kind))
                        usages[i] = &observations[i].usage;
        return columns_make(device, usages, n, ret);
}

/* The uncertainty of the radio's form is added as an error of its factor. */
static void widen_radio(const struct columns *columns, const double error[AIR_COUNT], struct regression *regression)
{
        for (enum air air = 0; columns->device.radio && air < AIR_COUNT; air++) {
                size_t at = columns->term[radio_usage_term(air)];

                if (radio_usage_radio(columns->device.radio, air) && !columns->kept[at])
                        *gsl_matrix_ptr(regression->covariance, at,
                                        at) += pow(error[air] * gsl_vector_get(regression->value, at), 2);
        }
}

/* Replaces the radio of the same name. */
static int put_radio(const struct radios *fitted, struct radios *radios)
{
        struct radios put;
        int err = radio_copy_all(fitted, &put);

        if (err)
                return err;
        err = radio_add_others(radios, &put);
        radio_clear_all(radios);
        *radios = put;
        return err;
}

/* Number of fits, each with the coefficients of the last: the columns of a kind of work depend on the coefficients. */
#define KIND_FITS 5

static int fit_rows(struct columns *columns, const struct regression_options *options,
                    const struct observation *observations, size_t n, struct rows *rows,
                    enum voltage_basis *basis, struct regression *regression, char *error, size_t error_size)
{
        int fits = columns_have_kinds(columns) ? KIND_FITS : 1, err = 0;

        for (int i = 0; !err && i < fits; i++) {
                rows_clear(rows);
                err = rows_make(columns, observations, n, rows, basis, error, error_size);
                if (!err) {
                        regression_clear(regression);
                        err = regression_fit(columns, rows, options, regression);
                }
                if (!err && i + 1 < fits) {
                        if (!columns->last)
                                columns->last = calloc(columns->n, sizeof(*columns->last));
                        if (!columns->last)
                                return -ENOMEM;
                        for (size_t j = 0; j < columns->n; j++)
                                columns->last[j] = gsl_vector_get(regression->value, j);
                }
        }
        return err;
}

static int fit(struct columns *columns, const double radio_error[AIR_COUNT],
               const struct regression_options *options,
               const struct observation *observations, size_t n, struct outcome *ret, char *error, size_t error_size)
{
        struct regression regression = { 0 };
        struct rows rows = { 0 };
        enum voltage_basis basis;
        int err = fit_rows(columns, options, observations, n, &rows, &basis, &regression, error, error_size);

        if (!err)
                widen_radio(columns, radio_error, &regression);
        if (!err)
                err = outcome_regression(columns, &rows, &regression, basis, ret);
        if (!err && columns->device.radio) {
                err = put_radio(&columns->device.radio->radios, &ret->profile->radios);
                if (err)
                        outcome_clear(ret);
        }
        regression_clear(&regression);
        rows_clear(&rows);
        return err;
}

/* The events of the load that A and S are of, from every state: all but those of other kinds of work. */
static int sum_usual(const struct observation *observations, size_t n, struct points *ret)
{
        int err = 0;

        for (size_t i = 0; i < n; i++) {
                const struct points *counted = &observations[i].usage.counted;

                for (size_t k = 0; !err && k < counted->n && strcmp(observations[i].kind, "kind") != 0; k++)
                        err = usage_points_add(ret, &counted->list[k]);
        }
        return err;
}

int refit_regression(const struct observation_run *run, const struct observation *observations, size_t n,
                     struct outcome *ret, char *error, size_t error_size)
{
        _cleanup_(profile_freep) struct profile *radio = NULL;
        struct columns columns = { 0 };
        struct device device = { 0 };
        struct points usual = { 0 };
        double radio_error[AIR_COUNT] = { 0 };
        int err;

        err = refit_device(run, observations, n, &device, error, error_size);
        if (!err)
                err = refit_radio(&device, observations, n, &radio, radio_error, error, error_size);
        if (!err)
                err = sum_usual(observations, n, &usual);
        device.radio = radio;
        device.usual = usual.n > 0 ? &usual : NULL;
        if (!err)
                err = make_columns(&device, observations, n, &columns);
        if (!err)
                err = fit(&columns, radio_error, &regression_options_default, observations, n, ret, error, error_size);
        if (err == -ENODATA)
                snprintf(error, error_size, "no observation of the run can be fitted");
        free(usual.list);
        columns_clear(&columns);
        columns_device_clear(&device);
        return err;
}

int refit_of_device(const struct device *device, const struct regression_options *options,
                    const struct observation *observations,
                    size_t n, struct outcome *ret, char *error, size_t error_size)
{
        const double radio_error[AIR_COUNT] = { 0 };
        struct columns columns = { 0 };
        int err = make_columns(device, observations, n, &columns);

        if (!err)
                err = fit(&columns, radio_error, options, observations, n, ret, error, error_size);
        columns_clear(&columns);
        return err;
}
