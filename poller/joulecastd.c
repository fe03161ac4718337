/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* joulecastd: periodically reads the totals of all apps and stores the differences. */

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answering.h"
#include "focus/focus.h"
#include "held/held.h"
#include "location.h"
#include "machine/machine.h"
#include "poller.h"
#include "rights.h"
#include "session.h"
#include "util/options.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

static const struct log program_log = { log_to_stderr, (void *)"joulecastd" };

struct options {
        double interval_s; /* 0: as configured */
        uint64_t count;
        const char *collector;
        const char *database;
        const char *machine;
        const char *focus_socket;
        const char *config;
        const char *socket;
        const char *profile;
        bool bus;
        bool manual;
};

/*
 * Sixteen agents, as many questions at once, and the most expensive collector have about a hundred
 * descriptors open.
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
                  "the limit of open files is %llu, but %d are needed; raise LimitNOFILE= of the service, or ulimit -n",
                  (unsigned long long)limit.rlim_cur, DESCRIPTORS_NEEDED);
        return -EMFILE;
}

/* A machine tree has no BPF and no netlink. */
static const struct collector *collectors_of(const struct options *options)
{
        return options->machine ? plain_collectors : all_collectors;
}

/* Collectors that continue after privileges are given up. */
static const struct collector *lasting_collectors(const struct options *options)
{
        const struct collector *collectors = collectors_of(options);

        if (strncmp(collectors->name, "bpf", 3) != 0 || rights_bpf_stays())
                return collectors;
        log_warning(&program_log, "processes are read without BPF: on this kernel (older than Linux 5.19) BPF needs "
                                  "rights that the service gives up before it reads what users write");
        while (strncmp(collectors->name, "bpf", 3) == 0)
                collectors++;
        return collectors;
}

static void give_up_rights(void)
{
        int err = rights_give_up();

        if (err < 0) {
                log_error(&program_log, "cannot give up rights that are no longer needed: %s", strerror(-err));
                exit(CODE_FAILED);
        }
}

static bool is_collector(const struct options *options)
{
        const struct collector *collector = collectors_of(options);

        while (collector->name && strcmp(collector->name, options->collector) != 0)
                collector++;
        return collector->name || strcmp(options->collector, "auto") == 0;
}

static void print_after_options(FILE *file)
{
        fprintf(file, "\n%s\n", _("Collectors, the first that works is taken:"));
        for (const struct collector *collector = all_collectors; collector->name; collector++)
                fprintf(file, "  %-9s %s\n", collector->name, _(collector->what));
        fprintf(file, "\n%s\n", _("joulecast.conf, with its defaults:"));
        config_print_help(file);
}

/* Does it write the machine's database for all users, as the service manager or root started it? */
static bool is_service(const struct options *options)
{
        return !options->database && options->count == 0 && paths_is_systems(PATHS_SERVICE_SOCKET);
}

/* Returns -1 to continue, or the exit code. */
static int parse_options(int argc, char **argv, struct options *options)
{
        const struct option_row rows[] = {
                { "interval", "S", N_("seconds between two polls"), .number = &options->interval_s, .low = 0.1,
                  .high = 86400, .unit = "s", .usual = N_("as configured") },
                { "count", "N", N_("poll N times in the foreground, print a summary, and exit"),
                  .count = &options->count, .low = 1 },
                { "collector", "NAME", N_("how to read processes (see below)"), .text = &options->collector },
                { "database", "FILE", N_("where to store what apps use; one process at a time writes to it"),
                  .text = &options->database },
                { "config", "FILE", N_("joulecast.conf (see below)"), .text = &options->config },
                { "machine", "DIR", N_("read DIR/sys and DIR/proc instead of this machine's; needs --database"),
                  .text = &options->machine },
                { "focus-socket", "PATH", N_("the socket to which each session's joulecast-focus connects"),
                  .text = &options->focus_socket },
                { "socket", "PATH", N_("answer users' questions at this socket; the service of root does so at the "
                                       "default"),
                  .usual = PATHS_SERVICE_SOCKET, .text = &options->socket },
                { "profile", "FILE", N_("the power model for these answers"), .usual = N_("the machine's"),
                  .text = &options->profile },
                { "bus", NULL, N_("answer questions on the system's D-Bus, too; the service does so anyway"),
                  .flag = &options->bus },
                { "config-manual", .hidden = true, .flag = &options->manual },
        };
        const struct option_table table = {
                .program = "joulecastd",
                .called = "joulecast poll",
                .usage = "joulecast poll [OPTION]...   (as the service: joulecastd)",
                .about = N_("Records what each app of this machine uses, for joulecast cost, predict and\n"
                         "budget. Root sees all processes, other users their own."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .print_after = print_after_options,
        };
        int code = options_read(&table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        if (options->manual) {
                config_print_manual(stdout);
                return log_flush_stdout(&program_log) < 0 ? CODE_FAILED : CODE_OK;
        }
        if (options->machine && !options->database) {
                log_error(&program_log, "--machine needs a --database: numbers of another machine do not belong in "
                                        "this one's");
                return CODE_USAGE;
        }
        if (options->bus && !options->socket && !is_service(options)) {
                log_error(&program_log, "--bus needs a --socket, where answers are made");
                return CODE_USAGE;
        }
        if (options->collector && !is_collector(options)) {
                char printable[64];

                log_error(&program_log, "--collector: there is no \"%s\"; see joulecast poll --help",
                          util_printable(options->collector, printable, sizeof(printable)));
                return CODE_USAGE;
        }
        return -1;
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
                log_error(&program_log, "there is no home folder for the database; use --database");
                return err;
        }
        umask(0077); /* usage data is private */
        poller->own_database = options->database ? NULL : *path;
        poller->patient = !options->database && options->count == 0;
        return poller_open_store(poller, *path);
}

/* With --count or --machine there is no socket by default, as the agents belong to the service. */
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
                .collectors = lasting_collectors(options),
                .collector = strcmp(collector, "auto") == 0 ? NULL : collector,
                .foreground = config->foreground,
                .backlight = config->backlight,
                .counters = config_uses_counters(config) ? COUNTERS_YES : COUNTERS_NO,
                .focus_socket = focus_socket(options, &socket) == 0 ? socket : NULL,
                .everyone = is_service(options),
                .opened = give_up_rights,
                .log = &program_log,
        };

        return machine_open(&machine, &poller->sources);
}

/* Without a session manager, locks and suspends are unknown, and every user's agent is accepted. */
static int add_session(const struct options *options, struct sources *sources)
{
        struct source *session = NULL;

        for (size_t i = 0; !options->machine && i < sources->n; i++)
                if (focus_is(sources->list[i]) && session_open(sources->list[i], &program_log, &session) == 0)
                        return sources_add(sources, session);
        return 0;
}

/* If memory is missing, the next change reports the state again. */
static void heard_sound(void *held, const pid_t *pids, size_t n, size_t others)
{
        (void)held_set_players(held, pids, n, others);
}

/* Without the file, or if it cannot be written, the rate is unknown. */
static void heard_refresh(void *data, uint32_t mhz)
{
        uint32_t *last = data;
        char text[16];
        int length = snprintf(text, sizeof(text), "%u\n", (unsigned)mhz);

        if (mhz == *last)
                return;
        *last = mhz;
        if (!mhz || util_write_file(PATHS_REFRESH_RATE, text, (size_t)length, 0644) < 0)
                (void)unlink(PATHS_REFRESH_RATE);
}

/* The file is in the service's folder in /run, which is removed with the service. */
static void connect_refresh(const struct options *options, const struct sources *sources, uint32_t *last)
{
        if (!is_service(options))
                return;
        (void)unlink(PATHS_REFRESH_RATE); /* left by a service that was killed */
        for (size_t i = 0; i < sources->n; i++)
                if (focus_is(sources->list[i]))
                        focus_set_refresh(sources->list[i], heard_refresh, last);
}

/* Passes the agents' reports of their sessions' sound to the source of sound. */
static void connect_sound(const struct sources *sources)
{
        for (size_t i = 0; i < sources->n; i++)
                for (size_t j = 0; focus_is(sources->list[i]) && j < sources->n; j++)
                        if (held_is(sources->list[j]))
                                focus_set_sound(sources->list[i], heard_sound, sources->list[j]);
}

/* Without a bus the users of the GPS are unknown. */
static int add_location(const struct options *options, struct sources *sources)
{
        struct source *location = NULL;

        for (size_t i = 0; !options->machine && i < sources->n; i++)
                if (held_is(sources->list[i]) && location_open(sources->list[i], &location) == 0)
                        return sources_add(sources, location);
        return 0;
}

/*
 * The system service always has a socket for questions; an error of its default socket does not stop
 * recording.
 */
static int open_answers(const struct options *options, const struct question_source *source,
                        double interval_s, struct poller *poller)
{
        uint64_t share_ns = (uint64_t)(interval_s / 2 * 1e9);
        int err;

        if (!options->socket && !is_service(options))
                return 0;
        err = answers_open(options->socket ? options->socket : PATHS_SERVICE_SOCKET, source, share_ns, &program_log,
                           &poller->answers);
        if (err == 0 && (options->bus || is_service(options)))
                err = dbus_open(poller->answers, source, &program_log, &poller->dbus);
        if (err == -ENOSYS)
                err = options->bus ? (log_error(&program_log, "--bus: joulecast was built without D-Bus"), err) : 0;
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
                         "watching your own processes every %s s, into %s; run as root to watch all", line,
                         path);
}

static void print_summary(const struct poller *poller, const char *path)
{
        words_start();
        printf(words_counted("%llu poll, %.1f s recorded, %zu processes at the last one; in %s",
                             "%llu polls, %.1f s recorded, %zu processes at the last one; in %s", poller->polls),
               (unsigned long long)poller->polls, (double)poller->elapsed_ns / 1e9, poller->n_processes, path);
        putchar('\n');
}

static int look(void *data, uint64_t after, struct question_live *ret)
{
        struct poller *poller = data;
        int err = poller_look(poller);

        if (err)
                return err;
        ret->list = live_after(&poller->live, after, &ret->n);
        ret->number = poller->live.number;
        return 0;
}

static int forget(void *data, const struct store_forget *what, struct store_forgotten *ret)
{
        struct poller *poller = data;

        return poller->store && !poller->waiting ? store_forget(poller->store, what, ret) : -EBUSY;
}

DEFINE_CLEANUP(struct answering_kept, answering_kept_free)

static int run(const struct options *options, const struct config *config)
{
        _cleanup_(answering_kept_freep) struct answering_kept *kept = NULL;
        _cleanup_(poller_close) struct poller poller =
                { .retention = { (uint32_t)config->raw_hours, (uint32_t)config->hour_days,
                                                                        (uint32_t)config->day_days },
                                                         .sync_ns = (uint64_t)(config->sync_s * 1e9),
                                                         .log = &program_log };
        double interval_s = options->interval_s > 0 ? options->interval_s : config->interval_s;
        _cleanup_free_ char *path = NULL;
        uint32_t refresh_mhz = 0;
        struct question_source source = { .profile = options->profile, .machine = options->machine,
                                          .live = !options->database, .sources = &poller.sources, .look = look,
                                          .look_data = &poller, .forget = forget };
        int err = open_machine(options, config, &poller);

        if (err)
                return err;
        connect_sound(&poller.sources);
        connect_refresh(options, &poller.sources, &refresh_mhz);
        err = add_session(options, &poller.sources);
        if (!err)
                err = add_location(options, &poller.sources);
        if (!err)
                err = open_database(options, &poller, &path);
        if (!err)
                err = interval_maker_new(&poller.maker);
        if (err)
                return err;
        source.database = path;
        err = answering_kept_new(&kept);
        source.kept = kept;
        if (!err)
                err = open_answers(options, &source, interval_s, &poller);
        if (err)
                return err;
        say_what_is_watched(options, &poller.sources, interval_s, path);
        err = poller_run(&poller, interval_s, options->count);
        if (!err && options->count > 0)
                print_summary(&poller, path);
        if (!err)
                err = log_flush_stdout(&program_log);
        return err ? err : poller.failed;
}

int main(int argc, char **argv)
{
        _cleanup_(config_clear) struct config config = { 0 };
        struct options options = { 0 };
        int err;

        util_hold_standard_fds();
        util_end_on_shorter_files();
        words_start();
        err = parse_options(argc, argv, &options);
        if (err >= 0)
                return err;
        words_stop(); /* the log and answers are in English */
        setlocale(LC_CTYPE, "C"); /* words_start() took UTF-8, whose tables would stay in memory */
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
