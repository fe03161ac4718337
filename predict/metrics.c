/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * `joulecast metrics`: for Prometheus, as a file of node_exporter's textfile collector. Its names follow
 * https://prometheus.io/docs/practices/naming/: base units, `_total` for counters that only grow. An unknown value
 * has no sample.
 */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "commands.h"
#include "model/component.h"
#include "state.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

struct writer {
        FILE *file;
        const struct state *state;
        const struct cost *cost;
};

static void head(const struct writer *writer, const char *name, const char *type, const char *help)
{
        fprintf(writer->file, "# HELP joulecast_%s %s\n# TYPE joulecast_%s %s\n", name, help, name, type);
}

/* A label's value: UTF-8, with \, " and newline escaped. */
static void put_label(const struct writer *writer, const char *label, const char *value)
{
        struct cJSON *valid = answer_text(value);

        fprintf(writer->file, "%s=\"", label);
        for (const char *at = valid ? valid->valuestring : ""; *at; at++) {
                if (*at == '\\' || *at == '"')
                        fputc('\\', writer->file);
                if (*at == '\n')
                        fputs("\\n", writer->file);
                else
                        fputc(*at, writer->file);
        }
        fputc('"', writer->file);
        cJSON_Delete(valid);
}

/* @label: "" for none. */
static void sample(const struct writer *writer, const char *name, const char *label, const char *value, double number)
{
        if (isnan(number))
                return;
        fprintf(writer->file, "joulecast_%s", name);
        if (*label) {
                fputc('{', writer->file);
                put_label(writer, label, value);
                fputc('}', writer->file);
        }
        fprintf(writer->file, " %.10g\n", number);
}

static void one(const struct writer *writer, const char *name, const char *type, const char *help, double number)
{
        if (isnan(number))
                return;
        head(writer, name, type, help);
        sample(writer, name, "", "", number);
}

static void put_value(const struct writer *writer, const char *name, const char *help, struct joulecast_value value,
                      double scale)
{
        if (isnan(value.value))
                return;
        head(writer, name, "gauge", help);
        sample(writer, name, "bound", "low", value.low * scale);
        sample(writer, name, "bound", "likely", value.value * scale);
        sample(writer, name, "bound", "high", value.high * scale);
}

static void put_battery(const struct writer *writer)
{
        const struct state *state = writer->state;

        one(writer, "battery_charge_ratio", "gauge", "Charge of the battery, 0 to 1.", state->percent / 100);
        if (state->plugged >= 0)
                one(writer, "external_power", "gauge", "Whether there is external power.", state->plugged);
        one(writer, "battery_power_watts", "gauge", "Power that the battery gives, by its own sensor.", state->power_w);
        if (!state->budget)
                return;
        put_value(writer, "battery_remaining_seconds",
                  "Time left if use goes on as it is, without external power; low holds 19 times in 20.",
                  joulecast_budget_minutes(state->budget), 60);
        put_value(writer, "battery_full_seconds", "Time until the battery is full, or at its charge limit.",
                  joulecast_budget_minutes_to_full(state->budget), 60);
        one(writer, "battery_charge_limit_ratio", "gauge", "Charge at which charging ends, 0 to 1.",
            joulecast_budget_charge_limit_percent(state->budget) / 100);
}

static void put_app_labels(const struct writer *writer, const struct cost_app *app)
{
        put_label(writer, "app", app->app);
        fputc(',', writer->file);
        put_label(writer, "state", answer_state(app->state));
}

static void put_apps(const struct writer *writer, const char *name, const char *type, const char *help,
                     double (*value)(const struct cost *cost, const struct cost_app *app))
{
        head(writer, name, type, help);
        for (size_t i = 0; i < writer->cost->n_apps; i++) {
                const struct cost_app *app = &writer->cost->apps[i];

                if (isnan(value(writer->cost, app)))
                        continue;
                fprintf(writer->file, "joulecast_%s{", name);
                put_app_labels(writer, app);
                fprintf(writer->file, "} %.10g\n", value(writer->cost, app));
        }
}

static double energy_j(const struct cost *cost, const struct cost_app *app)
{
        return app->energy_j.value;
}

static double error_j(const struct cost *cost, const struct cost_app *app)
{
        const struct cost_value joules = cost_joules(&app->energy_j, cost->joule_part);

        return (joules.high - joules.low) / 2;
}

static double active_s(const struct cost *cost, const struct cost_app *app)
{
        return app->active_s;
}

/* All apps by component: with both labels it would be ten samples an app. */
static void put_components(const struct writer *writer)
{
        double sums[COMPONENT_COUNT];

        for (size_t c = 0; c < COMPONENT_COUNT; c++) {
                sums[c] = 0;
                for (size_t i = 0; i < writer->cost->n_apps; i++)
                        sums[c] += isnan(writer->cost->apps[i].component_j[c]) ?
                                           0 :
                                           writer->cost->apps[i].component_j[c];
        }
        head(writer, "component_energy_joules_total", "counter",
             "Energy of all apps by component, as far as it is known.");
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                if (c != COMPONENT_BASE)
                        sample(writer, "component_energy_joules_total", "component", component_names[c], sums[c]);
}

static void put_cost(const struct writer *writer)
{
        const struct cost *cost = writer->cost;

        put_apps(writer, "app_energy_joules_total", "counter", "Energy of an app by the power model.", energy_j);
        put_apps(writer, "app_energy_error_joules", "gauge",
                 "Half the 95 % confidence interval of app_energy_joules_total.",
                 error_j);
        put_apps(writer, "app_active_seconds_total", "counter",
                 "Time that an app was alive in that state (foreground: had the screen).", active_s);
        put_components(writer);
        one(writer, "base_energy_joules_total", "counter", "Energy that no app causes.", cost->base_j);
        one(writer, "recorded_seconds_total", "counter", "Time that is recorded.", cost->recorded_s);
        one(writer, "last_poll_timestamp_seconds", "gauge", "When usage was recorded last.", (double)cost->to_ns / 1e9);
}

static void put_model(const struct writer *writer)
{
        const struct profile *profile = writer->state->ask.profile->profile;

        head(writer, "model_info", "gauge", "The power model: its device, how it was made, and where its "
                                            "numbers are from.");
        fputs("joulecast_model_info{", writer->file);
        put_label(writer, "device", profile->device);
        fputc(',', writer->file);
        put_label(writer, "method", profile->method);
        fputc(',', writer->file);
        put_label(writer, "basis", profile_basis(profile));
        fputs("} 1\n", writer->file);
        one(writer, "battery_full_joules", "gauge", "Energy of a full battery, by the profile.",
            profile->energy_full_mwh * 3.6);
}

static char *make(const struct state *state, const struct cost *cost)
{
        struct text_kept kept;
        FILE *file = text_open(&kept);
        const struct writer writer = { file, state, cost };

        if (!file)
                return NULL;
        put_model(&writer);
        put_battery(&writer);
        put_cost(&writer);
        return text_close(file, &kept);
}

/* Whole or not at all: node_exporter reads the file at any time. */
static int put_text(const char *path, const char *text)
{
        char printable[128];
        int err;

        if (!path) {
                fputs(text, stdout);
                return CODE_OK;
        }
        err = util_write_file(path, text, strlen(text), 0644);
        if (err)
                log_error(&program_log, "cannot write %s: %s", util_printable(path, printable, sizeof(printable)),
                          strerror(-err));
        return err ? CODE_FAILED : CODE_OK;
}

int metrics_main(int argc, char **argv)
{
        const char *path = NULL;
        const struct option_row rows[] = {
                { "output", "FILE", N_("write the metrics to this file, whole or not at all; without it to standard "
                                       "output"),
                  .letter = 'o', .text = &path },
        };
        const struct option_table command = {
                .called = "joulecast metrics",
                .usage = "joulecast metrics [--output FILE]",
                .about = N_("Metrics for Prometheus, as text: a file for node_exporter's textfile collector.\n"
                         "Energy counts from the first poll that is recorded. A new power model prices\n"
                         "the past anew, too, and a counter may then fall; Prometheus takes that as a\n"
                         "restart."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        _cleanup_(state_clear) struct state state = { .plugged = -1 };
        _cleanup_free_ char *text = NULL;
        struct joulecast_cost *cost = NULL;
        struct options options = { 0 };
        int code = options_parse(&command, SHARED_ASK & ~SHARED_JSON, argc, argv, &options), err;

        if (code >= 0)
                return code;
        code = state_read(&options, &state);
        if (code != CODE_OK)
                return code;
        err = joulecast_cost_new(state.ask.profile, state.ask.usage, JOULECAST_BEGIN, JOULECAST_END, &cost);
        if (err)
                return ask_failed(err);
        text = make(&state, cost->cost);
        joulecast_cost_free(cost);
        return text ? put_text(path, text) : CODE_FAILED;
}
