/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* joulecast-focus: tells the service which app of this session has the screen. */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>

#include "agent.h"
#include "util/paths.h"
#include "util/util.h"

#define PROGRAM "joulecast-focus"

static const char help[] =
        "Usage: joulecast focus [OPTION]...\n"
        "\n"
        "Tells joulecastd which app of this graphical session has the screen. One runs in\n"
        "each session; window titles are neither kept nor sent.\n"
        "\n"
        "  --socket PATH    the service's socket (" PATHS_FOCUS_SOCKET ")\n"
        "  --backend NAME   only this way to learn the focus (see --list)\n"
        "  --print          each change as a line of JSON on standard output\n"
        "  --list           the ways to learn the focus, in the order in which they are\n"
        "                   tried, and what speaks against each here\n"
        "  --help, --version\n"
        "\n"
        "Exit: 0 done, or another one runs in this session; 1 it failed; 2 wrong usage.\n";

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
        &console_backend,
        NULL,
};

static int fail_usage(const char *sentence, const char *what)
{
        fprintf(stderr, PROGRAM ": %s%s; see joulecast focus --help\n", sentence, what);
        return 2;
}

/* An answer that did not arrive is no success. */
static int finish(void)
{
        if (util_flush_stdout())
                return 0;
        fprintf(stderr, PROGRAM ": the answer could not be written\n");
        return 1;
}

static int list(void)
{
        for (size_t i = 0; backends[i]; i++) {
                const char *why = backends[i]->probe();

                printf("%-22s %s\n", backends[i]->name, why ? why : "is worth a try here");
        }
        return finish();
}

static bool is_backend(const char *name)
{
        for (size_t i = 0; backends[i]; i++)
                if (strcmp(backends[i]->name, name) == 0)
                        return true;
        return false;
}

/*
 * The user unit and the autostart entry may both start one: the second ends without a word. The
 * lock goes with the process.
 */
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
        _exit(0); /* what we hold goes with us, and the service hears that the connection has ended */
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
        err = stop_fd < 0 ? -errno : agent_run(agent, stop_fd, &stops);
        agent_close_backend(agent);
        sender_close(&agent->sender);
        if (err)
                fprintf(stderr, PROGRAM ": cannot wait for events: %s\n", strerror(-err));
        return err ? 1 : 0;
}

int main(int argc, char **argv)
{
        enum { SOCKET = 256, BACKEND, PRINT, LIST, HELP, VERSION };
        static const struct option options[] = {
                { "socket", required_argument, NULL, SOCKET },
                { "backend", required_argument, NULL, BACKEND },
                { "print", no_argument, NULL, PRINT },
                { "list", no_argument, NULL, LIST },
                { "help", no_argument, NULL, HELP },
                { "version", no_argument, NULL, VERSION },
                { 0 },
        };
        const struct log log = { .handler = log_to_stderr, .data = (void *)(uintptr_t)PROGRAM };
        struct agent agent = {
                .sink = { .report = agent_report, .log = &log },
                .sender = { .fd = -1, .log = &log },
                .log = &log,
        };
        int option;

        util_hold_standard_fds();
        opterr = 0;
        while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
                switch (option) {
                case SOCKET:
                        agent.sender.path = optarg;
                        break;
                case BACKEND:
                        if (!is_backend(optarg))
                                return fail_usage("there is no back-end ", optarg);
                        agent.wanted = optarg;
                        break;
                case PRINT:
                        agent.print = true;
                        break;
                case LIST:
                        return list();
                case HELP:
                        fputs(help, stdout);
                        return finish();
                case VERSION:
                        puts(PROGRAM " " JOULECAST_VERSION);
                        return finish();
                default:
                        return fail_usage("unknown or incomplete option ", argv[optind - 1]);
                }
        if (optind < argc)
                return fail_usage("unexpected argument ", argv[optind]);
        return run(&agent);
}
