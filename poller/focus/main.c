/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * joulecast-focus: reports to the service which app of this session has the focus, and which apps play sound.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>

#include "backend.h"
#include "backoff.h"
#include "limiter.h"
#include "planner.h"
#include "refresh.h"
#include "sender.h"
#include "util/options.h"
#include "util/paths.h"
#include "util/util.h"
#include "warner.h"

#define PROGRAM "joulecast-focus"

/*
 * Chooses one back-end, waits until its reports are stable, and sends them to the service, together with the
 * players of sound and the screen's refresh rate.
 */

/*
 * Desktops often report no window for a moment between two windows, and some report each change twice. A state
 * is published after it has lasted this long, with the time when it began.
 */
#define SETTLE_NS (150 * NS_PER_MS)
/* read when the focus changes, and at most this often, so that it causes no wake-up */
#define REFRESH_APART_NS (600 * NS_PER_S)
#define FIRST_STATE_NS (2 * NS_PER_S) /* a back-end without a report by then is skipped */

struct agent {
        struct focus_sink sink; /* first */
        struct sender sender;
        const struct log *log;
        const char *wanted; /* --backend; NULL: any */
        bool print;         /* each published state as a line of JSON */

        const struct backend_ops *ops; /* NULL: none is chosen */
        struct backend *backend;
        struct backoff backoff; /* when to search again, for any back-end or for one that needs no ticks */
        char chosen[48];        /* the back-end that was logged last as chosen */
        bool reported;

        struct focus_state pending, published;
        uint64_t pending_since_ns, published_since_ns;
        bool settling;

        struct pipewire pipewire;
        struct pipewire_sound sound; /* as sent */
        uint64_t sound_since_ns;     /* time of a possible change; 0: none */

        uint32_t refresh_mhz;        /* as sent; 0: unknown */
        uint64_t refresh_read_ns;    /* 0: not yet */

        struct warner warner;
        struct limiter limiter;
        struct planner planner;
};

static bool same(const struct focus_state *a, const struct focus_state *b)
{
        return a->known == b->known && a->locked == b->locked && a->pid == b->pid &&
               strcmp(a->app_id, b->app_id) == 0;
}

static void agent_report(struct focus_sink *sink, const struct focus_state *state)
{
        struct agent *agent = (struct agent *)sink;

        agent->reported = true;
        if (agent->settling && same(&agent->pending, state))
                return;
        if (same(&agent->published, state)) {
                agent->settling = false; /* the state changed and changed back */
                limiter_front(&agent->limiter, state);
                return;
        }
        agent->pending = *state;
        agent->pending_since_ns = util_boottime_ns();
        agent->settling = true;
        limiter_front(&agent->limiter, state);
}

static void print_json(const struct agent *agent)
{
        const struct focus_state *state = &agent->published;

        printf("{\"backend\": \"%s\", \"known\": %s, \"locked\": %s, \"pid\": %d, \"app_id\": \"",
               agent->ops ? agent->ops->name : "", state->known ? "true" : "false",
                       state->locked ? "true" : "false",
               (int)state->pid);
        for (const char *at = state->app_id; *at; at++)
                printf(*at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
        printf("\", \"boottime_ns\": %llu}\n", (unsigned long long)agent->published_since_ns);
        fflush(stdout);
}

/*
 * A user who changes the rate has probably opened the settings, so the focus changes; the rate is read then.
 */
static void tell_screen(struct agent *agent, uint64_t now_ns)
{
        uint32_t mhz;

        if (agent->refresh_read_ns && now_ns - agent->refresh_read_ns < REFRESH_APART_NS)
                return;
        agent->refresh_read_ns = now_ns;
        mhz = refresh_read();
        if (mhz != agent->refresh_mhz)
                sender_send_screen(&agent->sender, mhz, now_ns);
        agent->refresh_mhz = mhz;
}

static void publish(struct agent *agent, const struct focus_state *state, uint64_t since_ns, uint64_t now_ns)
{
        agent->settling = false;
        agent->published = *state;
        agent->published_since_ns = since_ns;
        sender_send(&agent->sender, state, since_ns, agent->ops && agent->ops->tick, now_ns);
        tell_screen(agent, now_ns);
        limiter_front(&agent->limiter, state);
        limiter_changed(&agent->limiter, state);
        if (agent->print)
                print_json(agent);
}

/* Publishes the pending state if it has lasted SETTLE_NS. */
static void agent_settle(struct agent *agent, uint64_t now_ns)
{
        if (agent->settling && now_ns >= agent->pending_since_ns + SETTLE_NS)
                publish(agent, &agent->pending, agent->pending_since_ns, now_ns);
}

static void agent_close_backend(struct agent *agent)
{
        backend_close(agent->backend);
        agent->backend = NULL;
        agent->ops = NULL;
}

/* The desktop is gone: the focus is unknown from now on. */
static void lose_backend(struct agent *agent, int err, uint64_t now_ns)
{
        const struct focus_state unknown = { .known = false };

        log_info(agent->log, "%s is gone: %s", agent->chosen, strerror(-err));
        agent_close_backend(agent);
        agent->chosen[0] = '\0';
        backoff_failed(&agent->backoff, now_ns);
        publish(agent, &unknown, now_ns, now_ns);
}

/* Waits up to FIRST_STATE_NS for the first report. */
static int first_state(struct agent *agent)
{
        uint64_t deadline_ns = util_boottime_ns() + FIRST_STATE_NS, now_ns;
        int err = agent->ops->dispatch(agent->backend); /* messages read by start() raise no event */

        while (!err && !agent->reported && (now_ns = util_boottime_ns()) < deadline_ns) {
                struct pollfd wait = { .fd = backend_fd(agent->backend), .events = POLLIN };

                if (poll(&wait, 1, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1) > 0)
                        err = agent->ops->dispatch(agent->backend);
        }
        if (err || agent->reported)
                return err;
        if (!agent->ops->patient)
                return -ETIMEDOUT;
        focus_report_unknown(&agent->sink);
        return 0;
}

static const char *reason(int err)
{
        switch (err) {
        case -EOPNOTSUPP:
                return "it does not report the focus";
        case -EHOSTUNREACH:
                return "it is not running";
        case -ETIMEDOUT:
                return "it did not respond";
        default:
                return strerror(-err);
        }
}

static int try_backend(struct agent *agent, const struct backend_ops *ops, const char **why)
{
        int err;

        *why = ops->probe();
        if (*why)
                return -ENODEV;
        agent->reported = false;
        err = backend_open(ops, &agent->sink, &agent->backend);
        if (!err) {
                agent->ops = ops;
                err = first_state(agent);
                if (err)
                        agent_close_backend(agent);
        }
        if (err)
                *why = reason(err);
        return err;
}

/* Tries the back-ends in order. 0; -ENODEV: none works here, which is logged once. */
static int agent_choose(struct agent *agent)
{
        char passed[768] = "";
        size_t length = 0;

        for (size_t i = 0; backends[i]; i++) {
                const char *why;

                if (agent->wanted && strcmp(agent->wanted, backends[i]->name) != 0)
                        continue;
                if (try_backend(agent, backends[i], &why) == 0) {
                        if (strcmp(agent->chosen, agent->ops->name) == 0)
                                return 0;
                        snprintf(agent->chosen, sizeof(agent->chosen), "%s", agent->ops->name);
                        log_info(agent->log, "the focus comes from %s%s%s%s%s", agent->ops->name,
                                 agent->ops->patient && !agent->published.known && !agent->pending.known
                                         ? " (after its extension focus@joulecast, or before GNOME 45"
                                           " focus43@joulecast, is enabled)" : "",
                                 length ? " (skipped: " : "", passed, length ? ")" : "");
                        return 0;
                }
                length += (size_t)snprintf(passed + length, sizeof(passed) - length, "%s%s: %s",
                                           length ? "; " : "",
                                           backends[i]->name, why);
                length = MIN(length, sizeof(passed) - 1);
        }
        if (!agent->backoff.wait_ns)
                log_info(agent->log, "no back-end can report the focus here (%s)", passed);
        return -ENODEV;
}

static bool same_sound(const struct pipewire_sound *a, const struct pipewire_sound *b)
{
        return a->others == b->others && a->n == b->n && memcmp(a->pids, b->pids, a->n * sizeof(*a->pids)) == 0;
}

static void print_sound(const struct pipewire_sound *sound)
{
        printf("{\"sound\": [");
        for (size_t i = 0; i < sound->n; i++)
                printf("%s%d", i ? ", " : "", (int)sound->pids[i]);
        printf("], \"others\": %s}\n", sound->others ? "true" : "false");
        fflush(stdout);
}

/* A stream and its card begin one after the other, and a change of songs ends and begins one. */
static void settle_sound(struct agent *agent, uint64_t now_ns)
{
        _cleanup_close_ int root_fd = -1;
        struct pipewire_sound sound;

        if (agent->sound_since_ns == 0 || now_ns < agent->sound_since_ns + SETTLE_NS)
                return;
        agent->sound_since_ns = 0;
        root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        pipewire_sound(&agent->pipewire, root_fd, &sound);
        if (same_sound(&sound, &agent->sound))
                return;
        agent->sound = sound;
        sender_send_sound(&agent->sender, &sound, now_ns);
        limiter_changed(&agent->limiter, &agent->limiter.front);
        if (agent->print)
                print_sound(&sound);
}

static void keep_up(struct agent *agent, uint64_t now_ns)
{
        if (sender_connect(&agent->sender, now_ns)) {
                sender_send(&agent->sender, &agent->published, agent->published_since_ns, agent->ops &&
                            agent->ops->tick,
                            now_ns);
                if (agent->sound.n > 0 || agent->sound.others)
                        sender_send_sound(&agent->sender, &agent->sound, now_ns);
                if (agent->refresh_mhz)
                        sender_send_screen(&agent->sender, agent->refresh_mhz, now_ns);
        }
        pipewire_connect(&agent->pipewire, now_ns);
        if (agent->backend || !backoff_due(&agent->backoff, now_ns))
                return;
        if (agent_choose(agent) == 0)
                backoff_succeeded(&agent->backoff, util_boottime_ns());
        else
                backoff_failed(&agent->backoff, util_boottime_ns());
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* Milliseconds until the next timer; -1: there is none, only events wake the loop. */
static int timeout_ms(const struct agent *agent, uint64_t now_ns)
{
        uint64_t at = UINT64_MAX;

        if (agent->settling)
                at = sooner(at, agent->pending_since_ns + SETTLE_NS);
        if (agent->sound_since_ns)
                at = sooner(at, agent->sound_since_ns + SETTLE_NS);
        at = sooner(at, pipewire_deadline(&agent->pipewire));
        if (agent->sender.fd < 0)
                at = sooner(at, agent->sender.backoff.until_ns);
        if (!agent->backend)
                at = sooner(at, agent->backoff.until_ns);
        at = sooner(at, warner_deadline(&agent->warner));
        at = sooner(at, planner_deadline(&agent->planner));
        if (!agent->settling)
                at = sooner(at, limiter_deadline(&agent->limiter));
        if (at == UINT64_MAX)
                return -1;
        return at <= now_ns ? 0 : (int)((at - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

/*
 * A back-end that needs ticks is a last resort, and may have been chosen only because the desktop was still
 * starting. Search again for a better one at a tick, which wakes us anyway.
 */
static int tick(struct agent *agent)
{
        uint64_t now_ns = util_boottime_ns();

        if (!backoff_due(&agent->backoff, now_ns))
                return agent->ops->tick(agent->backend);
        agent_close_backend(agent);
        backoff_failed(&agent->backoff, now_ns);
        return agent_choose(agent);
}

static void dispatch(struct agent *agent, const struct pollfd *wait)
{
        int err = 0;

        if (wait[1].revents && sender_dispatch(&agent->sender, util_boottime_ns()) && agent->backend &&
            agent->ops->tick)
                err = tick(agent);
        if (!err && wait[0].revents && agent->backend)
                err = agent->ops->dispatch(agent->backend);
        if (wait[3].revents) {
                pipewire_dispatch(&agent->pipewire, util_boottime_ns());
                if (!agent->sound_since_ns)
                        agent->sound_since_ns = util_boottime_ns();
        }
        if (wait[4].revents)
                limiter_dispatch(&agent->limiter);
        if (wait[5].revents)
                limiter_guard_ended(&agent->limiter);
        if (wait[6].revents)
                planner_dispatch(&agent->planner);
        if (wait[7].revents)
                planner_guard_ended(&agent->planner);
        if (err)
                lose_backend(agent, err, util_boottime_ns());
}

/*
 * The event loop. 0: @stop_fd became readable; or a negative errno. @stops: the signals that @stop_fd reports.
 * They are blocked only while the loop waits and when it returns, so that they still end a process that hangs
 * in a desktop's library.
 */
static int agent_run(struct agent *agent, int stop_fd, const sigset_t *stops)
{
        for (;;) {
                struct pollfd wait[8];
                int n;

                keep_up(agent, util_boottime_ns());
                agent_settle(agent, util_boottime_ns());
                settle_sound(agent, util_boottime_ns());
                warner_run(&agent->warner, util_boottime_ns());
                planner_run(&agent->planner, util_boottime_ns());
                if (!agent->settling) /* the foreground app is about to change */
                        limiter_run(&agent->limiter, &agent->sound, util_boottime_ns());
                wait[0] = (struct pollfd){ .fd = agent->backend ? backend_fd(agent->backend) : -1,
                                           .events = POLLIN };
                wait[1] = (struct pollfd){ .fd = agent->sender.fd, .events = POLLIN };
                wait[2] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
                wait[3] = (struct pollfd){ .fd = pipewire_fd(&agent->pipewire), .events = POLLIN };
                wait[4] = (struct pollfd){ .fd = limiter_fd(&agent->limiter), .events = POLLIN };
                wait[5] = (struct pollfd){ .fd = limiter_guard_fd(&agent->limiter) };
                wait[6] = (struct pollfd){ .fd = planner_fd(&agent->planner), .events = POLLIN };
                wait[7] = (struct pollfd){ .fd = planner_guard_fd(&agent->planner) };
                sigprocmask(SIG_BLOCK, stops, NULL);
                n = poll(wait, ARRAY_SIZE(wait), timeout_ms(agent, util_boottime_ns()));
                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0 && wait[2].revents)
                        return 0;
                sigprocmask(SIG_UNBLOCK, stops, NULL);
                dispatch(agent, wait);
                agent_settle(agent, util_boottime_ns());
        }
}

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
