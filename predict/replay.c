/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast replay`: how right a profile is on a measured trace. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "commands.h"
#include "forecast/cost.h"
#include "measured/baseline.h"
#include "measured/measured.h"
#include "model/profile.h"
#include "options.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"

struct arguments {
        struct options options;
        const char *trace, *baseline, *cache_event;
        double window_min;
};

static void add_number(struct cJSON *to, const char *key, double value)
{
        if (isnan(value))
                cJSON_AddNullToObject(to, key);
        else
                cJSON_AddNumberToObject(to, key, value);
}

/* A profile's answers for the windows of a trace, compared with the measured energies. */

struct replay_window {
        double measured_j, predicted_j, low_j, high_j; /* NaN: unknown */
        double constant_j, least_squares_j;            /* by baselines; NaN: unknown */
        double rail_j[MEASURED_RAILS_MAX];             /* measured */
        double component_j[COMPONENT_COUNT];           /* predicted; NaN: unknown */
        bool own_level;                                /* measured by this battery's level, whose errors cancel */
};

struct replay_error { /* percent; NaN: unknown */
        double median, p90, bias;
};

struct replay_rail {
        const char *word;          /* name of the rail in the trace */
        int component;             /* below 0: no component has that name */
        double measured_j, predicted_j, correlation; /* NaN: unknown */
};

struct replay {
        struct replay_window *windows;
        size_t n;                  /* windows with a measured and a predicted energy */
        size_t n_unpriced;         /* further windows that the profile cannot price */
        struct replay_error error, constant, least_squares;
        double hold_percent, half_width_percent; /* NaN: the profile has no intervals */
        struct replay_rail rails[MEASURED_RAILS_MAX];
        size_t n_rails;
        char **not_measured;       /* keys that the profile does not price, or that are missing in the trace */
        size_t n_not_measured;
};

static void replay_clear(struct replay *replay)
{
        for (size_t i = 0; i < replay->n_not_measured; i++)
                free(replay->not_measured[i]);
        free(replay->not_measured);
        free(replay->windows);
        *replay = (struct replay){ 0 };
}

static int name_part(struct replay *replay, const char *name)
{
        char **grown;

        for (size_t i = 0; i < replay->n_not_measured; i++)
                if (strcmp(replay->not_measured[i], name) == 0)
                        return 0;
        grown = reallocarray(replay->not_measured, replay->n_not_measured + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        replay->not_measured = grown;
        grown[replay->n_not_measured] = strdup(name);
        return grown[replay->n_not_measured++] ? 0 : -ENOMEM;
}

/* Names amounts that the profile prices and for which the trace has no column, though it has others of that kind. */
static int name_missing(const struct profile *profile, const struct measured_trace *trace, struct replay *replay)
{
        int err = 0;

        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++) {
                const struct amount_kind *kind = &amount_kinds[i];
                char name[128];

                if (!(trace->have & kind->have) || trace->amounts & UINT64_C(1) << i || kind->term == TERM_NONE ||
                    profile_find(profile, kind->term, 0, 0, "") < 0)
                        continue;
                snprintf(name, sizeof(name), "%s.%s (not counted)", term_keys[kind->term].section,
                         term_keys[kind->term].key);
                err = name_part(replay, name);
        }
        if (!err && (trace->cellular || trace->have & USAGE_OTHER_NET) &&
            profile_find(profile, TERM_CELLULAR_RX, 0, 0, "") < 0 &&
            profile_find(profile, TERM_CELLULAR_TX, 0, 0, "") < 0)
                err = name_part(replay, "cellular.bytes (no price)");
        return err;
}

/* Names frequencies beyond the profile's: the nearest one's price may be far off. */
static int name_beyond(const struct profile *profile, const struct measured_trace *trace, struct replay *replay)
{
        int err = 0;

        for (size_t i = 0; !err && i < trace->frequencies.n; i++) {
                const struct point *point = &trace->frequencies.list[i];
                uint32_t as = profile_as(profile, point->policy), low = UINT32_MAX, high = 0;
                char name[128];

                for (size_t k = 0; k < profile->n_coefficients; k++) {
                        const struct coefficient *c = &profile->coefficients[k];

                        if (c->term != TERM_CPU_ACTIVE || c->policy != as)
                                continue;
                        low = MIN(low, c->point);
                        high = MAX(high, c->point);
                }
                if (high == 0 || point->ns == 0 || (point->khz >= low && point->khz <= high))
                        continue;
                snprintf(name, sizeof(name), "the difference of cpu.%u.%u from cpu.%u.%u", point->policy, point->khz,
                         point->policy, point->khz < low ? low : high);
                err = name_part(replay, name);
        }
        return err;
}

static int add_span(struct cost_maker *maker, const struct measured_span *span)
{
        int err = 0;

        for (size_t i = 0; !err && i < span->n_owners; i++) {
                const struct measured_owner *owner = &span->owners[i];
                struct store_row row = { .app = owner->base ? "" : owner->name, .name = owner->name,
                                         .state = owner->state,
                                         .usage = &owner->usage,
                                         .active_ns = (uint64_t)(fmin(owner->active_s, 9e9) * NS_PER_S) };

                err = cost_maker_add(maker, &row);
        }
        return err;
}

static void add_components(const struct cost *cost, struct replay_window *window)
{
        window->component_j[COMPONENT_BASE] = cost->base_idle_j;
        window->component_j[COMPONENT_WIFI] = cost->base_wifi_j;
        window->component_j[COMPONENT_DISPLAY] = cost->base_display_j;
        for (size_t i = 0; i < cost->n_apps; i++)
                for (size_t c = 0; c < COMPONENT_COUNT; c++)
                        window->component_j[c] += cost->apps[i].component_j[c];
}

/* Prices @maker, which has all rows of the window. */
static int end_window(const struct profile *profile, struct cost_maker *maker, struct replay_window *window,
                      struct replay *replay)
{
        _cleanup_(cost_freep) struct cost *cost = NULL;
        int err = cost_maker_finish(maker, profile, NULL, &cost);
        struct cost_value total_j;

        for (size_t i = 0; !err && i < cost->n_not_measured; i++)
                err = name_part(replay, cost->not_measured[i]);
        if (err)
                return err;
        if (isnan(cost->total_j.value) || isnan(cost->base_j)) {
                replay->n_unpriced++;
                return 0;
        }
        total_j = cost_joules(&cost->total_j, window->own_level ? 0 : cost->joule_part);
        window->predicted_j = total_j.value;
        window->low_j = total_j.low;
        window->high_j = total_j.high;
        add_components(cost, window);
        replay->windows[replay->n++] = *window;
        return 0;
}

static void add_measured(const struct measured_span *span, const struct baseline *baseline,
                         struct replay_window *window)
{
        window->measured_j += span->energy_j;
        window->own_level = window->own_level && span->by != MEASURED_BY_METER;
        window->constant_j += baseline->constant_j;
        window->least_squares_j += baseline->least_squares_j;
        for (size_t r = 0; r < MEASURED_RAILS_MAX; r++)
                window->rail_j[r] += span->rail_j[r];
}

/* Rounding of decimal seconds. */
#define ROUNDING 1e-9

/* Joins spans to windows; an incomplete window at the end counts only if there is no other. */
static int make_windows(const struct profile *profile, const struct measured_trace *trace,
                        const struct baseline *baselines,
                        double window_s, struct replay *replay)
{
        int err = 0;
        bool any = false;

        for (size_t i = 0, to; !err && i < trace->n; i = to) {
                _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
                struct replay_window window = { .own_level = true };
                double seconds = 0;

                err = cost_maker_new(&maker);
                for (to = i; !err && to < trace->n && (to == i || seconds < window_s * (1 - ROUNDING)); to++) {
                        seconds += trace->spans[to].elapsed_s;
                        add_measured(&trace->spans[to], &baselines[to], &window);
                        err = add_span(maker, &trace->spans[to]);
                }
                if (!err && any && seconds < window_s * (1 - ROUNDING))
                        break;
                any = true;
                if (!err)
                        err = end_window(profile, maker, &window, replay);
        }
        return err;
}

static int ascending(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* Sorts @list; the quantile is interpolated linearly, as is usual. NaN: the list is empty. */
static double quantile(double *list, size_t n, double part)
{
        double at = part * (double)(n - 1);
        size_t low = (size_t)floor(fmax(at, 0));

        if (n == 0)
                return NAN;
        qsort(list, n, sizeof(*list), ascending);
        return low + 1 < n ? list[low] + (at - (double)low) * (list[low + 1] - list[low]) : list[n - 1];
}

/* @predicted: the offset of a double in a window. */
static void find_error(const struct replay *replay, size_t predicted, double *scratch, struct replay_error *ret)
{
        double sum = 0, measured = 0;
        size_t n = 0;

        for (size_t i = 0; i < replay->n; i++) {
                const struct replay_window *window = &replay->windows[i];
                double value = *(const double *)(const void *)((const char *)window + predicted);

                if (isnan(value))
                        continue;
                scratch[n++] = 100 * fabs(value / window->measured_j - 1);
                sum += value;
                measured += window->measured_j;
        }
        ret->median = quantile(scratch, n, 0.5);
        ret->p90 = quantile(scratch, n, 0.9);
        ret->bias = n > 0 ? 100 * (sum / measured - 1) : NAN;
}

static void find_intervals(struct replay *replay, double *scratch)
{
        size_t n = 0, held = 0;

        for (size_t i = 0; i < replay->n; i++) {
                const struct replay_window *window = &replay->windows[i];

                if (isnan(window->low_j) || !(window->predicted_j > 0))
                        continue;
                held += window->low_j <= window->measured_j && window->measured_j <= window->high_j;
                scratch[n++] = 100 * (window->high_j - window->low_j) / 2 / window->predicted_j;
        }
        replay->hold_percent = n > 0 ? 100 * (double)held / (double)n : NAN;
        replay->half_width_percent = quantile(scratch, n, 0.5);
}

static void find_rail(const struct replay *replay, size_t at, struct replay_rail *rail)
{
        double x = 0, y = 0, xx = 0, yy = 0, xy = 0, n = 0;

        for (size_t i = 0; i < replay->n; i++) {
                double measured = replay->windows[i].rail_j[at];
                double predicted = rail->component < 0 ? NAN : replay->windows[i].component_j[rail->component];
                double dx = measured - x, dy = predicted - y;

                if (isnan(measured) || (isnan(predicted) && rail->component >= 0))
                        continue;
                n++;
                x += dx / n;
                y += dy / n;
                xx += dx * (measured - x);
                yy += dy * (predicted - y);
                xy += dx * (predicted - y);
        }
        rail->measured_j = n > 0 ? x * n : NAN;
        rail->predicted_j = n > 0 ? y * n : NAN;
        rail->correlation = n > 2 && xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

static void find_rails(const struct measured_trace *trace, struct replay *replay)
{
        for (size_t r = 0; r < trace->n_rails; r++) {
                const char *word = trace->rails[r];
                struct replay_rail *rail = &replay->rails[replay->n_rails++];

                *rail = (struct replay_rail){ .word = word, .component = component_find(word, strlen(word)) };
                find_rail(replay, r, rail);
        }
}

static uint32_t find_policy(uint32_t khz, const void *profile)
{
        return cost_policy_with(profile, khz);
}

/*
 * @trace: energies of all spans are known. @baseline: trace on which the baselines are fitted; NULL: each span's on all
 * other spans. @window_s: 0: each span is a window. 0; -ENOMEM; -EOVERFLOW.
 */
static int replay_make(const struct profile *profile, struct measured_trace *trace,
                       const struct measured_trace *baseline, double window_s, struct replay *ret)
{
        _cleanup_free_ struct baseline *baselines = calloc(trace->n + 1, sizeof(*baselines));
        _cleanup_free_ double *scratch = calloc(trace->n + 1, sizeof(*scratch));
        struct measured_colours colours;
        struct replay replay = { .windows = calloc(trace->n + 1, sizeof(*replay.windows)) };
        int err = baselines && scratch && replay.windows ? 0 : -ENOMEM;

        if (!err)
                err = baseline_make(trace, baseline, baselines);
        if (!err && measured_colours_of(profile, &colours))
                measured_show(trace, &colours);
        if (!err)
                err = measured_name_policies(trace, find_policy, profile);
        if (!err)
                err = make_windows(profile, trace, baselines, window_s, &replay);
        if (!err)
                err = name_missing(profile, trace, &replay);
        if (!err)
                err = name_beyond(profile, trace, &replay);
        if (err) {
                replay_clear(&replay);
                return err;
        }
        find_error(&replay, offsetof(struct replay_window, predicted_j), scratch, &replay.error);
        find_error(&replay, offsetof(struct replay_window, constant_j), scratch, &replay.constant);
        find_error(&replay, offsetof(struct replay_window, least_squares_j), scratch, &replay.least_squares);
        find_intervals(&replay, scratch);
        find_rails(trace, &replay);
        *ret = replay;
        return 0;
}

static struct cJSON *error_json(const struct replay_error *error, bool bias)
{
        struct cJSON *json = cJSON_CreateObject();

        add_number(json, "median", error->median);
        add_number(json, "p90", error->p90);
        if (bias)
                add_number(json, "bias", error->bias);
        return json;
}

static struct cJSON *rails_json(const struct replay *replay)
{
        struct cJSON *json = cJSON_CreateObject();

        for (size_t i = 0; i < replay->n_rails; i++) {
                const struct replay_rail *rail = &replay->rails[i];
                struct cJSON *item = cJSON_AddObjectToObject(json, rail->word);

                add_number(item, "measured_j", rail->measured_j);
                add_number(item, "predicted_j", rail->predicted_j);
                add_number(item, "correlation", rail->correlation);
        }
        return json;
}

static struct cJSON *replay_json(const struct replay *replay, size_t left_out)
{
        struct cJSON *json = cJSON_CreateObject(), *baselines, *names;

        cJSON_AddNumberToObject(json, "windows", (double)replay->n);
        cJSON_AddNumberToObject(json, "spans_left_out", (double)left_out);
        cJSON_AddItemToObject(json, "error_percent", error_json(&replay->error, true));
        add_number(json, "hold_percent", replay->hold_percent);
        add_number(json, "half_width_percent", replay->half_width_percent);
        cJSON_AddItemToObject(json, "components", rails_json(replay));
        baselines = cJSON_AddObjectToObject(json, "baselines");
        cJSON_AddItemToObject(baselines, "constant", error_json(&replay->constant, false));
        cJSON_AddItemToObject(baselines, "least_squares", error_json(&replay->least_squares, false));
        names = cJSON_AddArrayToObject(json, "not_measured");
        for (size_t i = 0; i < replay->n_not_measured; i++)
                cJSON_AddItemToArray(names, answer_text(replay->not_measured[i]));
        return json;
}

static void percent_cell(struct table *table, double percent, bool sign)
{
        if (isnan(percent))
                table_cell(table, "%s", _("cannot tell"));
        else if (sign)
                table_cell(table, "%+.1f %%", percent);
        else
                table_cell(table, "%.1f %%", percent);
}

static void error_row(struct table *table, const char *name, const struct replay_error *error)
{
        table_row(table, TABLE_PLAIN);
        table_cell(table, "%s", name);
        percent_cell(table, error->median, false);
        percent_cell(table, error->p90, false);
        percent_cell(table, error->bias, true);
}

static void print_rails(const struct replay *replay)
{
        _cleanup_(table_freep) struct table *table = table_new("lrrr");

        if (replay->n_rails == 0)
                return;
        putchar('\n');
        table_heads(table, N_("Component"), N_("Measured"), N_("Predicted"), N_("Correlation"), NULL);
        for (size_t i = 0; i < replay->n_rails; i++) {
                const struct replay_rail *rail = &replay->rails[i];

                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", rail->word);
                table_cell(table, "%.4g J", rail->measured_j);
                if (isnan(rail->predicted_j))
                        table_cell(table, "%s", _("cannot tell"));
                else
                        table_cell(table, "%.4g J", rail->predicted_j);
                if (isnan(rail->correlation))
                        table_cell(table, "%s", "");
                else
                        table_cell(table, "%.2f", rail->correlation);
        }
        table_print(table);
}

static void print_replay(const struct replay *replay)
{
        _cleanup_(table_freep) struct table *table = table_new("lrrr");

        table_heads(table, N_("Error of"), N_("Median"), N_("90th percentile"), N_("Bias"), NULL);
        error_row(table, _("the profile"), &replay->error);
        error_row(table, _("least squares"), &replay->least_squares);
        error_row(table, _("a constant"), &replay->constant);
        table_print(table);
        print_rails(replay);
        putchar('\n');
        if (isnan(replay->hold_percent))
                table_text(TABLE_PLAIN,
                           words_counted("%zu window; the profile has no intervals.",
                                         "%zu windows; the profile has no intervals.", replay->n), replay->n);
        else
                table_text(TABLE_PLAIN,
                           words_counted("%zu window; %.1f %% of the 95 %% intervals held, which are +-%.1f %% wide "
                                         "(median).",
                                         "%zu windows; %.1f %% of the 95 %% intervals held, which are +-%.1f %% wide "
                                         "(median).", replay->n),
                           replay->n, replay->hold_percent, replay->half_width_percent);
        for (size_t i = 0; i < replay->n_not_measured; i++)
                table_note(N_("Not in the prediction: %s."), replay->not_measured[i]);
}

/* Reads a trace, of which spans with known energies are left. An exit code. */
static int read_trace(const char *path, struct profile **profile, struct measured_trace **ret, size_t *left_out)
{
        _cleanup_(measured_freep) struct measured_trace *trace = NULL;
        uint32_t unknown;
        char sentence[256];
        int err = measured_load(path, &program_log, &trace);

        if (err)
                return CODE_FAILED; /* logged */
        err = measured_adapt(trace, profile);
        if (!err)
                err = measured_resolve(trace, (*profile)->energy_full_mwh);
        if (err) {
                log_error(&program_log, "%s: %s", path, strerror(-err));
                return CODE_FAILED;
        }
        *left_out = measured_keep_known(trace, &unknown);
        if (*left_out > 0)
                log_warning(&program_log, "%s: %s", path,
                            measured_left_out(*left_out, unknown, sentence, sizeof(sentence)));
        if (trace->n == 0) {
                log_error(&program_log,
                          "%s: no span has an energy: power_mw, energy_j, charge_uah with voltage_mv, or percent",
                          path);
                return CODE_NO_DATA;
        }
        *ret = TAKE_PTR(trace);
        return CODE_OK;
}

static int answer(const struct arguments *arguments, const struct profile *profile, struct measured_trace *trace,
                  const struct measured_trace *baseline, size_t left_out)
{
        struct replay replay;
        int err = replay_make(profile, trace, baseline, isnan(arguments->window_min) ? 0 :
                              arguments->window_min * 60, &replay);
        int code = CODE_OK;

        if (err) {
                log_error(&program_log, "%s: %s", arguments->trace, strerror(-err));
                return CODE_FAILED;
        }
        if (replay.n == 0) {
                log_error(&program_log, "%s: the profile prices none of it (%s)", arguments->trace,
                          replay.n_not_measured > 0 ? replay.not_measured[0] : "no base.power_mw");
                code = CODE_NO_DATA;
        } else if (arguments->options.json) {
                code = answer_print_json(replay_json(&replay, left_out));
        } else {
                print_replay(&replay);
        }
        replay_clear(&replay);
        return code;
}

static int run(const struct arguments *arguments)
{
        _cleanup_(measured_freep) struct measured_trace *trace = NULL, *baseline = NULL;
        _cleanup_(profile_freep) struct profile *profile = NULL;
        size_t left_out = 0, other = 0;
        int code;

        if (!arguments->trace) {
                log_error(&program_log, "--trace FILE is needed; see joulecast replay --help");
                return CODE_USAGE;
        }
        code = open_profile_file(&arguments->options, &profile);
        if (code == CODE_OK)
                code = read_trace(arguments->trace, &profile, &trace, &left_out);
        if (code == CODE_OK && arguments->baseline)
                code = read_trace(arguments->baseline, &profile, &baseline, &other);
        if (code == CODE_OK)
                measured_drop_misses(trace, profile, arguments->cache_event);
        return code == CODE_OK ? answer(arguments, profile, trace, baseline, left_out) : code;
}

int replay_main(int argc, char **argv)
{
        struct arguments arguments = { .window_min = NAN };
        const struct option_row rows[] = {
                { "trace", "FILE",
                  N_("the trace: spans of use with what was measured (CSV), as joulecast-fit(1) describes them"),
                  .text = &arguments.trace },
                { "window", "TIME", N_("join successive spans until they are so long, such as 60s or 10m"),
                  .usual = N_("each span alone"), OPTION_MINUTES(&arguments.window_min) },
                { "cache-event", "NAME",
                  N_("the event that the trace's columns misses.P counted; they are ignored if it is not the "
                     "profile's"),
                  .text = &arguments.cache_event },
                { "baseline", "FILE",
                  N_("fit the models for comparison (constant power, least squares) to this trace; without it, to all "
                     "spans but the one that is predicted"),
                  .text = &arguments.baseline },
        };
        const struct option_table command = {
                .called = "joulecast replay",
                .usage = "joulecast replay --trace FILE --profile FILE [--window TIME]\n"
                         "                 [--baseline FILE] [--cache-event NAME] [--json]",
                .about = N_("Prices a trace of use whose energy was measured, by a meter, power rails or the "
                            "battery, and says how far off the profile is, how many of its intervals hold, and how "
                            "far off a constant power and least squares would have been."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        int code = options_parse(&command, SHARED_PROFILE | SHARED_JSON, argc, argv, &arguments.options);

        return code >= 0 ? code : run(&arguments);
}
