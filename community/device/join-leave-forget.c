/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Commands to join, to leave, and to have all data removed. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kept-report.h"
#include "place.h"
#include "session.h"
#include "util/agree.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

static int check_not_joined(const struct session *session)
{
        struct member member;

        if (access(session->state, F_OK) < 0)
                return CODE_OK;
        if (member_read(session->state, &program_log, &member) < 0)
                return CODE_FAILED;
        log_error(&program_log, "already shared with %s; joulecast community leave ends that", member.where);
        member_clear(&member);
        return CODE_FAILED;
}

/* On a terminal, the past is shared only if the user agrees. */
static void ask_about_past(struct session *session)
{
        if (session->from_ns != INT64_MIN || session->options.yes || !isatty(STDIN_FILENO))
                return;
        if (!agree_ask(stdout, _("Share what was recorded before, too?")))
                session->from_ns = values_now_ns();
}

static void drop_reports(const struct session *session)
{
        place_drop_report(session->state);
        kept_report_drop(session->state);
}

int join_run(struct session *session, const char *where)
{
        _cleanup_free_ char *place = NULL;
        struct member member = { .where = NULL };
        int code = check_not_joined(session), err;

        if (code == CODE_OK && session->from && options_take_time(session->from, &session->from_ns) < 0) {
                log_error(&program_log, "--from: \"%s\" is not a time like 14:00, 2026-11-20T08:00, 24h (ago), today or"
                                        " last week", session->from);
                code = CODE_USAGE;
        }
        if (code == CODE_OK)
                code = open_check_usage(&session->options);
        if (code != CODE_OK)
                return code;
        if (place_check(where, &program_log, &place) < 0)
                return CODE_FAILED;
        ask_about_past(session);
        err = member_new(place, values_now_ns(), &member);
        if (err == -EIO)
                log_error(&program_log, "the kernel gives no random numbers for an id");
        if (!err) {
                member.from_ns = session->from_ns;
                err = member_write(session->state, &member, &program_log);
        }
        if (!err) {
                printf(_("Shared with %s from now on, as %s.\n"), member.where, member.client);
                if (session->from_ns == INT64_MIN)
                        table_text(TABLE_PLAIN, "What was recorded before is shared, too; --from of join leaves it"
                                                " out.");
                table_text(TABLE_PLAIN, "Samples are sent at most once a day, on external power. joulecast community "
                                        "preview shows the next upload, to the byte; status shows what was sent; "
                                        "leave ends sharing; forget removes everything there.");
        }
        member_clear(&member);
        return err ? CODE_FAILED : CODE_OK;
}

/*
 * After leave the id is gone, and then the sent data cannot be removed any more. Returns CODE_OK to leave
 * now.
 */
static int offer_forget(struct session *session, const struct member *member)
{
        if (!member->where || member->sent_samples == 0 || session->options.yes || !isatty(STDIN_FILENO))
                return CODE_OK;
        table_text(TABLE_PLAIN, "%lld samples were sent to %s. They can be removed only with the id of this device, "
                                "which leave deletes.", (long long)member->sent_samples, member->where);
        return agree_ask(stdout, _("Remove them first?")) ? forget_run(session) : CODE_OK;
}

int leave_run(struct session *session)
{
        struct member member = { .where = NULL };
        int err = member_read(session->state, NULL, &member), code;

        code = err == 0 ? offer_forget(session, &member) : CODE_OK;
        if (code != CODE_OK) {
                member_clear(&member);
                return code;
        }
        if (err == 0) { /* forget makes a new member */
                member_clear(&member);
                err = member_read(session->state, NULL, &member);
        }
        if (err == -ENOENT) {
                log_error(&program_log, "nothing is shared, so there is nothing to leave");
                return CODE_NO_DATA;
        }
        if (unlink(session->state) < 0) { /* removes also a damaged file */
                log_error(&program_log, "%s cannot be removed: %s", session->state, strerror(errno));
                member_clear(&member);
                return CODE_FAILED;
        }
        drop_reports(session);
        printf("%s\n", _("Nothing is shared from now on, and the id is gone."));
        if (member.where && member.sent_samples > 0)
                table_text(TABLE_PLAIN, "The %lld samples that were sent stay at %s; without the id nobody can remove "
                                        "them.",
                           (long long)member.sent_samples, member.where);
        member_clear(&member);
        return CODE_OK;
}

static void print_forgotten(const struct member *member, const struct place_forgotten *forgotten)
{
        if (forgotten->confirmed)
                printf(words_counted("%s confirms: %llu sample was removed, and nothing is left.\n",
                                     "%s confirms: %llu samples were removed, and nothing is left.\n",
                                     (unsigned long)forgotten->samples),
                       member->where, (unsigned long long)forgotten->samples);
        else
                printf(words_counted("%llu upload was removed from %s.\n", "%llu uploads were removed from %s.\n",
                                     (unsigned long)forgotten->files),
                       (unsigned long long)forgotten->files, member->where);
        if (!forgotten->confirmed)
                table_text(TABLE_PLAIN, "If they were loaded into a database, a request to forget them is in the "
                                        "folder; joulecast community status says when that was done.");
        table_text(TABLE_PLAIN, "Sharing goes on with another id, from now on; joulecast community leave ends it.");
}

int forget_run(struct session *session)
{
        struct place_forgotten forgotten;
        struct member member;
        char client[UPLOAD_CLIENT_DIGITS + 1];
        int code = session_read_member(session, &member), err;

        if (code != CODE_OK)
                return code;
        err = place_forget(&member, &program_log, &forgotten);
        if (!err)
                drop_reports(session);
        memcpy(client, member.client, sizeof(client));
        if (!err)
                err = member_renew(&member, values_now_ns());
        if (!err && !forgotten.confirmed)
                memcpy(member.forgotten, client, sizeof(client));
        if (!err)
                err = member_write(session->state, &member, &program_log);
        if (!err)
                print_forgotten(&member, &forgotten);
        member_clear(&member);
        return err ? CODE_FAILED : CODE_OK;
}
