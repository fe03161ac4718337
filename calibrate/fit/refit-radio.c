/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "refit-radio.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/radio-usage.h"
#include "radio-fit.h"
#include "regression.h"
#include "rows.h"
#include "util/units.h"
#include "util/util.h"

/* Below these packets per second a state counts as one without packets: daemons, and the access point's own. */
#define QUIET 0.05

/* Chi square by which a radio must explain the states better than prices of bytes and bursts. */
#define EVIDENCE 25.0

#define ASSOCIATION_SD_MW 30.0 /* what it may take, where no quiet state has it */

#define ROWS_MIN 10 /* of states with packets; fewer do not tell timers apart */

static double packets_of(const struct radio_shape *shape, const struct radio_amounts *amounts)
{
        int64_t packets = 0;

        for (size_t c = 0; c < radio_shape_classes(shape); c++)
                for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                        packets += amounts->cells[radio_cell_packets(c, d)];
        return (double)packets;
}

/* What each observation has of packets; without cells: none. */
struct traffic {
        struct radio_shape shape;
        struct radio_amounts *list;
        bool *busy;
        size_t n, n_busy;
};

static void traffic_clear(struct traffic *traffic)
{
        for (size_t i = 0; traffic->list && i < traffic->n; i++)
                free(traffic->list[i].cells);
        free(traffic->list);
        free(traffic->busy);
}

static int traffic_make(const struct observation *observations, size_t n, struct traffic *ret)
{
        struct traffic traffic = { .list = calloc(n + 1, sizeof(*traffic.list)), .busy = calloc(n + 1, sizeof(*traffic.busy)),
                                   .n = n };
        int err = traffic.list && traffic.busy ? 0 : -ENOMEM;

        radio_shape_stored(&traffic.shape);
        for (size_t i = 0; !err && i < n; i++) {
                const struct usage *usage = &observations[i].usage;

                if (!(usage->have & USAGE_RADIO))
                        continue;
                err = radio_usage_amounts(&traffic.shape, &usage->radio, AIR_WIFI, &traffic.list[i]);
                if (err == -ENOENT)
                        err = 0;
                else if (!err)
                        traffic.busy[i] = packets_of(&traffic.shape, &traffic.list[i]) > QUIET * (double)usage->time_ns / NS_PER_S;
                traffic.n_busy += traffic.busy[i];
        }
        *ret = traffic;
        return err;
}

static bool may_be_fitted(const struct observation *observation)
{
        return !observation->burn && !observation->held_back && !observation->rejected[0] &&
               strcmp(observation->kind, "picture") != 0;
}

static int quiet_columns(const struct device *device, const struct observation *observations, const struct traffic *traffic,
                         struct columns *ret)
{
        _cleanup_free_ const struct usage **usages = calloc(traffic->n + 1, sizeof(*usages));

        if (!usages)
                return -ENOMEM;
        for (size_t i = 0; i < traffic->n; i++)
                if (may_be_fitted(&observations[i]) && !traffic->busy[i])
                        usages[i] = &observations[i].usage;
        return columns_make(device, usages, traffic->n, ret);
}

/* What packets, bytes and bursts cost, and what a profile before --only said of them. */
static bool is_traffic(enum term term)
{
        return term == TERM_WIFI_RX || term == TERM_WIFI_TX || term == TERM_WIFI_WAKE || term == TERM_WIFI_RADIO;
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
 * The error that base and association give to all states alike. In most networks somebody sends to all every few seconds, and
 * then no quiet state shows what association takes: it is told from the radio by the states with packets.
 */
static double common_sd_mw(const struct columns *columns, const struct regression *fit)
{
        size_t at[2] = { columns->term[TERM_BASE], columns->term[TERM_WIFI_ON] };
        double variance = at[1] == SIZE_MAX ? pow(ASSOCIATION_SD_MW, 2) : 0;

        for (size_t a = 0; a < ARRAY_SIZE(at); a++)
                for (size_t b = 0; b < ARRAY_SIZE(at); b++)
                        variance += at[a] == SIZE_MAX || at[b] == SIZE_MAX ? 0 : gsl_matrix_get(fit->covariance, at[a], at[b]);
        return sqrt(fmax(variance, 1e-6));
}

/* What the states took beyond what the quiet ones explain. */
static size_t radio_rows(const struct columns *columns, const struct rows *rows, const struct regression *fit,
                         const struct observation *observations, const struct traffic *traffic, struct radio_row *ret)
{
        size_t n = 0;

        for (size_t i = 0; i < rows->n; i++) {
                const struct row *row = &rows->list[i];
                size_t at = (size_t)(row->observation - observations);
                double variance;

                if (!traffic->busy[at] || !may_be_fitted(row->observation) || !isfinite(row->power_mw) ||
                    row->observation->usage.time_ns == 0)
                        continue;
                variance = noise_expected(&fit->noise, row->charge, row->power_mw, row->power_mw, row->seconds, row->refresh_s,
                                          row->updates);
                ret[n++] = (struct radio_row){
                        .mode = row->observation->mode,
                        .amounts = traffic->list[at],
                        .seconds = (double)row->observation->usage.time_ns / NS_PER_S,
                        .wakes = (double)row->observation->usage.wifi_wakes,
                        .power_mw = row->power_mw + fit->warming_mw[i] - others_mw(columns, fit, row),
                        .sd_mw = sqrt(variance * fmax(fit->scale, 1)),
                };
        }
        return n;
}

/* A price holds at the signal that it was measured at. */
static void name_source(const struct observation *observations, const struct traffic *traffic, struct radio *radio)
{
        double sum = 0;
        size_t n = 0;

        for (size_t i = 0; i < traffic->n; i++)
                if (traffic->busy[i] && isfinite(observations[i].wifi_signal_dbm)) {
                        sum += observations[i].wifi_signal_dbm;
                        n++;
                }
        snprintf(radio->source, sizeof(radio->source), "calibration");
        if (n > 0)
                snprintf(radio->source, sizeof(radio->source), "calibration at %.0f dBm", sum / (double)n);
}

/* A profile that has nothing but this radio, which it takes over. */
static int profile_of(struct radio *radio, struct profile **ret)
{
        const struct log quiet = { 0 };
        struct ini_place place = { .name = "radio", .log = &quiet };
        int err = profile_new("radio", NAN, ret);

        if (err)
                return err;
        (*ret)->radios = (struct radios){ .list = calloc(1, sizeof(*radio)), .n = 1 };
        if (!(*ret)->radios.list) {
                (*ret)->radios.n = 0;
                return -ENOMEM;
        }
        (*ret)->radios.list[0] = *radio;
        *radio = (struct radio){ 0 };
        return radio_finish(&(*ret)->radios, &place);
}

static int fit_rows(const struct columns *columns, const struct observation *observations, const struct traffic *traffic,
                    struct profile **ret, double *error_ret, char *error, size_t error_size)
{
        _cleanup_free_ struct radio_row *list = calloc(traffic->n + 1, sizeof(*list));
        struct regression regression = { 0 };
        struct rows rows = { 0 };
        enum voltage_basis basis;
        struct radio_fit fit = { 0 };
        int err = list ? rows_make(columns, observations, traffic->n, &rows, &basis, error, error_size) : -ENOMEM;

        for (size_t i = 0; !err && i < rows.n; i++)
                rows.list[i].fitted &= !traffic->busy[rows.list[i].observation - observations];
        if (!err)
                err = regression_fit(columns, &rows, &regression_options_default, &regression);
        if (!err)
                err = radio_fit("wifi", &traffic->shape, list, radio_rows(columns, &rows, &regression, observations, traffic, list),
                                common_sd_mw(columns, &regression), &fit);
        if (!err)
                name_source(observations, traffic, &fit.radio);
        if (!err && fit.chi2_linear - fit.chi2 > EVIDENCE)
                err = profile_of(&fit.radio, ret);
        *error_ret = fit.error;
        radio_clear(&fit.radio);
        regression_clear(&regression);
        rows_clear(&rows);
        return err == -ENODATA ? 0 : err;
}

int refit_radio(const struct device *device, const struct observation *observations, size_t n, struct profile **ret,
                double *error_ret, char *error, size_t error_size)
{
        struct traffic traffic = { 0 };
        struct columns columns = { 0 };
        int err = traffic_make(observations, n, &traffic);

        if (!err && traffic.n_busy >= ROWS_MIN)
                err = quiet_columns(device, observations, &traffic, &columns);
        if (!err && columns.n > 0)
                err = fit_rows(&columns, observations, &traffic, ret, error_ret, error, error_size);
        columns_clear(&columns);
        traffic_clear(&traffic);
        return err;
}
