/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * joulecastd: every so often it looks at what all processes have used, and
 * stores the differences of those that did something.
 */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "focus/focus.h"
#include "machine/machine.h"
#include "poller.h"
#include "rights.h"
#include "session.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

enum { CODE_OK = 0, CODE_FAILED = 1, CODE_USAGE = 2 };

static const struct log program_log = { log_to_stderr, (void *)"joulecastd" };

struct options {
        double interval_s; /* 0: not said */
        uint64_t count;
        const char *collector;
        const char *database;
        const char *machine;
        const char *focus_socket;
        const char *config;
        const char *socket;
        const char *profile;
};

static const char help[] =
        "Usage: joulecast poll [OPTION]...   (as the service: joulecastd)\n"
        "\n"
        "Records what each app of this machine uses, for `joulecast cost`, `predict` and\n"
        "`budget`. As root it sees all processes, else your own.\n"
        "\n"
        "  --interval S      seconds between two polls, 0.1 and up; decimals are fine\n"
        "  --count N         poll N times in the foreground, say what was seen, and exit\n"
        "  --collector NAME  how to read processes:\n";

static void print_help(void)
{
        fputs(help, stdout);
        for (const struct collector *collector = all_collectors; collector->name; collector++)
                printf("%20s%-8s %s\n", "", collector->name, collector->what);
        fputs("  --database FILE   where to store; one process at a time writes to it\n"
              "  --config FILE     joulecast.conf (see below)\n"
              "  --machine DIR     read DIR/sys and DIR/proc instead of this machine's; needs\n"
              "                    --database\n"
              "  --focus-socket PATH\n"
              "                    where each session's joulecast-focus connects\n"
              "  --socket PATH     answer users' questions there; the service of root does at\n"
              "                    " PATHS_SERVICE_SOCKET "\n"
              "  --profile FILE    the power model to answer them by; default: the machine's\n"
              "  --help, --version\n"
              "\n"
              "Exit: 0 done; 1 it failed; 2 wrong usage.\n"
              "\n"
              "joulecast.conf, with its defaults:\n", stdout);
        config_print_help(stdout);
}

/*
 * Sixteen agents and as many questions at once hold, with the dearest collector, about a hundred open. More than
 * the most is of use to `kept` alone, which takes all that it can get.
 */
#define DESCRIPTORS_NEEDED 128
#define DESCRIPTORS_MOST 65536

static int take_descriptors(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return -errno;
        if (limit.rlim_cur < MIN(limit.rlim_max, (rlim_t)DESCRIPTORS_MOST)) {
                limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)DESCRIPTORS_MOST);
                if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
                        return -errno;
        }
        if (limit.rlim_cur >= DESCRIPTORS_NEEDED)
                return 0;
        log_error(&program_log,
                  "it may have %llu files open at once and needs %d; raise LimitNOFILE= of the service, or ulimit -n",
                  (unsigned long long)limit.rlim_cur, DESCRIPTORS_NEEDED);
        return -EMFILE;
}

/* Tells what is wrong with the command line; always -EINVAL. */
#define usage_error(...) (log_error(&program_log, __VA_ARGS__), -EINVAL)

static int parse_option(int option, const char *value, struct options *options)
{
        switch (option) {
        case 'i':
                if (util_parse_double(value, &options->interval_s) < 0 || options->interval_s < 0.1 ||
                    options->interval_s > 86400)
                        return usage_error("--interval %s is not between 0.1 and 86400 seconds", value);
                return 0;
        case 'n':
                if (util_parse_u64(value, &options->count) < 0 || options->count == 0)
                        return usage_error("--count %s is not a number of polls, 1 and up", value);
                return 0;
        case 'c':
                options->collector = value;
                return 0;
        case 'd':
                options->database = value;
                return 0;
        case 'm':
                options->machine = value;
                return 0;
        case 's':
                options->focus_socket = value;
                return 0;
        case 'f':
                options->config = value;
                return 0;
        case 'a':
                options->socket = value;
                return 0;
        case 'p':
                options->profile = value;
                return 0;
        default:
                return usage_error("wrong usage; see joulecast poll --help");
        }
}

/* A tree has no kernel. */
static const struct collector *collectors_of(const struct options *options)
{
        return options->machine ? plain_collectors : all_collectors;
}

static bool is_collector(const struct options *options)
{
        const struct collector *collector = collectors_of(options);

        while (collector->name && strcmp(collector->name, options->collector) != 0)
                collector++;
        return collector->name || strcmp(options->collector, "auto") == 0;
}

/* 0; 1: there is nothing more to do; -EINVAL. */
static int parse_options(int argc, char **argv, struct options *options)
{
        static const struct option known[] = {
                { "interval", required_argument, NULL, 'i' }, { "count", required_argument, NULL, 'n' },
                { "collector", required_argument, NULL, 'c' }, { "database", required_argument, NULL, 'd' },
                { "machine", required_argument, NULL, 'm' },  { "config", required_argument, NULL, 'f' },
                { "focus-socket", required_argument, NULL, 's' },
                { "socket", required_argument, NULL, 'a' },   { "profile", required_argument, NULL, 'p' },
                { "help", no_argument, NULL, 'h' },           { "version", no_argument, NULL, 'v' },
                { "config-manual", no_argument, NULL, 'M' },  { 0 },
        };
        int option, err = 0;

        opterr = 0;
        while (!err && (option = getopt_long(argc, argv, ":", known, NULL)) >= 0) {
                switch (option) {
                case 'h':
                        print_help();
                        return 1;
                case 'v':
                        puts("joulecastd " JOULECAST_VERSION);
                        return 1;
                case 'M':
                        config_print_manual(stdout);
                        return 1;
                case ':':
                        return usage_error("%s needs a value", argv[optind - 1]);
                case '?':
                        return usage_error("there is no option %s; see joulecast poll --help",
                                           argv[optind - 1]);
                default:
                        err = parse_option(option, optarg, options);
                }
        }
        if (!err && options->machine && !options->database)
                return usage_error(
                        "--machine needs a --database of its own: another machine's numbers are not ours");
        if (!err && optind < argc)
                return usage_error("\"%s\" is not an option; see joulecast poll --help", argv[optind]);
        if (!err && options->collector && !is_collector(options))
                return usage_error("there is no collector \"%s\"; `joulecast doctor` lists them",
                                   options->collector);
        return err;
}

static int load_config(const struct options *options, struct config *config)
{
        _cleanup_free_ char *path = NULL;
        int err;

        if (options->config && access(options->config, R_OK) < 0) {
                err = -errno;
                log_error(&program_log, "cannot read %s: %s", options->config, strerror(-err));
                return err;
        }
        if (!options->config && paths_config(&path) < 0)
                path = NULL;
        return config_load(options->config ? options->config : path, &program_log, config);
}

static int open_database(const struct options *options, struct poller *poller, char **path)
{
        int err = options->database ? (*path = strdup(options->database)) ? 0 : -ENOMEM
                                    : paths_usage(NULL, true, path);

        if (err) {
                log_error(&program_log, "there is no home for a database; name one with --database");
                return err;
        }
        umask(0077); /* who used what is nobody else's business */
        poller->own_database = options->database ? NULL : *path;
        return poller_open_store(poller, *path);
}

/*
 * A trial of a few polls, and a tree, listen to nobody unless told to:
 * the service's agents are the service's.
 */
static int focus_socket(const struct options *options, char **ret)
{
        if (options->focus_socket) {
                *ret = strdup(options->focus_socket);
                return *ret ? 0 : -ENOMEM;
        }
        return options->count || options->machine ? -ENOENT : paths_focus_socket(ret);
}

static int open_machine(const struct options *options, const struct config *config, struct poller *poller)
{
        _cleanup_free_ char *socket = NULL;
        const char *collector = options->collector ? options->collector : config->collector;
        const struct machine_options machine = {
                .root = options->machine,
                .collectors = collectors_of(options),
                .collector = strcmp(collector, "auto") == 0 ? NULL : collector,
                .foreground = config->foreground,
                .focus_socket = focus_socket(options, &socket) == 0 ? socket : NULL,
                .log = &program_log,
        };

        return machine_open(&machine, &poller->sources);
}

/* Sessions lock, sleep and take turns; where there is no manager to say so, the focus does without. */
static int add_session(const struct options *options, struct sources *sources)
{
        struct source *session = NULL;

        for (size_t i = 0; !options->machine && i < sources->n; i++)
                if (is_focus(sources->list[i]) && session_open(sources->list[i], &program_log, &session) == 0)
                        return sources_add(sources, session);
        return 0;
}

/*
 * As the machine's service by itself, else where it is told to.
 * Recording goes on where nobody can be answered.
 */
static int open_answers(const struct options *options, const struct question_source *source,
                        double interval_s, struct poller *poller)
{
        bool service = geteuid() == 0 && !options->database && options->count == 0;
        uint64_t share_ns = (uint64_t)(interval_s / 2 * 1e9);
        int err;

        if (!options->socket && !service)
                return 0;
        err = answers_open(options->socket ? options->socket : PATHS_SERVICE_SOCKET, source, share_ns, &program_log,
                           &poller->answers);
        return options->socket ? err : 0;
}

static bool sees_all(const struct sources *sources)
{
        for (size_t i = 0; i < sources->n; i++)
                if (sources->list[i]->own_only)
                        return false;
        return true;
}

static void say_what_is_watched(const struct options *options, const struct sources *sources,
                                double interval_s, const char *path)
{
        char line[16];

        snprintf(line, sizeof(line), "%g", interval_s);
        if (options->machine)
                log_info(&program_log, "watching the machine tree %s every %s s, into %s", options->machine,
                         line, path);
        else if (sees_all(sources))
                log_info(&program_log, "watching all processes every %s s, into %s", line, path);
        else
                log_info(&program_log,
                         "watching your own processes every %s s, into %s; as root it would be all", line,
                         path);
}

static void print_summary(const struct poller *poller, const char *path)
{
        printf("%llu poll%s, %.1f s recorded, %zu processes at the last one; in %s\n",
               (unsigned long long)poller->polls,
               poller->polls == 1 ? "" : "s", (double)poller->elapsed_ns / 1e9, poller->n_processes, path);
}

static int flush_answer(void)
{
        if (util_flush_stdout())
                return 0;
        log_error(&program_log, "the answer could not be written");
        return -EIO;
}

static int run(const struct options *options, const struct config *config)
{
        _cleanup_(poller_close) struct poller poller = { .retention = { (uint32_t)config->raw_hours, (uint32_t)config->hour_days,
                                                                        (uint32_t)config->day_days },
                                                         .log = &program_log };
        double interval_s = options->interval_s > 0 ? options->interval_s : config->interval_s;
        _cleanup_free_ char *path = NULL;
        struct question_source source = { .profile = options->profile, .live = !options->database,
                                          .sources = &poller.sources };
        int err = open_machine(options, config, &poller);

        if (err)
                return err;
        rights_give_up();
        err = add_session(options, &poller.sources);
        if (!err)
                err = open_database(options, &poller, &path);
        if (!err)
                err = interval_maker_new(&poller.maker);
        if (err)
                return err;
        source.database = path;
        err = open_answers(options, &source, interval_s, &poller);
        if (err)
                return err;
        say_what_is_watched(options, &poller.sources, interval_s, path);
        err = poller_run(&poller, interval_s, options->count);
        if (!err && options->count > 0)
                print_summary(&poller, path);
        if (!err)
                err = flush_answer();
        return err ? err : poller.failed;
}

int main(int argc, char **argv)
{
        _cleanup_(config_clear) struct config config = { 0 };
        struct options options = { 0 };
        int err;

        util_hold_standard_fds();
        err = parse_options(argc, argv, &options);
        if (err)
                return err < 0 ? CODE_USAGE : flush_answer() ? CODE_FAILED : CODE_OK;
        err = load_config(&options, &config);
        if (err)
                return CODE_FAILED;
        signal(SIGPIPE, SIG_IGN);
        err = take_descriptors();
        if (!err)
                err = run(&options, &config);
        if (err == -ENOMEM)
                log_error(&program_log, "out of memory");
        return err ? CODE_FAILED : CODE_OK;
}
