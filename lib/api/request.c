/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "request.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/fields.h"
#include "util/utc.h"
#include "util/util.h"

#define YEAR_2200_NS INT64_C(7258118400000000000) /* nothing is recorded after it, nor before 1970 */

void request_begin(struct request *request, const char *ask, const struct joulecast_profile *profile)
{
        char fingerprint[SERVICE_FINGERPRINT_MAX];

        *request = (struct request){ .json = cJSON_CreateObject() };
        request_text(request, "ask", ask);
        if (profile && !request->err)
                request->err = service_fingerprint(profile->profile, fingerprint);
        if (profile && !request->err)
                request_text(request, "profile", fingerprint);
}

/* An addition without memory gives NULL. */
static void check_added(struct request *request, const void *added)
{
        if (!added && !request->err)
                request->err = -ENOMEM;
}

void request_text(struct request *request, const char *key, const char *text)
{
        if (text)
                check_added(request, cJSON_AddStringToObject(request->json, key, text));
}

void request_number(struct request *request, const char *key, double number)
{
        if (!isnan(number))
                check_added(request, cJSON_AddNumberToObject(request->json, key, number));
}

void request_time(struct request *request, const char *key, int64_t time_ns)
{
        char text[40];

        if (time_ns == INT64_MIN || time_ns == INT64_MAX)
                return;
        utc_print_exact(MIN(MAX(time_ns, 0), YEAR_2200_NS), text, sizeof(text));
        request_text(request, key, text);
}

void request_texts(struct request *request, const char *key, const char *const *texts, size_t n)
{
        struct cJSON *list = n > 0 ? cJSON_CreateStringArray(texts, (int)n) : NULL;

        if (n == 0 || cJSON_AddItemToObject(request->json, key, list))
                return;
        cJSON_Delete(list);
        check_added(request, NULL);
}

int request_print(struct request *request, char **ret)
{
        locale_t before = util_enter_c_locale();
        char *text = request->err ? NULL : cJSON_PrintUnformatted(request->json), *line;
        int err = request->err;

        util_leave_c_locale(before);
        if (!err && (!text || asprintf(&line, "%s\n", text) < 0))
                err = -ENOMEM;
        if (!err)
                *ret = line;
        cJSON_free(text);
        cJSON_Delete(request->json);
        return err;
}

int request_ask(struct request *request, const struct joulecast_usage *usage, struct cJSON **ret)
{
        const struct log *log = &usage->context->log;
        _cleanup_(service_json_freep) struct cJSON *json = NULL;
        _cleanup_free_ char *question = NULL, *answer = NULL;
        char sentence[512] = "";
        int err = request_print(request, &question);

        if (err)
                return err;
        if (strlen(question) + 1 > SERVICE_REQUEST_MAX) {
                log_error(log, "the question is too long for the service; name fewer apps");
                return -E2BIG;
        }
        err = service_exchange(usage->service, question, SERVICE_PATIENCE_S, &answer);
        if (err < 0) {
                log_error(log, "the service at %s gave no answer: %s", usage->service, strerror(-err));
                return err == -ENOMEM ? err : -EIO;
        }
        err = service_parse(answer, &json);
        if (!err)
                err = service_error_in(json, sentence, sizeof(sentence));
        if (*sentence)
                log_error(log, "%s", sentence);
        else if (err && err != -EBADMSG && err != -ENODATA) /* which the caller has words for */
                log_error(log, "the service gave no answer: %s", strerror(-err));
        if (!err)
                *ret = TAKE_PTR(json);
        return service_check(usage, err);
}

int request_read(struct request *request, const struct joulecast_usage *usage, const struct field *fields, void *ret)
{
        _cleanup_(service_json_freep) struct cJSON *json = NULL;
        int err = request_ask(request, usage, &json);

        return err ? err : service_check(usage, fields_from_json(fields, json, ret));
}
