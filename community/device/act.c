/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast community act N`: does what a finding of the last report suggests, after asking. */

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "answer/program.h"
#include "answer/user-apps.h"
#include "gains.h"
#include "session.h"
#include "source/sample.h"
#include "util/agree.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"
#include "versions.h"

struct act_how;

struct act {
        struct session *session;
        struct shown shown;
        const struct act_how *how;
        struct program_words words;
};

/* Each fills in the command's words. Returns an exit code, and prints why it fails. */
static int find_close(struct act *act);
static int find_limit(struct act *act);
static int find_update(struct act *act);

#define KIND(kind) (1u << (kind))

/* The ways to act on a finding. `act N` takes the first one that fits. */
static const struct act_how {
        const char *name;
        unsigned kinds; /* a bit for each kind of finding */
        enum watch_act act;
        const char *folder; /* for program_run() */
        int (*find)(struct act *act);
} hows[] = {
        { N_("close"), KIND(FINDING_CLOSE) | KIND(FINDING_RESTART), WATCH_CLOSED, NULL, find_close },
        { N_("limit"), KIND(FINDING_CLOSE), WATCH_LIMITED, "predict", find_limit },
        { N_("update"), KIND(FINDING_UPDATE), WATCH_UPDATED, NULL, find_update },
};

static int does_not_run(const struct act *act)
{
        char app[80];

        log_error(&program_log, "%s does not run as this user now, or is part of the desktop or of this terminal",
                  util_printable(act->shown.app, app, sizeof(app)));
        return CODE_FAILED;
}

static int unread(int err)
{
        log_error(&program_log, "what runs here cannot be read: %s", util_reason(err));
        return CODE_FAILED;
}

static int find_close(struct act *act)
{
        struct user_apps *apps = NULL;
        char app[80];
        int err = user_apps_read(&apps);

        if (!err)
                err = user_apps_close(apps, act->shown.app, &act->words);
        user_apps_freep(&apps);
        if (err)
                return err == -ENOENT ? does_not_run(act) : unread(err);
        if (act->words.n == 0)
                log_error(&program_log, "%s has too many processes to be closed from here; close it in its window",
                          util_printable(act->shown.app, app, sizeof(app)));
        return act->words.n == 0 ? CODE_FAILED : CODE_OK;
}

static int find_limit(struct act *act)
{
        const char *const words[] = { "joulecast", "limit", "--", act->shown.app, NULL };
        struct user_apps *apps = NULL;
        int err = user_apps_read(&apps);
        bool runs = !err && user_apps_has(apps, act->shown.app);

        user_apps_freep(&apps);
        if (err)
                return unread(err);
        if (!runs)
                return does_not_run(act);
        return program_words_add_all(&act->words, words) < 0 ? CODE_FAILED : CODE_OK;
}

static int find_update(struct act *act)
{
        char package[APP_ID_MAX], called[PATH_MAX], app[80];
        int source = versions_source_of(act->session->root_fd, act->shown.app, package);
        const char *const words[] = { called, "update", source == VERSION_FLATPAK ? act->shown.app : package,
                                      NULL };

        if (source < 0)
                return unread(source);
        if (source != VERSION_UNKNOWN && *words[2] != '-' &&
            program_find(source == VERSION_FLATPAK ? "flatpak" : "pkcon", called, sizeof(called)))
                return program_words_add_all(&act->words, words) < 0 ? CODE_FAILED : CODE_OK;
        log_error(&program_log, "nothing here updates %s without root (flatpak, pkcon); whoever installs programs on "
                                "this device can do it",
                  util_printable(act->shown.app, app, sizeof(app)));
        return CODE_FAILED;
}

static int find_shown(struct act *act, const char *number)
{
        struct member member;
        int64_t n;
        int code = session_read_member(act->session, &member);

        if (code != CODE_OK)
                return code;
        if (member.n_shown == 0)
                log_error(&program_log, "there is no finding to act on; joulecast community report shows and numbers "
                                        "them");
        else if (util_parse_i64(number, &n) < 0 || n < 1 || n > (int64_t)member.n_shown)
                log_error(&program_log, "give the number of a finding of the last report, 1 to %zu; joulecast community"
                                        " report shows them",
                          member.n_shown);
        else
                act->shown = member.shown[n - 1];
        code = *act->shown.app ? CODE_OK : member.n_shown == 0 ? CODE_NO_DATA : CODE_USAGE;
        member_clear(&member);
        return code;
}

static int find_how(struct act *act, const char *name)
{
        char printable[64], app[80];

        for (size_t i = 0; i < ARRAY_SIZE(hows) && !act->how; i++)
                if ((!name || strcmp(name, hows[i].name) == 0) && (hows[i].kinds & KIND(act->shown.kind)))
                        act->how = &hows[i];
        if (act->how)
                return CODE_OK;
        util_printable(act->shown.app, app, sizeof(app));
        if (name)
                log_error(&program_log, "\"%s\" does not go with this finding, which is to %s %s (close, limit,"
                                        " update)",
                          util_printable(name, printable, sizeof(printable)), shown_deeds[act->shown.kind], app);
        else
                log_error(&program_log, "joulecast cannot change the %s of this device, with which %s costs more",
                          util_printable(act->shown.value, printable, sizeof(printable)), app);
        return name ? CODE_USAGE : CODE_FAILED;
}

static int ask(const struct act *act)
{
        _cleanup_free_ char *line = program_words_line(&act->words);
        char app[80], printable[512], question[768];

        if (!line)
                return CODE_FAILED;
        snprintf(question, sizeof(question), _("To %s %s, run \"%s\"?"), _(act->how->name),
                 util_printable(act->shown.app, app, sizeof(app)), util_printable(line, printable, sizeof(printable)));
        if (agree_ask(stdout, question))
                return CODE_OK;
        table_text(TABLE_PLAIN, "Nothing was done.");
        return CODE_FAILED;
}

/* Meanwhile other processes may have got the pids in the command that the user saw. */
static int check_again(struct act *act)
{
        struct program_words asked = act->words;
        int code;

        act->words = (struct program_words){ .n = 0 };
        code = act->how->find(act);
        if (code == CODE_OK && !program_words_equal(&asked, &act->words)) {
                log_error(&program_log, "the running programs have changed meanwhile, so nothing was done; try again");
                code = CODE_FAILED;
        }
        program_words_clear(&asked);
        return code;
}

static int run(const struct act *act)
{
        int ended = program_run(act->how->folder, &act->words);

        if (ended == 0)
                return CODE_OK;
        log_error(&program_log, "%s failed (%d), so the finding was not followed", act->words.list[0], ended);
        return CODE_FAILED;
}

/* Reads the member again, since the timer may have written it while the user thought. */
static int follow(const struct act *act)
{
        _cleanup_(member_clear) struct member member = { .where = NULL };
        int code = session_read_member(act->session, &member);

        if (code == CODE_OK)
                code = gains_act(act->session, &member, &act->shown, act->how->act);
        if (code == CODE_OK && member_write(act->session->state, &member, &program_log) < 0)
                code = CODE_FAILED;
        if (code == CODE_OK)
                table_text(TABLE_PLAIN, "Done. The next reports tell what this battery says of it.");
        return code;
}

/* `act` is for this machine alone, and needs a terminal to ask on. */
static int check_place(const struct session *session)
{
        if (session->options.yes) {
                log_error(&program_log, "act asks each time; leave out --yes");
                return CODE_USAGE;
        }
        if (session->options.device || session->options.machine) {
                log_error(&program_log, "act is for this device alone; leave out --device and --machine");
                return CODE_USAGE;
        }
        if (!isatty(STDIN_FILENO)) {
                log_error(&program_log, "act asks each time, and there is no terminal to ask on");
                return CODE_FAILED;
        }
        return CODE_OK;
}

int act_check_user(void)
{
        if (getuid() != 0 && geteuid() != 0)
                return CODE_OK;
        log_error(&program_log, "act does nothing as root; run it as the user whose apps they are");
        return CODE_FAILED;
}

int act_run(struct session *session, const char *number, const char *name)
{
        struct act act = { .session = session };
        int code = check_place(session);

        if (code == CODE_OK)
                code = find_shown(&act, number);
        if (code == CODE_OK)
                code = find_how(&act, name);
        if (code == CODE_OK)
                code = act.how->find(&act);
        if (code == CODE_OK)
                code = ask(&act);
        if (code == CODE_OK)
                code = check_again(&act);
        if (code == CODE_OK)
                code = run(&act);
        if (code == CODE_OK)
                code = follow(&act);
        program_words_clear(&act.words);
        return code;
}
