/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "service-request.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

void request_clear(struct request *request)
{
        service_clear(&request->json);
        free(request->text);
}

/* Sets @path ("$.app", "$.reserve[#]") of the request to the value of @sql, which may use ?3 and ?4. */
int request_set(struct request *request, const char *path, const char *sql, const char *text,
                       double number)
{
        _cleanup_free_ char *whole = NULL;
        sqlite3_stmt *set = NULL;
        char *copy = NULL;

        if (asprintf(&whole, "SELECT json_set(?1, ?2, %s)", sql) < 0) {
                whole = NULL;
                return -ENOMEM;
        }
        if (sqlite3_prepare_v2(request->json.db, whole, -1, &set, NULL) == SQLITE_OK) {
                sqlite3_bind_text(set, 1, request->text, -1, SQLITE_STATIC);
                sqlite3_bind_text(set, 2, path, -1, SQLITE_STATIC);
                sqlite3_bind_text(set, 3, text, -1, SQLITE_STATIC);
                sqlite3_bind_double(set, 4, number);
                if (sqlite3_step(set) == SQLITE_ROW && sqlite3_column_text(set, 0))
                        copy = strdup((const char *)sqlite3_column_text(set, 0));
        }
        sqlite3_finalize(set);
        if (!copy)
                return -ENOMEM;
        free(request->text);
        request->text = copy;
        return 0;
}

int request_set_text(struct request *request, const char *path, const char *text)
{
        return request_set(request, path, "?3", text, 0);
}

int request_set_number(struct request *request, const char *path, double number)
{
        return isnan(number) ? 0 : request_set(request, path, "?4", NULL, number);
}

int request_begin(struct request *request, const char *ask, const struct joulecast_profile *profile)
{
        char fingerprint[SERVICE_FINGERPRINT_MAX];
        int err = service_open(&request->json);

        request->text = strdup("{}");
        if (!request->text)
                return -ENOMEM;
        if (err == 0)
                err = request_set_text(request, "$.ask", ask);
        if (err == 0 && profile)
                err = service_fingerprint(profile->profile, fingerprint);
        if (err == 0 && profile)
                err = request_set_text(request, "$.profile", fingerprint);
        return err;
}

int request_ask(const struct joulecast_usage *usage, const struct request *request, struct service_answer *ret)
{
        _cleanup_free_ char *line = NULL;

        if (strlen(request->text) + 2 > SERVICE_REQUEST_MAX) {
                log_error(&usage->context->log, "the question is too long for the service; name fewer apps");
                return -E2BIG;
        }
        if (asprintf(&line, "%s\n", request->text) < 0) {
                line = NULL;
                return -ENOMEM;
        }
        return service_ask(usage, line, ret);
}

struct cost_value service_value(struct service_answer *answer, const char *json, const char *path)
{
        char part[64];
        struct cost_value value;

        snprintf(part, sizeof(part), "%s.value", path);
        value.value = service_number(answer, json, part);
        snprintf(part, sizeof(part), "%s.low", path);
        value.low = service_number(answer, json, part);
        snprintf(part, sizeof(part), "%s.high", path);
        value.high = service_number(answer, json, part);
        return value;
}

void service_copy_text(struct service_answer *answer, const char *path, char *buf, size_t size)
{
        _cleanup_free_ char *text = service_text(answer, answer->text, path);

        snprintf(buf, size, "%s", text ? text : "");
}

int service_action(struct service_answer *answer, const char *path, struct service_action *ret)
{
        _cleanup_free_ char *json = service_text(answer, answer->text, path);

        if (!json)
                return -ENOENT;
        *ret = (struct service_action){
                .word = service_text(answer, json, "$.action"),
                .app = service_text(answer, json, "$.app"),
                .name = service_text(answer, json, "$.name"),
                .brightness_percent = service_number(answer, json, "$.brightness_percent"),
                .gained = service_value(answer, json, "$.gained_minutes"),
        };
        return 0;
}

void service_action_clear(struct service_action *action)
{
        free(action->word);
        free(action->app);
        free(action->name);
}
