/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Commands to preview and to send the next upload. */

#include <errno.h>
#include <stdio.h>

#include "gains.h"
#include "opportunity.h"
#include "place.h"
#include "session.h"
#include "util/util.h"
#include "util/words.h"

static const char nothing_yet[] = N_("there is no sample to send yet: a span of ten minutes or more on battery in"
                                     " which the level fell, or half an hour suspended");

/* Makes a temporary member before joining, to show the first upload. */
static int preview_member(const struct session *session, struct member *ret)
{
        int err = member_read(session->state, &program_log, ret);

        if (!err && place_learn_named(ret, &program_log) < 0)
                return CODE_FAILED;
        if (err != -ENOENT)
                return err ? CODE_FAILED : CODE_OK;
        log_info(&program_log, "nothing is shared; this would be the first upload, with another id");
        if (member_new("", values_now_ns(), ret) < 0)
                return CODE_FAILED;
        ret->from_ns = INT64_MIN;
        return CODE_OK;
}

int preview_run(struct session *session)
{
        _cleanup_(compose_clear) struct compose_upload upload = { .n = 0 };
        _cleanup_(member_clear) struct member member = { .where = NULL };
        int code = preview_member(session, &member);

        if (code == CODE_OK)
                code = session_compose(session, &member, &upload);
        if (code == CODE_NO_DATA)
                log_error(&program_log, nothing_yet);
        if (code == CODE_OK)
                fwrite(upload.text, 1, upload.length, stdout);
        return code;
}

/* On battery, the present settings are recorded. */
static int check_time(const struct session *session, struct member *member)
{
        unsigned reasons = session->now ? 0 : opportunity_look(member, session->root_fd, values_now_ns());
        bool on_battery = session->root_fd >= 0 && (reasons & NOT_NOW_BATTERY);
        const char *reason = opportunity_reason(&reasons);
        struct setting setting;

        if (!reason)
                return CODE_OK;
        if (on_battery) {
                setting_read(session->root_fd, values_now_ns(), &setting);
                member_add_setting(member, &setting);
        }
        if ((on_battery || member->n_watches) && member_write(session->state, member, &program_log) < 0)
                return CODE_FAILED;
        log_error(&program_log, "not now: %s", _(reason));
        return CODE_NO_DATA;
}

/*
 * The watermark moves after the destination has the upload; samples that are sent twice are recognised there.
 */
static int send_upload(const struct session *session, struct member *member, const struct compose_upload *upload)
{
        struct place_receipt receipt;

        member->refused_ns = 0;
        if (place_send(member, upload, &program_log, &receipt) < 0) {
                if (member->refused_ns)
                        (void)member_write(session->state, member, &program_log);
                return CODE_FAILED;
        }
        member->next = MAX(member->next + (int64_t)upload->n, receipt.next);
        member->from_ns = upload->until_ns;
        member->sent_ns = values_now_ns();
        member->sent_samples += (int64_t)upload->n;
        member->sent_bytes += (int64_t)upload->packed_length;
        if (member_write(session->state, member, &program_log) < 0)
                return CODE_FAILED;
        printf(words_counted("%zu sample was sent to %s (%zu bytes).\n", "%zu samples were sent to %s (%zu bytes).\n",
                             upload->n),
               upload->n, member->where, upload->packed_length);
        if (receipt.bad > 0)
                log_warning(&program_log, "%llu of them were refused there", (unsigned long long)receipt.bad);
        return CODE_OK;
}

int send_run(struct session *session)
{
        _cleanup_(compose_clear) struct compose_upload upload = { .n = 0 };
        _cleanup_(member_clear) struct member member = { .where = NULL };
        int code = session_read_member(session, &member);

        /* Done now, because polls are kept for two days only. */
        if (code == CODE_OK && gains_follow(session, &member) == CODE_FAILED)
                code = CODE_FAILED;
        if (code == CODE_OK)
                code = check_time(session, &member);
        if (code == CODE_OK && place_learn_named(&member, &program_log) < 0)
                code = CODE_FAILED;
        if (code != CODE_OK)
                return code;
        code = session_compose(session, &member, &upload);
        if (code == CODE_NO_DATA)
                log_error(&program_log, nothing_yet);
        if (code == CODE_OK)
                code = send_upload(session, &member, &upload);
        /* Who never sent a sample is not known there. What is said of a profile changes nothing of the samples. */
        if ((code == CODE_OK || code == CODE_NO_DATA) && member.sent_samples > 0)
                (void)profile_send(session, &member);
        return code;
}
