/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast community`: shares samples of this device with others, if its owner wants to. */

#include <stdio.h>
#include <string.h>

#include "session.h"
#include "util/util.h"
#include "util/words.h"

static int run_action(struct session *session, const char *const words[3])
{
        static const struct {
                const char *name;
                int (*run)(struct session *session);
        } actions[] = {
                { "leave", leave_run }, { "forget", forget_run }, { "preview", preview_run }, { "send", send_run },
                { "status", status_run }, { "report", report_run },
        };
        char printable[64];
        bool acts = strcmp(words[0], "act") == 0 && words[1];
        int code = acts ? act_check_user() : CODE_OK;

        if (code == CODE_OK)
                code = session_open(session);
        if (code != CODE_OK)
                return code;
        if (acts)
                return act_run(session, words[1], words[2]);
        if (strcmp(words[0], "join") == 0 && words[1] && !words[2])
                return join_run(session, words[1]);
        if (strcmp(words[0], "profile") == 0 && !words[2])
                return profile_run(session, words[1]);
        for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
                if (strcmp(words[0], actions[i].name) == 0 && !words[1])
                        return actions[i].run(session);
        if (strcmp(words[0], "join") == 0)
                log_error(&program_log, "join: give a URL or a folder; see joulecast community --help");
        else if (strcmp(words[0], "act") == 0)
                log_error(&program_log, "act: give the number of a finding; joulecast community report shows them");
        else
                log_error(&program_log, "unknown argument \"%s\" (join, preview, send, status, report, act, "
                                        "profile, forget or leave); see joulecast community --help",
                          util_printable(words[1] ? words[1] : words[0], printable, sizeof(printable)));
        return CODE_USAGE;
}

static int run(int argc, char **argv)
{
        const char *words[3] = { NULL, NULL, NULL };
        struct session session = { .root_fd = -1, .from_ns = INT64_MIN };
        const struct option_row rows[] = {
                { "from", "T|PATH",
                  N_("with join: share what was recorded from T on; without it, all that is kept. With profile: "
                     "take the pools from this file or folder; without it, from where it joined"),
                  .text = &session.from },
                { "now", NULL, N_("with send: send even on battery, on a metered network, or less than a day after "
                                  "the last time"),
                  .flag = &session.now },
        };
        const struct option_table command = {
                .called = "joulecast community",
                .usage = "joulecast community join URL|FOLDER [--from T] | preview | send [--now] |\n"
                         "                    status [--json] | report [--json] |\n"
                         "                    act N [close|limit|update] | profile [--from PATH] |\n"
                         "                    profile preview|share|unshare | forget | leave",
                .about = N_("Shares how fast the battery drains with which apps in use, to learn from many devices "
                            "whether it is the app or this device. It is off until you join, and sends nothing but "
                            "what preview shows.\n"
                            "\n"
                            "  join    share with a server (https://...), or by files in a folder\n"
                            "  preview the next upload, to the byte\n"
                            "  send    send it now; a timer does it once a day, on external power\n"
                            "  status  with whom, what was sent, what waits, and why it is not sent now\n"
                            "  report  what all devices say about the apps that run here, and what to do\n"
                            "  act     do what a finding of that report suggests; asks, and never as root\n"
                            "  profile begin with the numbers of devices like this one; preview shows this\n"
                            "          device's own numbers, share shares them, unshare ends that\n"
                            "  forget  remove everything of this device there, and take a new random id\n"
                            "  leave   end sharing"),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .words = words, .max_words = ARRAY_SIZE(words),
        };
        int code = options_parse(&command, SHARED_ASK | SHARED_YES, argc, argv, &session.options);

        if (code >= 0)
                return code;
        if (!words[0])
                words[0] = "status";
        code = run_action(&session, words);
        session_close(&session);
        return code;
}

int main(int argc, char **argv)
{
        util_hold_standard_fds();
        util_end_on_shorter_files();
        words_start();
        return options_finish(run(argc, argv), &program_log);
}
