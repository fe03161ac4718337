/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast replay`: how right a profile is on a measured trace. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "answer.h"
#include "commands.h"
#include "options.h"
#include "replay-score.h"
#include "util/table.h"
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
                table_text(TABLE_PLAIN, N_("%zu windows; the profile has no intervals."), replay->n);
        else
                table_text(TABLE_PLAIN,
                           N_("%zu windows; %.1f %% of the 95 %% intervals held, which are +-%.1f %% wide (median)."),
                           replay->n, replay->hold_percent, replay->half_width_percent);
        for (size_t i = 0; i < replay->n_not_measured; i++)
                table_note(N_("Not in the prediction: %s."), replay->not_measured[i]);
}

/* Reads a trace, of which spans with known energies are left. An exit code. */
static int read_trace(const char *path, const struct profile *profile, struct measured_trace **ret, size_t *left_out)
{
        _cleanup_(measured_freep) struct measured_trace *trace = NULL;
        uint32_t unknown;
        char words[128];
        int err = measured_load(path, &program_log, &trace);

        if (err)
                return CODE_FAILED; /* logged */
        err = measured_resolve(trace, profile->energy_full_mwh);
        if (err) {
                log_error(&program_log, "%s: %s", path, strerror(-err));
                return CODE_FAILED;
        }
        *left_out = measured_keep_known(trace, &unknown);
        if (*left_out > 0)
                log_warning(&program_log, "%s: %zu spans are left out: what they took is not known%s%s%s", path,
                            *left_out,
                            unknown ? ", or " : "", measured_words(unknown, words, sizeof(words)),
                            unknown ? " is not known in some (an empty cell; none is 0)" : "");
        if (trace->n == 0) {
                log_error(&program_log,
                          "%s: no span tells its energy: by power_mw, energy_j, charge_uah with voltage_mv, or percent",
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
        code = open_profile(&arguments->options, &profile);
        if (code == CODE_OK)
                code = read_trace(arguments->trace, profile, &trace, &left_out);
        if (code == CODE_OK && arguments->baseline)
                code = read_trace(arguments->baseline, profile, &baseline, &other);
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
                  N_("fit what is compared (constant power, least squares) on this trace; without it, on all spans "
                     "but the one that is predicted"),
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
