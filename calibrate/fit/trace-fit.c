/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace-fit.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/kind.h"
#include "outcome.h"
#include "refit.h"
#include "trace-device.h"
#include "trace-percents.h"
#include "trace-picture.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/* A mean residual beyond this part of the mean power is a misfit that correlated background activity has swallowed. */
#define SWALLOWED 0.02

/*
 * Relative error of the power by kind of work, for a program at one frequency and on one number of cores, in addition
 * to the noise; from nine programs on a board. Another one of the same size is shared by all rows of a program, so that
 * many rows of few programs do not determine the coefficients of instructions and misses; four programs, each predicted
 * by the other three, come out best with 0.05 to 0.055.
 */
#define KIND_ERROR 0.055

/* Noise above this times the expected one shows other kinds of work than the model's. */
#define NOISE_MOST 1.5

/* The owner with the most CPU time names the row, so that residuals can be shown by owner. */
static const char *row_name(const struct measured_span *span)
{
        const char *name = "base";
        uint64_t most = 0;

        for (size_t i = 0; i < span->n_owners; i++) {
                uint64_t busy = usage_busy_ns(&span->owners[i].usage);

                if (span->owners[i].base || busy < most)
                        continue;
                most = busy;
                name = span->owners[i].name;
        }
        return name;
}

/* Takes the usage over. */
static void make_row(const struct measured_span *span, double full_mwh, struct usage *usage, struct observation *ret)
{
        const char *name = row_name(span);
        bool rests = usage_busy_ns(usage) == 0 && usage_screen_ns(usage) == 0 && usage->idle.n == 0;

        *ret = (struct observation){ .method = span->by == MEASURED_BY_METER ? METHOD_GAUGE :
                                               span->by == MEASURED_BY_CHARGE ? METHOD_TICKS : METHOD_PERCENT,
                                     .start_realtime_ns = llround(fmax(fmin(span->start_s, 9e9), -9e9) * NS_PER_S),
                                     .elapsed_ns = (uint64_t)llround(fmin(span->elapsed_s, 9e9) * NS_PER_S),
                                     .percent = span->percent, .steps = NAN, .charge_full_uah = NAN,
                                     .voltage_mv = span->voltage_mv,
                                     .power_mw = span->energy_j / span->elapsed_s * 1e3, .refresh_s = NAN,
                                     .gauge_updates = (uint32_t)fmax(fmin(span->elapsed_s, 1e9), 1),
                                     .temperature_c = span->temperature_c, .wifi_signal_dbm = NAN,
                                     .cellular_signal_percent = NAN,
                                     .usage = *usage };
        *usage = (struct usage){ 0 };
        if (ret->method != METHOD_GAUGE) {
                ret->steps = span->energy_j / J_PER_PERCENT(full_mwh);
                ret->refresh_s = span->late_s > 0 ? span->late_s : 1e-3;
        }
        snprintf(ret->kind, sizeof(ret->kind), "%s", rests ? "idle" : "mixed");
        snprintf(ret->mode, sizeof(ret->mode), "%.*s", MODE_NAME_MAX - 1, rests ? "idle" : name);
}

static void name_brightness(struct usage *usage)
{
        for (size_t k = 0; k < usage->screen.n; k++)
                usage->screen.list[k].brightness = 1;
}

/* With one brightness, which is not known, the display has one price. */
static void level_brightness(struct usage *sums, size_t n)
{
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < sums[i].screen.n; k++)
                        if (sums[i].screen.list[k].brightness != BRIGHTNESS_UNKNOWN)
                                return;
        for (size_t i = 0; i < n; i++)
                name_brightness(&sums[i]);
}

/* Mean residual relative to the mean power, of the rows that were fitted. */
static double mean_residual(const struct outcome *outcome)
{
        double residual = 0, power = 0;

        for (size_t i = 0; i < outcome->n_modes; i++) {
                residual += outcome->modes[i].residual_mw * (double)outcome->modes[i].n;
                power += outcome->modes[i].power_mw * (double)outcome->modes[i].n;
        }
        return power > 0 ? residual / power : 0;
}

/* Fits by percents alone, or by the measured energy of each span. */
static int fit_once(const struct device *device, const struct regression_options *options,
                    struct observation *rows, size_t n, struct outcome *ret, char *error, size_t error_size)
{
        if (strcmp(device->method, "percent") == 0)
                return trace_percents_fit(device, options, rows, n, ret, error, error_size);
        return refit_of_device(device, options, rows, n, ret, error, error_size);
}

static bool columns_counted(const struct observation *rows, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (rows[i].usage.counted.n > 0)
                        return true;
        return false;
}

static int fit_rows(const struct trace_fit *options, const struct device *device, struct observation *rows,
                    size_t n, struct outcome *ret, char *error, size_t error_size)
{
        struct regression_options own = regression_options_default;
        struct outcome outcome;
        double residual;
        int err;

        own.as_used = true;
        if (columns_counted(rows, n))
                own.noise.model_error = own.noise.program_error = KIND_ERROR;
        if (options->independent)
                own.noise.background_hum = 0;
        err = fit_once(device, &own, rows, n, &outcome, error, error_size);
        if (err)
                return err;
        residual = mean_residual(&outcome);
        if (own.noise.background_hum > 0 && fabs(residual) > SWALLOWED) {
                outcome_clear(&outcome);
                own.noise.background_hum = 0;
                err = fit_once(device, &own, rows, n, &outcome, error, error_size);
                if (!err)
                        err = outcome_warn(&outcome,
                                           "rows were off by %+.1f %% on average where background activity "
                                           "counts as lasting from row to row, and are fitted as independent",
                                           100 * residual);
                if (err)
                        return err;
        }
        *ret = outcome;
        return 0;
}

static void free_rows(struct observation *rows, size_t n, struct usage *sums)
{
        for (size_t i = 0; rows && i < n; i++)
                usage_clear(&rows[i].usage);
        for (size_t i = 0; sums && i < n; i++)
                usage_clear(&sums[i]);
        free(rows);
        free(sums);
}

/* A meter's joules are exact but for its own gain; the error of this device's gauge is not in them. */
static int by_meter(struct profile *profile)
{
        profile->scale_percent = SCALE_PERCENT;
        return profile_set_extra(profile, "profile", "x-by", "meter");
}

/* Standard deviation of programs' power from the model's, relative to the power above the base. */
static double trace_misfit_percent(const struct outcome *outcome)
{
        ssize_t at = profile_find(outcome->profile, TERM_BASE, 0, 0, "");
        double base_mw = at < 0 ? 0 : outcome->profile->coefficients[at].value, squares = 0, rows = 0;

        for (size_t i = 0; i < outcome->n_modes; i++) {
                const struct outcome_mode *mode = &outcome->modes[i];
                double load_mw = fmax(mode->power_mw - base_mw, 0.1 * mode->power_mw);

                squares += (double)mode->n * pow(mode->residual_mw / load_mw, 2);
                rows += (double)mode->n;
        }
        return rows > 0 ? fmin(round(1000 * sqrt(squares / rows)) / 10, 100) : 0;
}

/* The usual belief about the CPU weighs as much as this many apps (prior of a scaled inverse chi square). */
#define CPU_BELIEF 4.0

/* Combines @usual, which weighs as @belief apps, with @seen of @n apps. */
static double believed(double usual, double belief, double seen, double n)
{
        return sqrt((belief * usual * usual + n * seen * seen) / (belief + n));
}

/* The usual uncounted power is a phone's: at most this part of the trace's mean power, or of its rail's. */
#define FRONT_PART 0.15

/*
 * Sets how much apps are expected to differ from their prices. A trace's rows of real use show that; the usual beliefs
 * count as a few more apps. A calibration has no such rows.
 */
static void trace_misfits(struct outcome *outcome)
{
        struct profile_learned *learned = &outcome->profile->learned;
        double squares = 0, n = 0, relative = trace_misfit_percent(outcome), sum_mw = 0, front_mw, seen_mw, usual;

        for (size_t i = 0; i < outcome->n_modes; i++) {
                const struct outcome_mode *mode = &outcome->modes[i];

                if (strcmp(mode->mode, "idle") == 0 || strcmp(mode->mode, "base") == 0)
                        continue;
                squares += pow(mode->residual_mw, 2);
                sum_mw += mode->power_mw;
                n++;
        }
        if (n < 1)
                return;
        front_mw = fmin(TUNING_MISFIT_FRONT_MW, FRONT_PART * sum_mw / n);
        learned->misfit_front_mw = front_mw;
        learned->misfit_behind_mw = fmin(front_mw, TUNING_MISFIT_BEHIND_MW);
        if (n < 2)
                return;
        seen_mw = sqrt(squares / n);
        usual = kind_left_percent(outcome->profile, TUNING_MISFIT_CPU_PERCENT, TUNING_MISFIT_INSTRUCTIONS_PERCENT,
                                  TUNING_MISFIT_KIND_PERCENT);
        learned->misfit_cpu_percent = believed(usual, CPU_BELIEF, relative, n - 1);
        learned->misfit_display_percent = believed(TUNING_MISFIT_DISPLAY_PERCENT, 1, relative, n);
        learned->misfit_front_mw = believed(front_mw, 1, seen_mw, n);
        learned->misfit_behind_mw = fmin(learned->misfit_front_mw, TUNING_MISFIT_BEHIND_MW);
}

static int set_errors(const struct device *device, struct outcome *outcome)
{
        struct profile *profile = outcome->profile;
        int err = 0;

        profile_drop_extra(profile, "base", "x-temperature_c"); /* a trace's may be of a hot core, not of the battery */
        if (strcmp(device->method, "gauge") == 0)
                err = by_meter(profile);
        if (strcmp(device->method, "percent") == 0) /* powers of rows are by the percents, too */
                profile->scale_percent = PERCENTS_PERCENT;
        trace_misfits(outcome);
        if (outcome->noise_scale > NOISE_MOST)
                profile->misfit_percent = trace_misfit_percent(outcome);
        return err;
}

static int check_left_out(size_t left_out, uint32_t unknown, struct outcome *outcome)
{
        char sentence[256];

        return left_out == 0 ? 0 :
                               outcome_warn(outcome, "%s",
                                            measured_left_out(left_out, unknown, sentence, sizeof(sentence)));
}

static int check_uncounted(const struct measured_trace *trace, struct outcome *outcome)
{
        uint32_t without = (USAGE_CPU | USAGE_DISPLAY | USAGE_WIFI | USAGE_DISK | USAGE_GPU) & ~trace->have;
        char words[128];
        int err = 0;

        if (without)
                err = outcome_warn(outcome, "the trace has no columns of %s: what these take is in base.power_mw",
                                   measured_words(without, words, sizeof(words)));
        if (!err && (trace->cellular || trace->have & USAGE_OTHER_NET) &&
            profile_find(outcome->profile, TERM_CELLULAR_RX, 0, 0, "") < 0 &&
            profile_find(outcome->profile, TERM_CELLULAR_TX, 0, 0, "") < 0)
                err = outcome_warn(outcome,
                                   "bytes over a modem or a cable (cellular_bytes, other_rx_bytes, other_tx_bytes) "
                                   "have no price: their energy is in base.power_mw and in what goes with them");
        return err;
}

static uint32_t first_policy(uint32_t khz, const void *data)
{
        return 0;
}

/* A sentence for an error of the trace's own. */
static int refuse(char *error, size_t error_size, int err, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
static int refuse(char *error, size_t error_size, int err, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vsnprintf(error, error_size, format, args);
        va_end(args);
        return err;
}

/* Leaves the spans that can be fitted. */
static int choose_spans(struct measured_trace *trace, double full_mwh, size_t *left_out, uint32_t *unknown,
                        char *error,
                        size_t error_size)
{
        char words[128];
        int err = measured_name_policies(trace, first_policy, NULL);

        if (!err)
                err = measured_resolve(trace, full_mwh);
        if (err)
                return err;
        *left_out = measured_keep_known(trace, unknown);
        if (trace->n > 0)
                return 0;
        if (*unknown)
                return refuse(error, error_size, -ENODATA,
                              "no span can be fitted: %s is not known in some (an empty cell; none is 0), "
                              "or their energy", measured_words(*unknown, words, sizeof(words)));
        return refuse(error, error_size, -ENODATA,
                      "no span has an energy: power_mw, energy_j, charge_uah with voltage_mv, or percent");
}

/* Usages of all spans become rows. */
static int fit_spans(const struct trace_fit *options, const struct measured_trace *trace, struct usage *sums,
                     struct observation *rows, struct outcome *ret, char *error, size_t error_size)
{
        struct device device;
        int err = 0;

        for (size_t i = 0; !err && i < trace->n; i++)
                err = measured_sum(&trace->spans[i], &sums[i]);
        if (err)
                return err;
        level_brightness(sums, trace->n);
        err = trace_device(options, trace, sums, &device);
        if (err == -E2BIG)
                return refuse(error, error_size, err,
                              "the trace has more than %d policies with different frequencies",
                              COLUMNS_POLICIES_MAX);
        for (size_t i = 0; !err && i < trace->n; i++)
                make_row(&trace->spans[i], options->energy_full_mwh, &sums[i], &rows[i]);
        if (!err)
                err = fit_rows(options, &device, rows, trace->n, ret, error, error_size);
        return err ? err : set_errors(&device, ret);
}

static int fit_all(const struct trace_fit *options, const struct measured_trace *trace, struct outcome *ret,
                   char *error, size_t error_size)
{
        struct usage *sums = calloc(trace->n, sizeof(*sums));
        struct observation *rows = calloc(trace->n, sizeof(*rows));
        int err = sums && rows ? fit_spans(options, trace, sums, rows, ret, error, error_size) : -ENOMEM;

        free_rows(rows, trace->n, sums);
        return err;
}

#define PICTURE_STEPS 6
/* If pictures leave more than this part of the noise, they explain nothing: the display is no OLED. */
#define PICTURE_NOISE 0.98

/* Replaces @ret if pictures explain more than brightness alone. */
static int fit_pictures(const struct trace_fit *options, struct measured_trace *trace, struct outcome *ret,
                        char *error, size_t error_size)
{
        struct measured_colours colours, none = { 0 };
        struct outcome outcome = { 0 };
        int err = 0;

        if (!trace_picture_means(trace, &colours))
                return outcome_warn(ret, "too few spans tell the screen's colours, so they are not used");
        for (int i = 0; !err && i <= PICTURE_STEPS; i++) {
                measured_show(trace, &colours);
                outcome_clear(&outcome);
                err = fit_all(options, trace, &outcome, error, error_size);
                if (!err && i < PICTURE_STEPS)
                        err = trace_picture_step(trace, outcome.profile, &colours);
        }
        if (!err)
                err = outcome.noise_scale < PICTURE_NOISE * ret->noise_scale
                              ? measured_set_colours(&colours, outcome.profile)
                              : -ENODATA;
        if (!err) {
                outcome_clear(ret);
                *ret = outcome;
                return 0;
        }
        outcome_clear(&outcome);
        measured_show(trace, &none);
        if (err != -ENODATA && err != -EINVAL)
                return err;
        return outcome_warn(ret, "the screen's colours explain no more than its brightness, so they are not used");
}

int trace_fit(const struct trace_fit *options, struct measured_trace *trace, struct outcome *ret, char *error,
              size_t error_size)
{
        struct trace_fit own = *options;
        uint32_t unknown = 0;
        size_t left_out = 0;
        int err;

        if (isnan(own.energy_full_mwh))
                own.energy_full_mwh = measured_full_mwh(trace);
        if (!(own.energy_full_mwh > 0))
                return refuse(error, error_size, -EINVAL,
                              "the energy of the full battery is not known: no percent and charge_uah fall "
                              "by 5 %%; give --energy-full-mwh N");
        err = choose_spans(trace, own.energy_full_mwh, &left_out, &unknown, error, error_size);
        if (err)
                return err;
        err = fit_all(&own, trace, ret, error, error_size);
        if (!err && trace->colours)
                err = fit_pictures(&own, trace, ret, error, error_size);
        if (err)
                return err;
        err = check_left_out(left_out, unknown, ret);
        if (!err)
                err = check_uncounted(trace, ret);
        if (err)
                outcome_clear(ret);
        return err;
}
