/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* joulecast: runs a command here, or the program that has it. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"
#include "program.h"
#include "util/offer.h"
#include "util/paths.h"
#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

/* A command is a function of this program, or another program of ours: in FOLDER of the build. */
struct entry {
        const char *name, *help;
        int (*main)(int argc, char **argv);
        const char *program, *folder;
        char *argument; /* its first one, before the user's */
};

static char learn_argument[] = "--learn";

static const struct entry entries[] = {
        { "status", N_("charge, time left, and what was dear; also without a command"), status_main },
        { "cost", N_("what each app cost the battery"), cost_main },
        { "predict", N_("what so many minutes of an app will cost"), predict_main },
        { "budget", N_("how long an app can run and leave enough for later"), budget_main },
        { "whatif", N_("how much longer the battery lasts with a change"), whatif_main },
        { "advise", N_("which few changes gain most now, and how to make them"), advise_main },
        { "usage", N_("what was recorded: CPU time, bytes and more by app"), usage_main },
        { "apps", N_("which apps were seen"), apps_main },
        { "forget", N_("delete what was recorded: an app, a time, or all"), forget_main },
        { "report", N_("a page of all that: pictures and tables in one file"), report_main },
        { "warn", N_("what is about to go wrong; joulecast-focus shows it"), warn_main },
        { "limit", N_("less CPU time for apps in the background, or none"), limit_main },
        { "metrics", N_("for Prometheus: charge, time left, energy by app"), metrics_main },
        { "top", N_("what draws power now, by app, live"), top_main },
        { "trace", N_("power by component and app, every second"), trace_main },
        { "price-packets", N_("energy of a radio for a sequence of packets"), price_packets_main },
        { "diff", N_("why a program needs more energy than another, by task"), diff_main },
        { "emulate", N_("what an app would cost on a device that is not here"), emulate_main },
        { "compare", N_("runs of joulecast emulate beside each other"), compare_main },
        { "bench", N_("how fast this CPU is, to emulate it elsewhere"), bench_main },
        { "doctor", N_("what this machine offers, and what is missing and why"), doctor_main },
        { "profile", N_("list, show, use, undo or reset the power model"), profile_main },
        { "simulate", N_("play a scenario on a virtual device"), simulate_main },
        { "calibrate", N_("learn this device's power model, overnight"), NULL, "joulecast-calibrate", "calibrate" },
        { "learn", N_("correct that model by what everyday use shows"), NULL, "joulecast-fit", "calibrate", learn_argument },
        { "fit", N_("make a profile from recorded observations"), NULL, "joulecast-fit", "calibrate" },
        { "community", N_("share with other devices, to learn: the app, or mine?"), NULL, "joulecast-share", "poller/community" },
        { "record", N_("where in a program its energy goes, by call stack"), NULL, "joulecast-record", "predict" },
        { "poll", N_("record what each app uses (the background service)"), NULL, "joulecastd", "poller" },
        { "focus", N_("report to that service which app has the screen"), NULL, "joulecast-focus", "poller/focus" },
};

static void print_help(void)
{
        printf("%sjoulecast [COMMAND] [OPTIONS]\n\n", _("Usage: "));
        text_print(stdout, _("What an app costs the battery of this device, how long it can run, and what that "
                             "leaves for what you need later. Without a command: joulecast status."));
        printf("\n%s\n", _("Commands:"));
        for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
                printf("  %-15s", entries[i].name);
                text_wrap(stdout, _(entries[i].help), 17, 17, TEXT_COLUMNS);
                putchar('\n');
        }
        putchar('\n');
        text_print(stdout, _("See joulecast COMMAND --help for each; begin with joulecast doctor."));
}

static int print_version(void)
{
        puts("joulecast " JOULECAST_VERSION);
        return CODE_OK;
}

/* For completion in shells, one a line. */
static int list_names(const char *what)
{
        static const struct {
                const char *what, *folder;
        } kinds[] = { { "devices", "virtual" }, { "networks", "networks" }, { "profiles", "profiles" },
                    { "scenarios", "virtual/scenarios" } };
        _cleanup_free_ char *folder = NULL, *names = NULL;

        for (size_t i = 0; strcmp(what, "commands") == 0 && i < ARRAY_SIZE(entries); i++)
                puts(entries[i].name);
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (strcmp(what, kinds[i].what) == 0 && paths_data(kinds[i].folder, &folder) == 0)
                        names = offer_list(folder);
        fputs(names ? names : "", stdout);
        return CODE_OK;
}

static bool is_help(const char *word)
{
        return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

static int run_program(const struct entry *entry, char **argv)
{
        _cleanup_free_ char *name = strdup(entry->program);

        if (!name)
                return CODE_FAILED;
        argv[0] = name;
        program_exec(entry->folder, entry->program, argv);
        log_error(&program_log, "%s: cannot run %s: %s; was it built and installed?", entry->name,
                  entry->program, strerror(errno));
        return CODE_FAILED;
}

int main_become(const char *name, char **argv)
{
        for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
                if (strcmp(entries[i].name, name) == 0 && entries[i].program)
                        return run_program(&entries[i], argv);
        return CODE_FAILED;
}

static int finish(int code)
{
        return options_finish(code, &program_log);
}

static char status_name[] = "status";

/* Whoever types `joulecast` for the first time may have no data yet. */
static int status_alone(void)
{
        int code = status_main(1, (char *[]){ status_name, NULL });

        if (code == CODE_NO_DATA)
                log_error(&program_log, "joulecast doctor says what this machine offers; joulecast --help lists all commands");
        return code;
}

int main(int argc, char **argv)
{
        static char help_option[] = "--help";
        char word[64];

        util_hold_standard_fds();
        words_start();
        if (argc < 2)
                return finish(status_alone());
        if (argc > 2 && is_help(argv[1])) { /* joulecast help COMMAND */
                argv[1] = argv[2];
                argv[2] = help_option;
        }
        if (is_help(argv[1])) {
                print_help();
                return finish(CODE_OK);
        }
        if (strcmp(argv[1], "--list") == 0)
                return finish(list_names(argc > 2 ? argv[2] : ""));
        if (strcmp(argv[1], "--version") == 0)
                return finish(print_version());
        if (argv[1][0] == '-') {
                argv[0] = status_name;
                return finish(status_main(argc, argv));
        }
        for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
                if (strcmp(argv[1], entries[i].name) != 0)
                        continue;
                if (!entries[i].main && entries[i].argument) {
                        argv[0] = argv[1]; /* so that the argument stands in place of the command's name */
                        argv[1] = entries[i].argument;
                        return finish(run_program(&entries[i], argv));
                }
                if (!entries[i].main)
                        return finish(run_program(&entries[i], argv + 1));
                return finish(entries[i].main(argc - 1, argv + 1));
        }
        log_error(&program_log, "unknown command %s; see joulecast --help",
                  util_printable(argv[1], word, sizeof(word)));
        return CODE_USAGE;
}
