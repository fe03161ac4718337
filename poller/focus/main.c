/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * joulecast-focus: reports to the service which app of this session has the focus, and which apps play sound.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>

#include "agent.h"
#include "util/options.h"
#include "util/paths.h"
#include "util/util.h"

#define PROGRAM "joulecast-focus"

const struct backend_ops *const backends[] = {
        &sway_backend,
        &hyprland_backend,
        &niri_backend,
#ifdef HAVE_XCB
        &gamescope_backend,
#endif
#ifdef HAVE_SDBUS
        &kwin_backend,
        &gnome_backend,
#endif
#ifdef HAVE_WAYLAND
        &wlr_backend,
#endif
#ifdef HAVE_XCB
        &x11_backend,
#endif
        &i3_backend,
        &peers_backend,
        NULL,
};

static int list(const struct log *log)
{
        for (size_t i = 0; backends[i]; i++) {
                const char *why = backends[i]->probe();

                printf("%-22s %s\n", backends[i]->name, why ? why : _("may work here"));
        }
        return log_flush_stdout(log) < 0 ? CODE_FAILED : CODE_OK;
}

static bool is_backend(const char *name)
{
        for (size_t i = 0; backends[i]; i++)
                if (strcmp(backends[i]->name, name) == 0)
                        return true;
        return false;
}
/* The user unit and the autostart entry may both start an agent: the second one ends. */
static int lock_session(void)
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        char path[256];
        int fd;

        if (!runtime || snprintf(path, sizeof(path), "%s/" PROGRAM ".lock", runtime) >= (int)sizeof(path))
                return 0;
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return 0;
        return flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK ? -EBUSY : 0;
}

static void leave(int signal)
{
        (void)signal;
        _exit(0); /* the kernel releases the lock and closes the connection, which the service notices */
}

static int stop_signals(sigset_t *stops)
{
        static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
        const struct sigaction action = { .sa_handler = leave };

        signal(SIGPIPE, SIG_IGN);
        sigemptyset(stops);
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                sigaddset(stops, signals[i]);
                sigaction(signals[i], &action, NULL);
        }
        return signalfd(-1, stops, SFD_CLOEXEC);
}

static int run(struct agent *agent)
{
        _cleanup_close_ int stop_fd = -1;
        sigset_t stops;
        int err = lock_session();

        if (err == -EBUSY) {
                log_info(agent->log, "another one runs in this session");
                return 0;
        }
        stop_fd = stop_signals(&stops);
        pipewire_open(&agent->pipewire, agent->log);
        limiter_open(&agent->limiter, agent->log);
        planner_open(&agent->planner, agent->limiter.lock_fd >= 0, agent->log);
        err = stop_fd < 0 ? -errno : agent_run(agent, stop_fd, &stops);
        planner_close(&agent->planner); /* before the limiter, which gives up the lock */
        limiter_close(&agent->limiter);
        pipewire_close(&agent->pipewire);
        agent_close_backend(agent);
        sender_close(&agent->sender);
        if (err)
                log_error(agent->log, "cannot wait for events: %s", strerror(-err));
        return err ? CODE_FAILED : CODE_OK;
}

int main(int argc, char **argv)
{
        const struct log log = { .handler = log_to_stderr, .data = (void *)(uintptr_t)PROGRAM };
        struct agent agent = {
                .sink = { .report = agent_report, .log = &log },
                .sender = { .fd = -1, .log = &log },
                .warner = { .log = &log, .every_s = 300 },
                .log = &log,
        };
        bool want_list = false, restore = false;
        const struct option_row rows[] = {
                { "socket", "PATH", N_("the service's socket"), .usual = PATHS_FOCUS_SOCKET,
                  .text = &agent.sender.path },
                { "backend", "NAME", N_("use only this back-end (see --list)"), .text = &agent.wanted },
                { "print", .help = N_("print each change as a line of JSON"), .flag = &agent.print },
                { "warn-every", "S", N_("seconds between two runs of joulecast warn --notify; 0: never"),
                  .usual = "300",
                  .number = &agent.warner.every_s, .high = 86400, .unit = "s" },
                { "list",
                  .help = N_("list the back-ends in the order in which they are tried, and why one cannot work here"),
                  .flag = &want_list },
                { "restore", NULL,
                  N_("wait for the end of standard input, then undo what an agent that was killed left limited"),
                  .flag = &restore },
        };
        const struct option_table table = {
                .program = PROGRAM,
                .called = "joulecast focus",
                .usage = "joulecast focus [OPTION]...",
                .about = N_("Reports to joulecastd which app of this graphical session has the screen, and\n"
                         "which play sound through PipeWire. One runs in each session; window titles are\n"
                         "neither kept nor sent. It also limits apps in the background, where joulecast\n"
                         "limit says so."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .exits = N_("0 done, or another one runs in this session; 1 it failed; 2 wrong usage"),
        };
        int code;

        util_hold_standard_fds();
        util_end_on_shorter_files();
        words_start();
        code = options_read(&table, argc, argv, &log);
        if (code >= 0)
                return code;
        if (agent.wanted && !is_backend(agent.wanted)) {
                char printable[64];

                log_error(&log, "--backend: there is no \"%s\"; see joulecast focus --list",
                          util_printable(agent.wanted, printable, sizeof(printable)));
                return CODE_USAGE;
        }
        if (restore)
                return limit_undo_main(&log);
        return want_list ? list(&log) : run(&agent);
}
