/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The choice: to begin, to end, and to have all removed. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "place.h"
#include "session.h"
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

int join_run(struct session *session, const char *where)
{
        _cleanup_free_ char *place = NULL;
        struct member member = { .where = NULL };
        int code = check_not_joined(session), err;

        if (code == CODE_OK)
                code = open_check_usage(&session->options);
        if (code != CODE_OK)
                return code;
        if (place_check(where, &program_log, &place) < 0)
                return CODE_FAILED;
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
                        table_text(TABLE_PLAIN, "What was recorded before is shared, too; --from of join leaves it out.");
                table_text(TABLE_PLAIN, "At most once a day, on external power. joulecast community preview shows what is sent"
                           " next, to the "
                                        "byte; status, what was; leave ends it, and forget has all removed.");
        }
        member_clear(&member);
        return err ? CODE_FAILED : CODE_OK;
}

int leave_run(struct session *session)
{
        struct member member = { .where = NULL };
        int err = member_read(session->state, NULL, &member);

        if (err == -ENOENT) {
                log_error(&program_log, "nothing is shared, so there is nothing to leave");
                return CODE_NO_DATA;
        }
        if (unlink(session->state) < 0) { /* also a damaged one */
                log_error(&program_log, "%s cannot be removed: %s", session->state, strerror(errno));
                member_clear(&member);
                return CODE_FAILED;
        }
        place_drop_report(session->state);
        printf("%s\n", _("Nothing is shared from now on, and the id is gone."));
        if (member.where && member.sent_samples > 0)
                table_text(TABLE_PLAIN, "The %lld samples that were sent stay at %s; without the id nobody can have them"
                           " removed.",
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
                table_text(TABLE_PLAIN, "Who loaded them into a database finds a request to forget them there; joulecast"
                           " community status "
                                        "tells when that was done.");
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
                place_drop_report(session->state);
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
