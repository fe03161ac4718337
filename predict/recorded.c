/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorded.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "api/service.h"
#include "app/app.h"
#include "ask.h"
#include "model/json-print.h"
#include "names.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"

static void add_time(struct cJSON *question, const char *key, int64_t time_ns)
{
        char text[40];

        values_print_time(time_ns, text, sizeof(text));
        text[strcspn(text, "Z")] = '\0'; /* to the ns, or an interval at the edge is another */
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ".%09dZ", (int)(time_ns % (int64_t)NS_PER_S));
        cJSON_AddStringToObject(question, key, text);
}

static char *make_question(const struct recorded *recorded)
{
        struct cJSON *question = cJSON_CreateObject();
        _cleanup_free_ char *text = NULL;
        char *line;

        cJSON_AddStringToObject(question, "ask", "usage");
        if (recorded->from_ns != INT64_MIN)
                add_time(question, "from", recorded->from_ns);
        if (recorded->to_ns != INT64_MAX)
                add_time(question, "to", recorded->to_ns);
        if (recorded->app)
                cJSON_AddStringToObject(question, "app", recorded->app);
        text = json_print(question, JSON_LINE);
        return text && asprintf(&line, "%s\n", text) >= 0 ? line : NULL;
}

/* The service answers who may not read the database: with the user's own apps, and one row for all others. */
static int ask_service(const struct joulecast_usage *usage, const struct recorded *recorded, struct usage_table **ret)
{
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        _cleanup_free_ char *question = make_question(recorded);
        struct cJSON *json;
        int err = question ? service_ask(usage, question, &answer) : -ENOMEM;

        if (err)
                return err;
        json = cJSON_Parse(answer.text);
        err = json_failed() ? -ENOMEM : answer_usage_from_json(json, ret);
        cJSON_Delete(json);
        return service_check(usage, err);
}

static void localise(const struct recorded *recorded, struct usage_table *table)
{
        struct desktop_index *index = recorded->options.device ? NULL : desktop_index_of_user();

        for (size_t i = 0; index && i < table->n_rows; i++)
                if (strcmp(table->rows[i].label, table->rows[i].name) == 0 && !table->rows[i].base)
                        app_name(index, table->rows[i].name, table->rows[i].label, sizeof(table->rows[i].label));
        desktop_index_free(index);
}

int recorded_read(const struct recorded *recorded, struct usage_table **ret)
{
        _cleanup_(ask_close) struct ask ask = { 0 };
        int code = ask_open_usage(&recorded->options, &ask), err;

        if (code != CODE_OK)
                return code;
        err = ask.usage->service ? ask_service(ask.usage, recorded, ret) :
                                   usage_table_read(ask.usage->store, ask.usage->uid, recorded->app,
                                                    recorded->from_ns, recorded->to_ns, ret);
        if (err == -ENODATA && recorded->app) {
                char app[128];

                log_error(&program_log, "%s was not seen in that time; joulecast apps lists what was",
                          util_printable(recorded->app, app, sizeof(app)));
                return CODE_NO_DATA;
        }
        if (err == -ENODATA) {
                log_error(&program_log, "nothing was recorded in that time");
                return CODE_NO_DATA;
        }
        if (err == -ENOMEM || err == -EOVERFLOW) /* the store or the service has logged all others */
                log_error(&program_log, "the recorded usage cannot be read: %s", strerror(-err));
        if (err)
                return CODE_FAILED;
        localise(recorded, *ret);
        return CODE_OK;
}

void recorded_print_span(const struct usage_table *table)
{
        double recorded_s = NAN;
        char span[128];

        for (size_t i = 0; i < table->n_rows; i++)
                if (table->rows[i].base)
                        recorded_s = (double)(table->rows[i].usage.time_ns + table->rows[i].usage.suspend_ns) / 1e9;
        table_text(TABLE_PLAIN, "%s", answer_print_span(table->from_ns, table->to_ns, recorded_s, span));
        putchar('\n');
}
