/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints the destination, the data sent so far, and the reasons for waiting. */

#include <cjson/cJSON.h>
#include <stdio.h>

#include "answer/answer.h"
#include "opportunity.h"
#include "place.h"
#include "session.h"
#include "util/table.h"
#include "util/utc.h"
#include "util/util.h"
#include "util/words.h"

struct status {
        struct member member;
        struct compose_upload waiting; /* n = 0: there is nothing to send */
        unsigned reasons;              /* reasons against sending now */
        bool forgotten;                /* a folder confirmed the request to forget */
};

static void status_clear(struct status *status)
{
        member_clear(&status->member);
        compose_clear(&status->waiting);
}

static int print_json(const struct status *status)
{
        const struct member *member = &status->member;
        struct cJSON *json = cJSON_CreateObject(), *reasons;
        unsigned left = status->reasons;
        const char *reason;

        cJSON_AddItemToObject(json, "where", answer_text(member->where));
        cJSON_AddStringToObject(json, "client", member->client);
        answer_add_time(json, "joined", member->joined_ns);
        answer_add_time(json, "sent", member->sent_ns ? member->sent_ns : INT64_MIN);
        cJSON_AddNumberToObject(json, "sent_samples", (double)member->sent_samples);
        cJSON_AddNumberToObject(json, "sent_bytes", (double)member->sent_bytes);
        cJSON_AddNumberToObject(json, "waiting_samples", (double)status->waiting.n);
        cJSON_AddNumberToObject(json, "waiting_bytes", (double)status->waiting.packed_length);
        answer_add_time(json, "refused", member->refused_ns ? member->refused_ns : INT64_MIN);
        cJSON_AddItemToObject(json, "refused_why", answer_text(member->refused_ns ? member->refused : NULL));
        reasons = cJSON_AddArrayToObject(json, "not_now");
        while ((reason = opportunity_reason(&left)))
                cJSON_AddItemToArray(reasons, cJSON_CreateString(reason));
        answer_add_known(json, "forgotten", *member->forgotten ? status->forgotten : -1);
        return answer_print_json(json);
}

static void print_row(struct table *table, const char *head, const char *text)
{
        table_row(table, TABLE_PLAIN);
        table_cell(table, "%s", _(head));
        table_cell(table, "%s", text);
}

static void add_reasons(const struct status *status, struct table *table)
{
        unsigned left = status->reasons;
        const char *reason = opportunity_reason(&left);
        bool now = !reason;

        if (now)
                print_row(table, N_("next"), _("within the hour, by joulecast-share.timer"));
        for (; reason; reason = opportunity_reason(&left))
                print_row(table, N_("not now"), _(reason));
}

static int print_text(const struct status *status)
{
        const struct member *member = &status->member;
        _cleanup_(table_freep) struct table *table = table_new("ll");
        char text[256], time[40];

        print_row(table, N_("shared with"), member->where);
        print_row(table, N_("as"), member->client);
        utc_print(member->joined_ns, time, sizeof(time));
        print_row(table, N_("since"), time);
        if (member->sent_ns)
                utc_print(member->sent_ns, time, sizeof(time));
        snprintf(text, sizeof(text), _("%s; %lld samples in all, %lld bytes"), time, (long long)member->sent_samples,
                 (long long)member->sent_bytes);
        print_row(table, N_("last sent"), member->sent_ns ? text : _("nothing yet"));
        snprintf(text, sizeof(text), _("%zu samples, %zu bytes"), status->waiting.n, status->waiting.packed_length);
        print_row(table, N_("waiting"), status->waiting.n ? text : _("nothing yet"));
        if (member->refused_ns) {
                char refused[MEMBER_REFUSED_MAX + 64], printable[MEMBER_REFUSED_MAX];

                utc_print(member->refused_ns, time, sizeof(time));
                snprintf(refused, sizeof(refused), "%s: %s", time,
                         util_printable(member->refused, printable, sizeof(printable)));
                print_row(table, N_("refused"), refused);
        }
        add_reasons(status, table);
        table_print(table);
        if (*member->forgotten)
                table_text(TABLE_PLAIN,
                           status->forgotten ? N_("It is confirmed that earlier samples were deleted there.")
                                                          : N_("It is not confirmed yet that earlier samples were "
                                                               "deleted there."));
        return CODE_OK;
}

int status_run(struct session *session)
{
        _cleanup_(status_clear) struct status status = { .reasons = 0 };
        int code = session_read_member(session, &status.member);

        if (code == CODE_OK && place_learn_named(&status.member, &program_log) < 0)
                code = CODE_FAILED;
        if (code != CODE_OK)
                return code;
        code = session_compose(session, &status.member, &status.waiting);
        if (code == CODE_FAILED)
                return code;
        status.reasons = opportunity_look(&status.member, session->root_fd, values_now_ns());
        status.forgotten = *status.member.forgotten && place_has_forgotten(&status.member, status.member.forgotten);
        return session->options.json ? print_json(&status) : print_text(&status);
}
