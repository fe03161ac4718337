/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast apps`: which apps were seen. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "ask.h"
#include "commands.h"
#include "names.h"
#include "options.h"
#include "recorded.h"
#include "util/table.h"
#include "util/util.h"

/* An app in both states. */
struct seen {
        const struct usage_table_row *row;
        double active_s[2];
        int64_t first_ns, last_ns;
};

static size_t list_seen(const struct usage_table *table, struct seen *list)
{
        size_t n = 0;

        for (size_t i = 0; i < table->n_rows; i++) {
                const struct usage_table_row *row = &table->rows[i];
                size_t at = 0;

                if (row->base)
                        continue;
                while (at < n && strcmp(list[at].row->name, row->name) != 0)
                        at++;
                if (at == n)
                        list[n++] = (struct seen){ row, { 0, 0 }, row->first_ns, row->last_ns };
                list[at].active_s[row->state] += row->time_ms / 1e3;
                list[at].first_ns = MIN(list[at].first_ns, row->first_ns);
                list[at].last_ns = MAX(list[at].last_ns, row->last_ns);
        }
        return n;
}

static int by_last(const void *a, const void *b)
{
        const struct seen *one = a, *other = b;

        if (one->last_ns != other->last_ns)
                return one->last_ns < other->last_ns ? 1 : -1;
        return strcmp(one->row->name, other->row->name);
}

static int print_apps(const struct usage_table *recorded, const struct seen *list, size_t n)
{
        _cleanup_(table_freep) struct table *table = table_new("nnrrll");

        table_spare(table, "541");
        table_heads(table, N_("App"), N_("Id"), N_("Foreground"), N_("Background"), N_("Last seen"),
                    N_("First seen"), NULL);
        for (size_t i = 0; i < n; i++) {
                char text[32], name[APP_ID_MAX + 2];

                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", names_in_table(list[i].row->name, list[i].row->label, name, sizeof(name)));
                table_cell(table, "%s", strcmp(list[i].row->label, list[i].row->name) ? list[i].row->name : "");
                for (int state = STATE_FOREGROUND; state >= STATE_BACKGROUND; state--)
                        table_cell(table, "%s", list[i].active_s[state] > 0 ?
                                                answer_print_duration(list[i].active_s[state], text) : "");
                values_print_local(list[i].last_ns, text, sizeof(text));
                table_cell(table, "%s", text);
                values_print_local(list[i].first_ns, text, sizeof(text));
                table_cell(table, "%s", text);
        }
        recorded_print_span(recorded);
        table_print(table);
        return CODE_OK;
}

/* Prints one id per line, for programs and for a shell's completion. */
static int print_ids(const struct seen *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                puts(list[i].row->name);
        return CODE_OK;
}

static struct cJSON *apps_json(const struct usage_table *table, const struct seen *list, size_t n)
{
        struct cJSON *json = cJSON_CreateObject(), *apps;

        answer_add_time(json, "from", table->from_ns);
        answer_add_time(json, "to", table->to_ns);
        apps = cJSON_AddArrayToObject(json, "apps");
        for (size_t i = 0; i < n; i++) {
                struct cJSON *app = cJSON_CreateObject();

                cJSON_AddItemToObject(app, "app", answer_text(list[i].row->name));
                cJSON_AddItemToObject(app, "name", answer_text(list[i].row->label));
                cJSON_AddNumberToObject(app, "foreground_s", list[i].active_s[STATE_FOREGROUND]);
                cJSON_AddNumberToObject(app, "background_s", list[i].active_s[STATE_BACKGROUND]);
                answer_add_time(app, "first", list[i].first_ns);
                answer_add_time(app, "last", list[i].last_ns);
                cJSON_AddItemToArray(apps, app);
        }
        return json;
}

int apps_main(int argc, char **argv)
{
        struct recorded recorded = { .from.ns = INT64_MIN, .to_ns = INT64_MAX, .times = true };
        bool ids = false;
        const struct option_row rows[] = {
                OPTIONS_FROM(&recorded.from),
                { "to", "T", N_("end: a time as with --from"), OPTION_TIME(&recorded.to_ns) },
                { "ids", NULL, N_("print only the ids of the apps, one a line"), .flag = &ids },
        };
        const struct option_table command = {
                .called = "joulecast apps",
                .usage = "joulecast apps [--from T | --since WHAT] [--to T] [--ids]",
                .about = N_("The apps that were seen, the last one first: how long each was in the foreground\n"
                         "and in the background, and when."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        _cleanup_(usage_table_freep) struct usage_table *table = NULL;
        _cleanup_free_ struct seen *list = NULL;
        int code = options_parse(&command, SHARED_DEVICE | SHARED_DATABASE | SHARED_JSON, argc, argv,
                                 &recorded.options);
        size_t n;

        if (code >= 0)
                return code;
        code = ask_check_span("apps", &recorded.from, recorded.to_ns);
        if (code == CODE_OK)
                code = recorded_read(&recorded, &table);
        if (code != CODE_OK)
                return code;
        list = calloc(table->n_rows, sizeof(*list));
        if (!list) {
                log_error(&program_log, "the apps cannot be listed: %s", strerror(ENOMEM));
                return CODE_FAILED;
        }
        n = list_seen(table, list);
        if (n > 1)
                qsort(list, n, sizeof(*list), by_last);
        if (ids)
                return print_ids(list, n);
        return recorded.options.json ? answer_print_json(apps_json(table, list, n)) : print_apps(table, list, n);
}
