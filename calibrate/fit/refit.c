/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "refit.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "model/json-print.h"
#include "model/radio-usage.h"
#include "observation/observation.h"
#include "radio-fit.h"
#include "regression.h"
#include "rows.h"
#include "util/units.h"
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

/*
 * With fewer packets per second a mode counts as one without packets: these are from daemons and the access
 * point.
 */
#define QUIET 0.05

/* A radio is used if its chi square is lower than that of prices per byte and burst by at least this much. */
#define EVIDENCE 25.0

#define ASSOCIATION_SD_MW 30.0 /* error of the power of association, if no quiet mode includes it */

#define ROWS_MIN 10 /* rows of modes with packets; fewer do not distinguish timers */

static double packets_of(const struct radio_shape *shape, const struct radio_amounts *amounts)
{
        int64_t packets = 0;

        for (size_t c = 0; c < radio_shape_classes(shape); c++)
                for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                        packets += amounts->cells[radio_cell_packets(c, d)];
        return (double)packets;
}

/*
 * A WiFi radio is off between the modes with packets, so it has no tail in others. A modem is not: the mode
 * after one with packets is not quiet, and its slow modes give information even without packets.
 */
static const struct {
        const struct radio_traits *traits;
        bool always_on;
} airs[AIR_COUNT] = {
        [AIR_WIFI] = { &radio_traits_wifi, false },
        [AIR_CELLULAR] = { &radio_traits_cellular, true },
};

/* Packets of each observation over a radio; without cells: none. */
struct air_traffic {
        struct radio_amounts *list;
        bool *busy;  /* it has enough packets to be informative about the radio */
        size_t n_busy;
};

struct traffic {
        struct radio_shape shape;
        struct air_traffic air[AIR_COUNT];
        bool *quiet; /* the radio cannot be awake because of packets */
        size_t n;
};

static void traffic_clear(struct traffic *traffic)
{
        for (size_t air = 0; air < AIR_COUNT; air++) {
                for (size_t i = 0; traffic->air[air].list && i < traffic->n; i++)
                        free(traffic->air[air].list[i].cells);
                free(traffic->air[air].list);
                free(traffic->air[air].busy);
        }
        free(traffic->quiet);
}

/* Longest time in s that a radio may have been awake. */
static double longest_up_s(const struct radio_shape *shape, const struct radio_amounts *amounts, int64_t timer_ms)
{
        int64_t up_ms = 0;
        size_t k = 0;

        while (k + 1 < shape->n_rungs && shape->rung_ms[k] < timer_ms)
                k++;
        for (size_t c = 0; c < radio_shape_classes(shape); c++)
                up_ms += amounts->cells[radio_cell_up(shape, c, k)];
        return (double)up_ms / 1e3;
}

static int look_at_air(const struct observation *observation, enum air air, size_t i, struct traffic *traffic)
{
        const struct usage *usage = &observation->usage;
        struct air_traffic *of = &traffic->air[air];
        double seconds = (double)usage->time_ns / NS_PER_S;
        int err = usage->have & USAGE_RADIO ? radio_usage_amounts(&traffic->shape, &usage->radio, air, &of->list[i]) :
                  -ENOENT;

        if (err)
                return err == -ENOENT ? 0 : err;
        of->busy[i] = packets_of(&traffic->shape, &of->list[i]) > QUIET * seconds;
        traffic->quiet[i] &= !of->busy[i];
        if (airs[air].always_on) {
                bool up = longest_up_s(&traffic->shape, &of->list[i], airs[air].traits->timer_max_ms) > QUIET * seconds;

                traffic->quiet[i] &= !up;
                of->busy[i] |= up && strcmp(observation->kind, airs[air].traits->name) == 0;
        }
        of->n_busy += of->busy[i];
        return 0;
}

static int traffic_make(const struct observation *observations, size_t n, struct traffic *ret)
{
        struct traffic traffic = { .quiet = calloc(n + 1, sizeof(*traffic.quiet)), .n = n };
        int err = traffic.quiet ? 0 : -ENOMEM;

        radio_shape_stored(&traffic.shape);
        for (size_t i = 0; !err && i < n; i++)
                traffic.quiet[i] = true;
        for (enum air air = 0; !err && air < AIR_COUNT; air++) {
                struct air_traffic *of = &traffic.air[air];

                of->list = calloc(n + 1, sizeof(*of->list));
                of->busy = calloc(n + 1, sizeof(*of->busy));
                err = of->list && of->busy ? 0 : -ENOMEM;
                for (size_t i = 0; !err && i < n; i++)
                        err = look_at_air(&observations[i], air, i, &traffic);
        }
        *ret = traffic;
        return err;
}

static bool may_be_fitted(const struct observation *observation)
{
        return !observation->burn && !observation->held_back && !observation->rejected[0] &&
               strcmp(observation->kind, "picture") != 0;
}

static int quiet_columns(const struct device *device, const struct observation *observations,
                         const struct traffic *traffic, struct columns *ret)
{
        _cleanup_free_ const struct usage **usages = calloc(traffic->n + 1, sizeof(*usages));

        if (!usages)
                return -ENOMEM;
        for (size_t i = 0; i < traffic->n; i++)
                if (may_be_fitted(&observations[i]) && traffic->quiet[i])
                        usages[i] = &observations[i].usage;
        return columns_make(device, usages, traffic->n, ret);
}

/* Terms for packets, bytes and bursts, including those of the profile before --only. */
static bool is_traffic(enum term term)
{
        return term == TERM_WIFI_RX || term == TERM_WIFI_TX || term == TERM_WIFI_WAKE || term == TERM_WIFI_RADIO ||
               term == TERM_CELLULAR;
}

static double others_mw(const struct columns *columns, const struct regression *fit, const struct row *row)
{
        double mw = 0;

        for (size_t j = 0; j < fit->p; j++)
                if (!is_traffic(columns->list[j].term))
                        mw += row->x[j] * gsl_vector_get(fit->value, j);
        return mw;
}

/*
 * Error of base and association, which all modes share. In most networks there is a broadcast every few
 * seconds, and then no quiet mode shows the power of association; it is determined by the modes with packets.
 */
static double common_sd_mw(const struct columns *columns, const struct regression *fit, enum air air)
{
        size_t at[2] = { columns->term[TERM_BASE], air == AIR_WIFI ? columns->term[TERM_WIFI_ON] : SIZE_MAX };
        double variance = air == AIR_WIFI && at[1] == SIZE_MAX ? pow(ASSOCIATION_SD_MW, 2) : 0;

        for (size_t a = 0; a < ARRAY_SIZE(at); a++)
                for (size_t b = 0; b < ARRAY_SIZE(at); b++)
                        variance += at[a] == SIZE_MAX || at[b] == SIZE_MAX ? 0 :
                                    gsl_matrix_get(fit->covariance, at[a], at[b]);
        return sqrt(fmax(variance, 1e-6));
}

/* Power of the modes beyond the fit of the quiet modes. */
static size_t radio_rows(const struct columns *columns, const struct rows *rows, const struct regression *fit,
                         const struct observation *observations, const struct air_traffic *traffic,
                         struct radio_row *ret)
{
        size_t n = 0;

        for (size_t i = 0; i < rows->n; i++) {
                const struct row *row = &rows->list[i];
                size_t at = (size_t)(row->observation - observations);
                double variance;

                if (!traffic->busy[at] || !may_be_fitted(row->observation) || !isfinite(row->power_mw) ||
                    row->observation->usage.time_ns == 0)
                        continue;
                variance = noise_expected(&fit->noise, row->charge, row->power_mw, row->power_mw, row->seconds,
                                          row->refresh_s, row->updates);
                ret[n++] = (struct radio_row){
                        .mode = row->observation->mode,
                        .amounts = traffic->list[at],
                        .seconds = (double)row->observation->usage.time_ns / NS_PER_S,
                        /* those of a modem are not counted separately */
                        .wakes = (double)row->observation->usage.wifi_wakes,
                        .power_mw = row->power_mw + fit->warming_mw[i] - others_mw(columns, fit, row),
                        .sd_mw = sqrt(variance * fmax(fit->scale, 1)),
                };
        }
        return n;
}

/* A price holds at the signal level at which it was measured. */
static void name_source(const struct observation *observations, const struct traffic *traffic, enum air air,
                        struct radio *radio)
{
        double sum = 0;
        size_t n = 0;

        for (size_t i = 0; i < traffic->n; i++) {
                double signal = air == AIR_WIFI ? observations[i].wifi_signal_dbm :
                                observations[i].cellular_signal_percent;

                if (!traffic->air[air].busy[i] || !isfinite(signal))
                        continue;
                sum += signal;
                n++;
        }
        snprintf(radio->source, sizeof(radio->source), "calibration");
        if (n > 0)
                snprintf(radio->source, sizeof(radio->source), "calibration at %.0f %s", sum / (double)n,
                         air == AIR_WIFI ? "dBm" : "% of signal");
}

/* Makes a profile that contains only these radios; it takes them over. */
static int profile_of(struct radios *radios, struct profile **ret)
{
        const struct log quiet = { 0 };
        struct ini_place place = { .name = "radio", .log = &quiet };
        int err = profile_new("radio", NAN, ret);

        if (err)
                return err;
        (*ret)->radios = *radios;
        *radios = (struct radios){ 0 };
        return radio_finish(&(*ret)->radios, &place);
}

/* Adds the radio if it explains the modes clearly better than prices per byte and burst. */
static int fit_air(const struct columns *columns, const struct rows *rows, const struct regression *regression,
                   const struct observation *observations, const struct traffic *traffic, enum air air,
                   struct radios *radios, double *error_ret)
{
        _cleanup_free_ struct radio_row *list = calloc(traffic->n + 1, sizeof(*list));
        struct radio_fit fit = { 0 };
        size_t n = list ? radio_rows(columns, rows, regression, observations, &traffic->air[air], list) : 0;
        int err = list ? radio_fit(airs[air].traits, &traffic->shape, list, n, common_sd_mw(columns, regression, air),
                                   &fit) : -ENOMEM;

        if (err)
                return err == -ENODATA ? 0 : err;
        if (!(fit.chi2_linear - fit.chi2 > EVIDENCE)) {
                radio_clear(&fit.radio);
                return 0;
        }
        name_source(observations, traffic, air, &fit.radio);
        radios->list[radios->n++] = fit.radio;
        *error_ret = fit.error;
        return 0;
}

static int fit_radio_rows(const struct columns *columns, const struct observation *observations,
                    const struct traffic *traffic,
                    struct radios *radios, double error_ret[AIR_COUNT], char *error, size_t error_size)
{
        struct regression regression = { 0 };
        struct rows rows = { 0 };
        enum voltage_basis basis;
        int err = rows_make(columns, observations, traffic->n, &rows, &basis, error, error_size);

        for (size_t i = 0; !err && i < rows.n; i++)
                rows.list[i].fitted &= traffic->quiet[rows.list[i].observation - observations];
        if (!err)
                err = regression_fit(columns, &rows, &regression_options_default, &regression);
        for (enum air air = 0; !err && air < AIR_COUNT; air++)
                if (traffic->air[air].n_busy >= ROWS_MIN)
                        err = fit_air(columns, &rows, &regression, observations, traffic, air, radios, &error_ret[air]);
        regression_clear(&regression);
        rows_clear(&rows);
        return err == -ENODATA ? 0 : err;
}

/*
 * Fits radios to the run's modes with packets, and returns a profile with nothing else, and their relative
 * standard errors. NULL: packets were not counted, or prices per byte and burst explain the modes as well.
 * Returns 0, or as refit_regression().
 */
static int refit_radio(const struct device *device, const struct observation *observations, size_t n,
                       struct profile **ret, double error_ret[AIR_COUNT], char *error, size_t error_size)
{
        struct radios radios = { .list = calloc(AIR_COUNT, sizeof(*radios.list)) };
        struct traffic traffic = { 0 };
        struct columns columns = { 0 };
        int err = radios.list ? traffic_make(observations, n, &traffic) : -ENOMEM;

        if (!err && (traffic.air[AIR_WIFI].n_busy >= ROWS_MIN || traffic.air[AIR_CELLULAR].n_busy >= ROWS_MIN))
                err = quiet_columns(device, observations, &traffic, &columns);
        if (!err && columns.n > 0)
                err = fit_radio_rows(&columns, observations, &traffic, &radios, error_ret, error, error_size);
        if (!err && radios.n > 0)
                err = profile_of(&radios, ret);
        radio_clear_all(&radios);
        columns_clear(&columns);
        traffic_clear(&traffic);
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
