/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Asks the service for the gain of a change, and for advice. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "service-request.h"
#include "util/util.h"

static int set_changes(struct request *request, const struct changes *changes)
{
        int err = 0;

        for (size_t i = 0; err == 0 && i < changes->n_close; i++) {
                if (i == 0)
                        err = request_set(request, "$.close", "json_array()", NULL, 0);
                if (err == 0)
                        err = request_set_text(request, "$.close[#]", changes->close[i]);
        }
        if (err == 0 && changes->off)
                err = request_set(request, "$.off", "json_array()", NULL, 0);
        for (size_t c = 0; err == 0 && c < COMPONENT_COUNT; c++)
                if (changes->off & UINT32_C(1) << c)
                        err = request_set_text(request, "$.off[#]", component_names[c]);
        if (err == 0)
                err = request_set_number(request, "$.brightness_percent", changes->brightness_percent);
        if (err == 0)
                err = request_set_number(request, "$.keep_minutes", changes->keep_minutes);
        if (err == 0)
                err = request_set_number(request, "$.battery_percent", changes->battery_percent);
        return err;
}

/* SQLite's true is 1. */
static bool is_true(struct service_answer *answer, const char *path)
{
        _cleanup_free_ char *text = service_text(answer, answer->text, path);

        return text && strcmp(text, "1") == 0;
}

static int get_apps(struct service_answer *answer, struct gain *gain)
{
        for (gain->n_apps = 0; gain->n_apps < CHANGE_APPS_MAX; gain->n_apps++) {
                _cleanup_free_ char *app = NULL;
                char path[64];

                snprintf(path, sizeof(path), "$.close[%zu]", gain->n_apps);
                app = service_text(answer, answer->text, path);
                if (!app)
                        break;
                snprintf(gain->apps[gain->n_apps], sizeof(gain->apps[0]), "%s", app);
        }
        return 0;
}

int service_gain(struct joulecast_usage *usage, const struct joulecast_profile *profile, const struct changes *changes,
                 struct gain *ret)
{
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        _cleanup_(request_clear) struct request request = { 0 };
        int err = request_begin(&request, "whatif", profile);

        if (err == 0)
                err = set_changes(&request, changes);
        if (err == 0)
                err = request_ask(usage, &request, &answer);
        if (err < 0)
                return err;
        ret->gained = service_value(&answer, answer.text, "$.gained_minutes");
        ret->minutes = service_value(&answer, answer.text, "$.minutes");
        ret->changed = service_value(&answer, answer.text, "$.changed_minutes");
        ret->battery_percent = service_number(&answer, answer.text, "$.battery_percent");
        ret->nothing = is_true(&answer, "$.changes_nothing");
        service_copy_text(&answer, "$.basis", ret->basis, sizeof(ret->basis));
        return get_apps(&answer, ret);
}

/* Reads the advice at @path, an element of the list; -ENOENT: there is none. */
static int get_advice(struct service_answer *answer, const char *path, struct advice *ret)
{
        _cleanup_(service_action_clear) struct service_action action = { 0 };
        enum advice_kind kind = ADVICE_CLOSE;
        int err = service_action(answer, path, &action);

        if (err)
                return err;
        while (action.word && kind < ADVICE_KINDS && strcmp(action.word, advice_words[kind]) != 0)
                kind++;
        if (!action.word || kind == ADVICE_KINDS)
                return -EBADMSG;
        *ret = (struct advice){ .kind = kind,
                                .brightness_percent = action.brightness_percent,
                                .gain.gained = action.gained };
        snprintf(ret->app, sizeof(ret->app), "%s", action.app ? action.app : "");
        snprintf(ret->name, sizeof(ret->name), "%s", action.name ? action.name : "");
        return 0;
}

ssize_t service_advise(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                       struct advice ret[ADVICE_MAX])
{
        _cleanup_(service_clear) struct service_answer answer = { 0 };
        _cleanup_(request_clear) struct request request = { 0 };
        ssize_t n = 0;
        int err = request_begin(&request, "advise", profile);

        if (err == 0)
                err = request_ask(usage, &request, &answer);
        for (; err == 0 && n < ADVICE_MAX; n++) {
                char path[64];

                snprintf(path, sizeof(path), "$.advice[%zd]", n);
                err = get_advice(&answer, path, &ret[n]);
                if (err)
                        break;
        }
        return err == -ENOENT || err == 0 ? n : service_check(usage, err);
}
