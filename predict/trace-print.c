/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace-print.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "model/json-print.h"
#include "model/usage-json.h"
#include "names.h"
#include "options.h"
#include "util/table.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"

#define SHOWN_FROM 0.0005  /* W or J of an app in the table: less prints as 0.000 */
#define APP_COLUMNS 24
#define APP_COLUMNS_LEAST 12
#define COLUMNS_WIDE 99    /* width of a table with APP_COLUMNS */
#define COLUMNS_BUT_APP 64 /* width of a narrow table without the names */

bool trace_is_wanted(const struct trace_form *form, const struct cost_app *app)
{
        const struct trace_process *process = trace_process_find(form->processes, app->app);

        return !form->app || strcmp(process ? process->app : app->app, form->app) == 0 ||
               strcmp(app->name, form->app) == 0;
}

/* The divisor of energies: the seconds for power, 1 for joules. */
static double per(const struct trace_line *line)
{
        return line->total ? 1 : line->seconds;
}

static struct cJSON *power_json(const struct cost_value *energy_j, double seconds)
{
        const struct cost_value power_w = { energy_j->value / seconds, energy_j->low / seconds,
                                            energy_j->high / seconds };

        return answer_value(&power_w);
}

static void add_process(const struct trace_form *form, const struct cost_app *app, struct cJSON *json)
{
        const struct trace_process *process = trace_process_find(form->processes, app->app);

        cJSON_AddItemToObject(json, "app", answer_text(process ? process->app : app->app));
        if (!form->processes)
                return;
        cJSON_AddItemToObject(json, "pid", process ? cJSON_CreateNumber(process->pid) : cJSON_CreateNull());
        cJSON_AddItemToObject(json, "process", answer_text(process ? process->comm : NULL));
}

static struct cJSON *app_json(const struct trace_form *form, const struct trace_line *line, const struct cost_app *app)
{
        const struct cost_value joules = cost_joules(&app->energy_j, line->cost->joule_part);
        struct cJSON *json = cJSON_CreateObject(), *components;

        add_process(form, app, json);
        cJSON_AddStringToObject(json, "state", answer_state(app->state));
        cJSON_AddItemToObject(json, line->total ? "energy_j" : "power_w", power_json(&joules, per(line)));
        components = cJSON_AddObjectToObject(json, line->total ? "components_j" : "components_w");
        for (size_t c = 0; c < COMPONENT_BASE; c++)
                cJSON_AddNumberToObject(components, component_names[c], app->component_j[c] / per(line));
        if (form->usage)
                cJSON_AddItemToObject(json, "usage", usage_to_json(&app->usage));
        return json;
}

static struct cJSON *line_json(const struct trace_form *form, const struct trace_line *line)
{
        const struct cost *cost = line->cost;
        const struct cost_value total_j = cost_joules(&cost->total_j, cost->joule_part);
        struct cJSON *json = cJSON_CreateObject(), *list;

        if (line->total)
                answer_add_time(json, "from", cost->from_ns);
        answer_add_time(json, line->total ? "to" : "time", cost->to_ns);
        cJSON_AddNumberToObject(json, "elapsed_s", line->seconds);
        cJSON_AddNumberToObject(json, "suspend_s", line->suspend_s);
        cJSON_AddNumberToObject(json, line->total ? "measured_j" : "measured_w", line->measured);
        cJSON_AddItemToObject(json, line->total ? "total_j" : "total_w", power_json(&total_j, per(line)));
        cJSON_AddNumberToObject(json, line->total ? "base_j" : "base_w", cost->base_j / per(line));
        cJSON_AddNumberToObject(json, "level", COST_LEVEL);
        if (form->usage)
                cJSON_AddItemToObject(json, "base_usage", usage_to_json(&cost->base_usage));
        cJSON_AddStringToObject(json, "profile_basis", profile_basis(form->profile));
        list = cJSON_AddArrayToObject(json, "apps");
        for (size_t i = 0; i < cost->n_apps; i++)
                if (trace_is_wanted(form, &cost->apps[i]))
                        cJSON_AddItemToArray(list, app_json(form, line, &cost->apps[i]));
        return json;
}

/* Prints one line per interval, and one for the total. */
static int print_json(const struct trace_form *form, const struct trace_line *line)
{
        struct cJSON *json = line_json(form, line), *totals;
        _cleanup_free_ char *text = NULL;

        if (line->total) {
                totals = cJSON_CreateObject();
                cJSON_AddItemToObject(totals, "totals", json);
                json = totals;
        }
        json_add_schema(json);
        text = json_print(json, JSON_LINE);
        if (!text)
                return -ENOMEM;
        return puts(text) == EOF ? -errno : 0;
}

/* A narrow terminal has shorter names and numbers. */
void trace_form_make(struct trace_form *form)
{
        size_t columns = table_columns();

        form->narrow = columns > 0 && columns < COLUMNS_WIDE;
        form->app_columns = APP_COLUMNS;
        form->time_columns = MAX(text_width(_("total")), text_width(_("time")));
        form->time_columns = MAX(form->time_columns, (size_t)8) + 2;
        form->state_columns = MAX(text_width(_("foreground")), text_width(_("background")));
        form->state_columns = MAX(form->state_columns, (size_t)10);
        if (form->narrow)
                form->app_columns = MAX((int)columns - COLUMNS_BUT_APP, APP_COLUMNS_LEAST);
}

static int columns_of(const struct trace_form *form, size_t component)
{
        int least = form->narrow ? 7 : 9;

        return component == COMPONENT_COUNT ? least : MAX((int)text_width(_(component_names[component])) + 1, least);
}

/* With as many decimals as leave a blank before it. */
static void print_number(double value, int columns)
{
        char text[64];
        int decimals = fabs(value) < 99.9995 ? 3 : 2;

        if (isnan(value)) {
                printf("%*s", columns, "?");
                return;
        }
        do
                snprintf(text, sizeof(text), "%.*f", decimals, value);
        while (strlen(text) >= (size_t)columns && decimals-- > 0);
        printf("%*s", columns, text + (*text == '-' && strtod(text, NULL) == 0)); /* no -0.000 */
}

/*
 * Parts that apps hold have a column if they have a price; power that no counter shows has one if some of it was
 * learnt in everyday use.
 */
bool trace_component_is_shown(const struct profile *profile, size_t component)
{
        for (size_t i = 0; component > COMPONENT_GPU && i < profile->n_coefficients; i++)
                if (model_term_component(profile->coefficients[i].term) == component)
                        return true;
        return component <= COMPONENT_GPU || (component == COMPONENT_UNSEEN && profile->n_apps > 0);
}

static void print_heads(const struct trace_form *form, const struct trace_line *line)
{
        text_column(stdout, line->total ? _("total") : _("time"), form->time_columns, false);
        text_column(stdout, form->processes ? _("process") : _("app"), (size_t)form->app_columns + 1, false);
        text_column(stdout, _("state"), form->state_columns, false);
        text_column(stdout, line->total ? "J" : "W", (size_t)columns_of(form, COMPONENT_COUNT), true);
        for (size_t c = 0; c < COMPONENT_BASE; c++)
                if (trace_component_is_shown(form->profile, c))
                        text_column(stdout, _(component_names[c]), (size_t)columns_of(form, c), true);
        putchar('\n');
}

static void print_line(const struct trace_form *form, const char *time, const char *app, const char *state,
                       double value, const double *component_j, double seconds)
{
        char name[APP_ID_MAX];
        int room = form->app_columns;

        text_column(stdout, time, form->time_columns, false);
        room -= (int)table_print_cut(util_printable(app, name, sizeof(name)), (size_t)room);
        printf("%*s ", room, "");
        text_column(stdout, state, form->state_columns, false);
        print_number(value, columns_of(form, COMPONENT_COUNT));
        for (size_t c = 0; component_j && c < COMPONENT_BASE; c++)
                if (trace_component_is_shown(form->profile, c))
                        print_number(component_j[c] / seconds, columns_of(form, c));
        putchar('\n');
}

/* At most 7 columns, with a blank before them in the narrowest form. */
static void print_bytes(uint64_t bytes, char *buf)
{
        static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
        double value = (double)bytes;
        size_t unit = 0;

        while (value >= 999.5 && unit + 1 < ARRAY_SIZE(units)) {
                value /= 1e3;
                unit++;
        }
        snprintf(buf, 32, "%.*f %s", unit > 0 && value < 9.95 ? 1 : 0, value, units[unit]);
}

/* Time busy or on: the part of an interval, or the seconds of all. */
static void print_part(uint64_t ns, const struct trace_line *line, char *buf)
{
        double seconds = (double)ns / NS_PER_S, percent = 100 * seconds / line->seconds;

        if (!line->total)
                snprintf(buf, 32, "%.*f %%", percent < 9.95 ? 1 : 0, percent);
        else if (seconds < 9999.5)
                snprintf(buf, 32, "%.*f s", seconds < 99.95 ? 1 : 0, seconds);
        else
                snprintf(buf, 32, "%.*f h", seconds < 99.95 * 3600 ? 1 : 0, seconds / 3600);
}

/* Nothing of cellular: its bytes are counted together with those of wired networks. */
static void used_text(const struct usage *usage, size_t component, const struct trace_line *line, char *buf)
{
        static const uint32_t counted[COMPONENT_BASE] = {
                [COMPONENT_CPU] = USAGE_CPU,           [COMPONENT_DISPLAY] = USAGE_DISPLAY,
                [COMPONENT_DISK] = USAGE_DISK,         [COMPONENT_WIFI] = USAGE_WIFI,
                [COMPONENT_GPU] = USAGE_GPU,           [COMPONENT_GPS] = USAGE_GPS,
                [COMPONENT_AUDIO] = USAGE_AUDIO,       [COMPONENT_CAMERA] = USAGE_CAMERA,
        };
        const uint64_t used[COMPONENT_BASE] = {
                [COMPONENT_CPU] = usage_busy_ns(usage),
                [COMPONENT_DISPLAY] = usage_screen_ns(usage),
                [COMPONENT_DISK] = usage->read_bytes + usage->write_bytes,
                [COMPONENT_WIFI] = usage->wifi_rx_bytes + usage->wifi_tx_bytes,
                [COMPONENT_GPU] = usage->gpu_busy_ns,
                [COMPONENT_GPS] = usage->gps_on_ns,
                [COMPONENT_AUDIO] = usage->audio_on_ns,
                [COMPONENT_CAMERA] = usage->camera_on_ns,
        };

        *buf = '\0';
        if (used[component] == 0)
                snprintf(buf, 32, "%s", usage->have & counted[component] || !counted[component] ? "" : "?");
        else if (component == COMPONENT_DISK || component == COMPONENT_WIFI)
                print_bytes(used[component], buf);
        else
                print_part(used[component], line, buf);
}

/* Prints a line with the usage below the power of each component; nothing if nothing was used. */
static void print_usage(const struct trace_form *form, const struct trace_line *line, const struct usage *usage)
{
        char cells[COMPONENT_BASE][32];
        size_t n = 0, shown = 0;

        for (size_t c = 0; c < COMPONENT_UNSEEN; c++) {
                cells[c][0] = '\0';
                if (!trace_component_is_shown(form->profile, c))
                        continue;
                used_text(usage, c, line, cells[c]);
                n = cells[c][0] ? c + 1 : n;
                shown += cells[c][0] && cells[c][0] != '?';
        }
        if (!form->usage || shown == 0)
                return;
        printf("%*s",
               (int)(form->time_columns + form->state_columns) + form->app_columns + 1 +
                       columns_of(form, COMPONENT_COUNT),
               "");
        for (size_t c = 0; c < n; c++)
                if (trace_component_is_shown(form->profile, c))
                        printf("%*s", columns_of(form, c), cells[c]);
        putchar('\n');
}

static void print_app(const struct trace_form *form, const struct trace_line *line, const struct cost_app *app,
                      const char *clock)
{
        char name[APP_ID_MAX + 2];

        print_line(form, clock, names_in_table(app->app, app->name, name, sizeof(name)), _(answer_state(app->state)),
                   app->energy_j.value / per(line), app->component_j, per(line));
        print_usage(form, line, &app->usage);
}

/* Apps that do not round to 0, and the sum of the others, so that the lines add up to the total. */
static void print_apps(const struct trace_form *form, const struct trace_line *line)
{
        const struct cost *cost = line->cost;
        double rest_j = 0;
        size_t n_rest = 0;
        char name[64];

        for (size_t i = 0; i < cost->n_apps; i++) {
                if (cost->apps[i].energy_j.value / per(line) >= SHOWN_FROM) {
                        print_app(form, line, &cost->apps[i], "");
                } else {
                        rest_j += isnan(cost->apps[i].energy_j.value) ? 0 : cost->apps[i].energy_j.value;
                        n_rest++;
                }
        }
        snprintf(name, sizeof(name), _("(%zu more)"), n_rest);
        if (n_rest > 0 && rest_j / per(line) >= SHOWN_FROM)
                print_line(form, "", name, "", rest_j / per(line), NULL, 1);
}

/* A line for each interval, also while it does not run. */
static void print_one(const struct trace_form *form, const struct trace_line *line, const char *clock)
{
        bool found = false;

        for (size_t i = 0; i < line->cost->n_apps; i++) {
                if (!trace_is_wanted(form, &line->cost->apps[i]))
                        continue;
                print_app(form, line, &line->cost->apps[i], clock);
                found = true;
        }
        if (!found)
                print_line(form, clock, form->app, "-", 0, NULL, 1);
}

/* The time of day. A replay may be of many days, and prints each date once. */
static const char *clock_of(struct trace_form *form, const struct trace_line *line, char time[32])
{
        char *clock;

        values_print_local(line->cost->to_ns, time, 32);
        clock = strchr(time, ' ');
        if (!clock)
                return time;
        *clock = '\0';
        if (form->usage && !line->total && strcmp(form->day, time) != 0) {
                printf("%s\n", time);
                snprintf(form->day, sizeof(form->day), "%s", time);
        }
        return clock + 1;
}

static void print_table(struct trace_form *form, const struct trace_line *line)
{
        const struct cost *cost = line->cost;
        char time[32];
        const char *clock = clock_of(form, line, time);

        if (form->lines % 20 == 0 || line->total)
                print_heads(form, line);
        if (line->total)
                clock = "";
        if (form->app) {
                print_one(form, line, clock);
                return;
        }
        print_line(form, clock, _("(all)"), "", cost->total_j.value / per(line), NULL, 1);
        print_line(form, "", _("(base)"), "", cost->base_j / per(line), NULL, 1);
        print_usage(form, line, &cost->base_usage);
        print_apps(form, line);
}

int trace_print(struct trace_form *form, const struct trace_line *line)
{
        int err = 0;

        if (form->json)
                err = print_json(form, line);
        else
                print_table(form, line);
        form->lines++;
        return !err && fflush(stdout) == EOF ? -errno : err;
}
