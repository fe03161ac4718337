/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>

#include "answer/options.h"
#include "calls.h"
#include "glib-probes.h"
#include "gpu-clients.h"
#include "listener.h"
#include "perf-map.h"
#include "player.h"
#include "run.h"
#include "space.h"
#include "util/units.h"
#include "util/util.h"

#define LOOK_MS UINT64_C(100) /* between two looks at the clocks of the CPUs, and at the rings */

struct watch {
        const struct run_wish *wish;
        struct called_list *calls; /* NULL: they are not counted, and stacks are kept */
        struct child child;
        struct events *events;     /* NULL: calls are counted */
        struct tracepoints points; /* those of the wish, and of @glib */
        struct glib_probes glib;
        int glib_err;              /* why it has none */
        struct gpu_clients gpu;
        struct perf_times code;
        struct prices *prices;
        struct player *player;
        int spool_fd, signal_fd, proc_fd;
        uint64_t started_ns;
        sigset_t before;
};

static void watch_close(struct watch *watch)
{
        child_end(&watch->child);
        player_free(watch->player);
        events_free(watch->events);
        glib_probes_close(&watch->glib);
        price_free(watch->prices);
        gpu_clients_clear(&watch->gpu);
        perf_times_clear(&watch->code);
        closep(&watch->proc_fd);
        closep(&watch->spool_fd);
        closep(&watch->signal_fd);
        sigprocmask(SIG_SETMASK, &watch->before, NULL);
}

/* Ctrl-C reaches the program, too; we then end without a result. */
static int hold_signals(struct watch *watch)
{
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGHUP);
        if (sigprocmask(SIG_BLOCK, &signals, &watch->before) < 0)
                return -errno;
        watch->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
        return watch->signal_fd < 0 ? -errno : 0;
}

static int open_spool(const char *folder)
{
        char path[4096];
        int fd;

        if (snprintf(path, sizeof(path), "%s/spool-XXXXXX", folder) >= (int)sizeof(path))
                return -ENAMETOOLONG;
        fd = mkostemp(path, O_CLOEXEC);
        if (fd < 0)
                return -errno;
        unlink(path);
        return fd;
}

static int say_events(int err)
{
        if (err == -EACCES || err == -EPERM)
                log_error(&program_log, "the kernel does not let this user watch programs: "
                          "/proc/sys/kernel/perf_event_paranoid must be at most 2; run as root, or sysctl "
                          "kernel.perf_event_paranoid=2");
        else if (err == -ENOSYS)
                log_error(&program_log, "this kernel has no perf_event_open, or this build does not know the "
                                        "registers of its CPU");
        else if (err)
                log_error(&program_log, "programs cannot be watched: %s", strerror(-err));
        return err;
}

static int watch_events(struct watch *watch)
{
        const struct run_wish *wish = watch->wish;

        if (wish->tracepoints) {
                watch->points = *wish->tracepoints;
                watch->glib_err = glib_probes_open(&watch->glib, &watch->points);
        }
        return say_events(events_open(watch->child.pid, wish->stack_kb, watch->spool_fd,
                                      wish->tracepoints ? &watch->points : NULL, &watch->events));
}

static int watch_calls(struct watch *watch)
{
        int err = calls_open(watch->calls, watch->child.pid);

        if (err)
                log_error(&program_log,
                          "calls cannot be counted: %s; it needs root and a kernel with uprobes",
                          strerror(-err));
        return err;
}

static int start(struct watch *watch)
{
        struct child_place place = CHILD_NOWHERE;
        char name[256];
        int err = 0;

        if (watch->wish->listener)
                place.display = getenv("DISPLAY"); /* and not Wayland */
        if (watch->wish->script)
                err = player_new(watch->wish->script, watch->wish->where, &place, &watch->player);
        if (!err)
                err = child_start(watch->wish->argv, &place, &watch->child);
        if (watch->player)
                player_started(watch->player);
        if (watch->wish->listener)
                listener_follow(watch->wish->listener, watch->child.pid);
        if (!err)
                err = watch->calls ? watch_calls(watch) : watch_events(watch);
        if (err)
                return err;
        watch->started_ns = util_clock_ns(CLOCK_MONOTONIC);
        price_look(watch->prices, watch->started_ns);
        err = child_go(&watch->child);
        if (err)
                log_error(&program_log, "%s cannot be run: %s",
                          util_printable(watch->wish->argv[0], name, sizeof(name)), strerror(-err));
        return err;
}

static int look_at_events(struct watch *watch)
{
        int err;

        price_look(watch->prices, util_clock_ns(CLOCK_MONOTONIC));
        err = gpu_clients_look(&watch->gpu, watch->proc_fd, watch->child.pid, util_clock_ns(CLOCK_MONOTONIC));
        if (!err)
                err = perf_times_look(&watch->code, watch->proc_fd, watch->child.pid, util_clock_ns(CLOCK_MONOTONIC));
        if (!err)
                err = events_drain(watch->events);
        events_limit(watch->events, util_clock_ns(CLOCK_MONOTONIC));
        if (err == -ENOSPC)
                log_error(&program_log, "there is no room for the records: %s", strerror(ENOSPC));
        return err;
}

static int look(struct watch *watch, bool stopped)
{
        int err = stopped ? -EINTR : 0;

        if (!err && watch->wish->listener)
                err = listener_step(watch->wish->listener);
        if (!err && watch->events)
                err = look_at_events(watch);
        return !err && watch->player ? player_step(watch->player, util_clock_ns(CLOCK_MONOTONIC)) : err;
}

static int follow(struct watch *watch)
{
        struct pollfd fds[] = {
                { .fd = watch->child.pid_fd, .events = POLLIN },
                { .fd = watch->signal_fd, .events = POLLIN },
                { .fd = watch->events ? events_poll_fd(watch->events) : -1, .events = POLLIN },
                { .fd = watch->player ? player_fd(watch->player) : -1, .events = POLLIN },
                { .fd = watch->wish->listener ? listener_fd(watch->wish->listener) : -1, .events = POLLIN }
        };
        int err = 0;

        while (!err && !fds[0].revents) {
                uint64_t wait_ns = watch->player ?
                                           player_wait_ns(watch->player, util_clock_ns(CLOCK_MONOTONIC)) :
                                           UINT64_MAX;

                if (poll(fds, ARRAY_SIZE(fds), (int)MIN(wait_ns / NS_PER_MS + 1, LOOK_MS)) < 0 && errno != EINTR)
                        return -errno;
                err = look(watch, fds[1].revents != 0);
        }
        return err;
}

/* A page may be part of a larger piece that becomes dirty at once: the process' own count has all of them. */
static void find_totals(const struct watch *watch, const struct child_result *result, double ret[EVENT_COUNT])
{
        for (int kind = 0; kind < EVENT_COUNT; kind++)
                ret[kind] = (double)events_total(watch->events, (enum event_kind)kind);
        ret[EVENT_DIRTY] = fmax(ret[EVENT_DIRTY], (double)result->storage_bytes / (double)sysconf(_SC_PAGESIZE));
}

/* Other programs whose code we read must not send us to a server for it. */
static int read_run(struct watch *watch, struct run *run)
{
        double totals[EVENT_COUNT];
        int err;

        find_totals(watch, &run->result, totals);
        unsetenv("DEBUGINFOD_URLS");
        err = events_drain(watch->events);
        if (!err)
                err = replay(watch->spool_fd, events_ids(watch->events),
                             watch->wish->tracepoints ? &watch->points : NULL, &watch->code, totals,
                             gpu_clients_busy_ns(&watch->gpu), watch->prices, &run->recording);
        if (err && err != -EINTR)
                log_error(&program_log, "the records of the kernel cannot be read: %s", strerror(-err));
        return err;
}

static int prepare(struct watch *watch)
{
        int err = hold_signals(watch);

        watch->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (!err && watch->proc_fd < 0)
                err = -errno;
        if (!err && !watch->calls) {
                watch->spool_fd = open_spool(watch->wish->folder);
                err = MIN(watch->spool_fd, 0);
        }
        if (!err)
                err = price_new(watch->wish->profile, &watch->prices);
        if (err)
                log_error(&program_log, "a run cannot be prepared: %s", strerror(-err));
        return err;
}

static int run_it(struct watch *watch, struct child_result *ret)
{
        int err = prepare(watch);

        if (!err)
                err = start(watch);
        if (!err)
                err = follow(watch);
        return err ? err : child_wait(&watch->child, ret);
}

#define NOT_STARTED { .pid = -1, .go_fd = -1, .failed_fd = -1, .pid_fd = -1 }

int run_counted(const struct run_wish *wish, struct called_list *calls)
{
        _cleanup_(watch_close) struct watch watch = { .wish = wish,
                                                      .calls = calls,
                                                      .spool_fd = -1,
                                                      .signal_fd = -1,
                                                      .proc_fd = -1,
                                                      .child = NOT_STARTED,
                                                      .glib = GLIB_PROBES_NONE };
        struct child_result result;

        return run_it(&watch, &result);
}

/* The program has mapped a GLib or GIO, by how its path ends, that is not the one at @path, which has probes. */
static bool has_other(const struct recording *recording, const char *end, const char *path)
{
        struct stat with_probes, mapped;

        if (stat(path, &with_probes) < 0)
                with_probes = (struct stat){ 0 }; /* none has probes */
        for (size_t i = 0; i < words_count(recording->frames); i++) {
                const char *word = words_bytes(recording->frames, (uint32_t)i, NULL),
                           *slash = *word == '/' ? strrchr(word, '/') : NULL;

                if (slash && strncmp(slash, end, strlen(end)) == 0 &&
                    (stat(word, &mapped) < 0 || mapped.st_ino != with_probes.st_ino ||
                     mapped.st_dev != with_probes.st_dev))
                        return true;
        }
        return false;
}

static void find_passed(const struct watch *watch, struct run *run)
{
        uint64_t until_ns = events_ids(watch->events)->passed_until_ns;

        run->passed = !watch->wish->tracepoints || watch->glib_err == -EACCES ? PASSED_NO_RIGHT
                : watch->glib_err == -ENOENT ? PASSED_NO_GLIB
                : watch->glib_err ? PASSED_NO_PROBES
                : until_ns != UINT64_MAX ? PASSED_TOO_OFTEN : PASSED_SEEN;
        if (run->passed == PASSED_SEEN && (has_other(&run->recording, "/libglib-2.0.so", watch->glib.path) ||
                                           has_other(&run->recording, "/libgio-2.0.so", watch->glib.gio)))
                run->passed = PASSED_OTHER_GLIB;
        run->passed_until_s = run->passed == PASSED_TOO_OFTEN ? (double)(until_ns - watch->started_ns) / NS_PER_S : NAN;
}

int run_once(const struct run_wish *wish, struct run *ret)
{
        _cleanup_(watch_close) struct watch watch = { .wish = wish,
                                                      .spool_fd = -1,
                                                      .signal_fd = -1,
                                                      .proc_fd = -1,
                                                      .child = NOT_STARTED,
                                                      .glib = GLIB_PROBES_NONE };
        struct run run = { .played = true };
        int err = run_it(&watch, &run.result);

        if (!err)
                err = read_run(&watch, &run);
        if (err) {
                run_clear(&run);
                return err;
        }
        run.sees_kernel = events_see_kernel(watch.events);
        run.sees_gpu = watch.gpu.n > 0;
        find_passed(&watch, &run);
        run.know_clock = price_knows_clock(watch.prices);
        run.played = !watch.player || player_ended(watch.player);
        *ret = run;
        return 0;
}

double run_count(const struct run *run, enum event_kind kind)
{
        double sum = 0;

        for (size_t i = 0; i < run->recording.n; i++)
                sum += run->recording.lines[i].count[kind];
        return sum;
}

void run_clear(struct run *run)
{
        replay_clear(&run->recording);
}
