/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* joulecast: runs a command here, or the program that has it. */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "live.h"
#include "options.h"
#include "program.h"
#include "util/match.h"
#include "util/offer.h"
#include "util/paths.h"
#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

/* A command is a function of this program, or another program of ours: in FOLDER of the build. */
struct entry {
        const char *name, *help, *example; /* a NULL name: @help is a heading */
        int (*main)(int argc, char **argv);
        const char *program, *folder;
        const char *argument; /* its first one, before the user's */
};

static const struct entry entries[] = {
        { NULL, N_("Everyday:") },
        { "status", N_("charge, time left, and the dearest apps; also without a command"),
          "joulecast", status_main },
        { "cost", N_("what each app cost the battery"), "joulecast cost --since full", cost_main },
        { "predict", N_("what so many minutes of an app will cost"),
          "joulecast predict firefox --minutes 30", predict_main },
        { "budget", N_("how long an app can run and leave enough for later"),
          "joulecast budget firefox --reserve phone=10m",
          budget_main },
        { "whatif", N_("how much longer the battery lasts with a change"),
          "joulecast whatif --brightness 40%", whatif_main },
        { "advise", N_("which few changes gain most now, and how to make them"),
          "joulecast advise --until 18:00", advise_main },
        { "top", N_("what draws power now, by app, live"), "joulecast top", NULL, "joulecast-live",
          "predict", "top" },
        { "report", N_("one page with all of this, in pictures and tables"),
          "joulecast report -o battery.html", report_main },
        { "limit", N_("less CPU time for apps in the background, or none"),
          "joulecast limit firefox --cpu 10%", limit_main },
        { "usage", N_("what was recorded: CPU time, bytes and more by app"),
          "joulecast usage --from 14:00", usage_main },
        { "apps", N_("which apps were seen"), "joulecast apps --from yesterday", apps_main },
        { "forget", N_("delete what was recorded: an app, a time, or all"),
          "joulecast forget --app firefox", forget_main },

        { NULL, N_("Set up:") },
        { "doctor", N_("what this machine offers, and what is missing and why"),
          "joulecast doctor", NULL, "joulecast-live", "predict", "doctor" },
        { "calibrate", N_("learn this device's power model, overnight"),
          "sudo joulecast calibrate --schedule 01:30", NULL,
          "joulecast-calibrate", "calibrate" },
        { "learn", N_("correct that model by what everyday use shows"),
          "joulecast learn --dry-run", NULL, "joulecast-fit",
          "calibrate", "--learn" },
        { "profile", N_("list, show, use, undo or reset the power model"),
          "joulecast profile use class-laptop", profile_main },
        { "community", N_("compare with other devices: is it the app, or this device?"),
          "joulecast community preview", NULL,
          "joulecast-share", "community" },

        { NULL, N_("For developers:") },
        { "record", N_("where in a program its energy goes, by call stack"),
          "joulecast record -o new -- ./app", NULL,
          "joulecast-record", "develop" },
        { "diff", N_("why a program needs more energy than another, by task"),
          "joulecast diff old new", NULL, "joulecast-develop", "develop", "diff" },
        { "emulate", N_("what an app would cost on a device that is not here"),
          "joulecast emulate --target nexus-one -- ./app", NULL,
          "joulecast-develop", "develop", "emulate" },
        { "compare", N_("runs of joulecast emulate beside each other"),
          "joulecast compare old new", NULL, "joulecast-develop", "develop", "compare" },
        { "bench", N_("how fast this CPU is, to emulate it elsewhere"), "joulecast bench", NULL,
          "joulecast-develop", "develop", "bench" },
        { "price-packets", N_("energy of a radio for a sequence of packets"),
          "joulecast price-packets --radio lte --until 60 mail.csv", NULL,
          "joulecast-develop", "develop", "price-packets" },
        { "simulate", N_("play a scenario on a virtual device"),
          "joulecast --device virtual:laptop simulate --scenario office", simulate_main },
        { "fit", N_("make a profile from recorded observations, or a measured trace"),
          "joulecast fit --help", NULL, "joulecast-fit", "calibrate" },
        { "replay", N_("how accurate a profile is on a measured trace"),
          "joulecast replay --trace laptop.csv --profile laptop.ini", replay_main },

        { NULL, N_("For scripts and services:") },
        { "poll", N_("record what each app uses (the background service)"),
          "joulecast poll --interval 30", NULL, "joulecastd",
          "poller" },
        { "focus", N_("report to that service which app has the screen"),
          "joulecast focus", NULL, "joulecast-focus",
          "poller/focus" },
        { "trace", N_("power by component and app, every second"), "joulecast trace --json", NULL,
          "joulecast-live", "predict", "trace" },
        { "metrics", N_("for Prometheus: charge, time left, energy by app"),
          "joulecast metrics --output joulecast.prom",
          metrics_main },
        { "warn", N_("what will soon go wrong; joulecast-focus shows it"), "joulecast warn", warn_main },
};

const struct live live = { NULL };

static void print_help(void)
{
        printf("%sjoulecast [--device virtual:NAME] [COMMAND] [OPTIONS]\n\n", _("Usage: "));
        text_print(stdout, _("What an app costs the battery of this device, and how long it can run and leave enough "
                             "for what you need later. Without a command: joulecast status."));
        for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
                if (!entries[i].name) {
                        printf("\n%s\n", _(entries[i].help));
                        continue;
                }
                printf("  %-15s", entries[i].name);
                text_wrap(stdout, _(entries[i].help), 17, 17, TEXT_COLUMNS);
                printf("\n                 $ %s\n", entries[i].example);
        }
        putchar('\n');
        text_print(stdout, _("See joulecast COMMAND --help for each command; begin with joulecast doctor. To try a "
                             "virtual device in place of this one: joulecast --device virtual:laptop COMMAND, or, for "
                             "all that follows, the environment variable JOULECAST_DEVICE=virtual:laptop. Commands "
                             "that need this machine say so."));
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
                if (entries[i].name)
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
        return program_become(entry->name, entry->folder, entry->program, entry->argument, argv);
}

static const struct entry *find_entry(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
                if (entries[i].name && strcmp(entries[i].name, name) == 0)
                        return &entries[i];
        return NULL;
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
                log_error(&program_log, "joulecast doctor says what this machine offers; joulecast --help "
                                        "lists all commands");
        return code;
}

static int unknown_command(const char *name)
{
        struct match_near near = { .asked = name };
        char word[64];

        for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
                if (entries[i].name)
                        match_near_add(&near, entries[i].name, entries[i].name);
        util_printable(name, word, sizeof(word));
        if (near.found)
                log_error(&program_log, "unknown command %s; did you mean %s? See joulecast --help", word, near.found);
        else
                log_error(&program_log, "unknown command %s; see joulecast --help", word);
        return CODE_USAGE;
}

static int run_entry(const struct entry *entry, int argc, char **argv)
{
        return entry->main ? entry->main(argc, argv) : run_program(entry, argv);
}

/*
 * "--device virtual:NAME" or "--device=..." before a command is for that command, as in the environment.
 * Arguments taken.
 */
static int take_device_first(int argc, char **argv)
{
        static const char option[] = "--device";
        const char *device = NULL;
        int taken = 0;

        if (argc > 3 && strcmp(argv[1], option) == 0) {
                device = argv[2];
                taken = 2;
        } else if (argc > 2 && strncmp(argv[1], "--device=", sizeof(option)) == 0) {
                device = argv[1] + sizeof(option);
                taken = 1;
        }
        if (!device || argv[1 + taken][0] == '-' || setenv(OPTION_DEVICE_VARIABLE, device, 1) < 0)
                return 0;
        return taken;
}

int main(int argc, char **argv)
{
        static char help_option[] = "--help";
        const struct entry *entry;
        int taken;

        util_hold_standard_fds();
        util_end_on_shorter_files();
        words_start();
        if (argc < 2)
                return finish(status_alone());
        taken = take_device_first(argc, argv);
        argc -= taken;
        argv += taken;
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
        entry = find_entry(argv[1]);
        return entry ? finish(run_entry(entry, argc - 1, argv + 1)) : unknown_command(argv[1]);
}
