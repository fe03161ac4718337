/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "poller.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>

#include "util/portable.h"
#include "util/subordinate.h"
#include "util/units.h"
#include "util/util.h"

void poller_close(struct poller *poller)
{
        dbus_close(poller->dbus);
        answers_close(poller->answers);
        interval_maker_free(poller->maker);
        sample_clear(&poller->sample);
        interval_clear(&poller->interval);
        interval_clear(&poller->pending);
        live_clear(&poller->live);
        sources_close(&poller->sources);
        store_close(poller->store);
        *poller = (struct poller){ 0 };
}

static void say_once(void *data, enum log_level level, const char *sentence)
{
        struct poller *poller = data;

        if (strcmp(poller->said, sentence) == 0)
                return;
        snprintf(poller->said, sizeof(poller->said), "%s", sentence);
        log_write(poller->log, level, "%s", sentence);
}

static int open_store(struct poller *poller)
{
        int err = store_open(poller->database, STORE_WRITE, &poller->store_log, &poller->store);

        if (err == -EBADMSG && poller->own_database) {
                err = store_put_aside(poller->database, STORE_DAMAGED, &poller->store_log);
                if (!err)
                        err = store_open(poller->database, STORE_WRITE, &poller->store_log, &poller->store);
        }
        if (err)
                return err;
        store_sync_within(poller->store, poller->sync_ns);
        *poller->said = '\0';
        return 0;
}

/*
 * A user can solve these problems: the path is a folder, or the database is in use or from a newer version.
 */
static bool can_wait(const struct poller *poller, int err)
{
        return poller->patient && err != -ENOMEM;
}

int poller_open_store(struct poller *poller, const char *path)
{
        int err;

        poller->database = path;
        poller->store_log = (struct log){ say_once, poller };
        subordinate_read(SUBORDINATE_PATH); /* the store counts the apps of each user as it opens */
        err = open_store(poller);
        if (!err || !can_wait(poller, err))
                return err;
        log_warning(poller->log, "nothing can be stored in %s; each poll tries again", path);
        poller->failed = err;
        return 0;
}

static int store_interval(struct poller *poller)
{
        int err = store_append(poller->store, &poller->interval);

        poller->waiting = err && err != -ERANGE; /* -ERANGE: its times are out of range, which will not change */
        if (err)
                return err;
        poller->intervals++;
        poller->elapsed_ns += poller->interval.elapsed_ns;
        return store_roll_up(poller->store, poller->interval.end_realtime_ns, &poller->retention);
}

/* Used for damage that is found only by writing. Once per run; if it happens again, the disk is broken. */
static int renew_store(struct poller *poller)
{
        const char *path = poller->own_database;
        int err;

        store_close(poller->store);
        poller->store = NULL;
        poller->own_database = NULL;
        err = store_put_aside(path, STORE_DAMAGED, poller->log);
        return err ? err : open_store(poller);
}

/* If the database was deleted, create a new one. A missing folder is created only for the default path. */
static int replace_gone_store(struct poller *poller)
{
        if (!poller->store)
                return open_store(poller);
        if (!store_is_gone(poller->store))
                return 0;
        log_warning(poller->log, "%s was deleted or moved away; a new one begins", poller->database);
        store_close(poller->store);
        poller->store = NULL;
        return open_store(poller);
}

static void tell_failure(struct poller *poller, int err)
{
        if (!err && poller->failed)
                log_info(poller->log, "the database can be written again; the next interval spans %llu poll%s",
                         (unsigned long long)poller->n_skipped + 1, poller->n_skipped ? "s" : "");
        else if (err != poller->failed)
                log_warning(poller->log, "cannot write to the database (%s); %s", util_reason(err),
                            poller->waiting ? "this interval waits, and the next one spans the time until then"
                                            : "the next poll tries again");
        poller->failed = err;
}

/* Returns memory to the system after bursts of short processes, such as builds. */
#define ENDS_PER_TRIM 1024

static void give_back(struct poller *poller)
{
        if (poller->n_ended < ENDS_PER_TRIM)
                return;
        portable_trim();
        poller->n_ended = 0;
}

/*
 * Does a source want a poll now? Sources do before and after a suspend, so that it becomes an interval of its
 * own.
 */
static bool is_due(const struct sources *sources)
{
        for (size_t i = 0; i < sources->n; i++)
                if (sources->list[i]->due)
                        return true;
        return false;
}

static int read_sources(struct poller *poller)
{
        for (size_t i = 0; i < poller->sources.n; i++)
                poller->sources.list[i]->due = false;
        return sources_read(&poller->sources, &poller->sample);
}

static int store_now(struct poller *poller)
{
        int err = replace_gone_store(poller);

        if (!err)
                err = store_interval(poller);
        if (err != -EBADMSG || !poller->store || !poller->own_database)
                return err;
        err = renew_store(poller);
        return err ? err : store_interval(poller);
}

static int store_waiting(struct poller *poller)
{
        int err = store_now(poller);

        if (!poller->store && !can_wait(poller, err))
                return err;
        poller->waiting = poller->waiting || !poller->store;
        tell_failure(poller, err);
        return err == -ENOMEM ? err : 0;
}

/*
 * Used while an interval cannot be stored. The kernel's totals continue, so the next interval covers the
 * skipped polls.
 */
static int skip(struct poller *poller)
{
        poller->n_skipped += poller->waiting;
        return interval_skip(poller->maker, &poller->sample);
}

static int make_interval(struct poller *poller, uint64_t begin_ns)
{
        int err = interval_make(poller->maker, &poller->sample, &poller->interval);

        if (!err)
                live_add(&poller->live, &poller->interval, begin_ns, util_boottime_ns());
        return err;
}

int poller_look(struct poller *poller)
{
        uint64_t now_ns = util_boottime_ns();
        int err;

        if (!live_ask(&poller->live, now_ns))
                return 0;
        if (poller->waiting)
                return -EBUSY;
        err = sources_read(&poller->sources, &poller->sample);
        if (err)
                return err;
        poller->n_ended += poller->sample.n_gone;
        if (sources_miss_processes(&poller->sources))
                return skip(poller);
        err = make_interval(poller, now_ns);
        if (err)
                return err;
        err = interval_join(&poller->pending, &poller->interval);
        /* A part of it would be wrong, so this time then counts as not recorded. */
        if (err)
                interval_clear(&poller->pending);
        return err;
}

/* Joins the usage since the last stored interval to one interval. */
static int add_pending(struct poller *poller)
{
        int err = poller->pending.n_rows > 0 ? interval_join(&poller->pending, &poller->interval) : 0;

        if (err || poller->pending.n_rows == 0)
                return err;
        interval_clear(&poller->interval);
        poller->interval = poller->pending;
        poller->pending = (struct interval){ 0 };
        return 0;
}

/*
 * One poll, stored in one transaction. Returns 0, also if it could not be stored: then poller->failed is set,
 * and the next poll tries again. Returns -ENOMEM, or another error if there is no usable database.
 */
static int poller_poll(struct poller *poller)
{
        uint64_t begin_ns = util_boottime_ns();
        int err = read_sources(poller);

        if (err)
                return err;
        subordinate_read(SUBORDINATE_PATH);
        poller->polls++;
        poller->n_processes = poller->sample.n_processes + poller->sample.n_unlisted;
        poller->n_ended += poller->sample.n_gone;
        if (poller->waiting)
                err = store_waiting(poller);
        if (err)
                return err;
        if (poller->waiting || sources_miss_processes(&poller->sources))
                return skip(poller);
        poller->n_skipped = 0;
        err = make_interval(poller, begin_ns);
        if (!err)
                err = add_pending(poller);
        if (err)
                return err == -ENODATA ? 0 : err;
        err = store_waiting(poller);
        give_back(poller);
        return err;
}

static struct timespec timespec_of(uint64_t ns)
{
        return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
}

/* Events that the loop waits for. */
struct waiting {
        int signal_fd;
        int timer_fd;
        const struct sources *sources; /* those with a descriptor */
        struct answers *answers;       /* or NULL */
        struct dbus *dbus;             /* or NULL */
        uint64_t slack_ns;             /* slack of a poll */
};

static void waiting_close(struct waiting *waiting)
{
        closep(&waiting->signal_fd);
        closep(&waiting->timer_fd);
}

/*
 * Two timers for one wakeup. ppoll() uses the thread's timer slack, so that a poll's wakeup coincides with
 * others, but its clock stops during suspend. The timerfd, at the end of the slack, uses CLOCK_BOOTTIME and
 * fires after resume.
 */
static int waiting_open(struct waiting *waiting, const struct poller *poller, double interval_s)
{
        sigset_t signals;

        waiting->slack_ns = (uint64_t)(MIN(1.0, interval_s / 10) * 1e9);
        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGHUP);
        if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
                return -errno;
        waiting->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        waiting->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        if (waiting->signal_fd < 0 || waiting->timer_fd < 0)
                return -errno;
        waiting->sources = &poller->sources;
        waiting->answers = poller->answers;
        waiting->dbus = poller->dbus;
        return 0;
}

static int arm(const struct waiting *waiting, uint64_t deadline_ns)
{
        const struct itimerspec timer = { .it_value = timespec_of(deadline_ns + waiting->slack_ns) };

        return timerfd_settime(waiting->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL) < 0 ? -errno : 0;
}

/* A client must not wait for wakeups to coincide. A slack of 0 selects the kernel's default, 50 us. */
static void set_slack(const struct waiting *waiting, bool polls)
{
        prctl(PR_SET_TIMERSLACK, polls ? (unsigned long)waiting->slack_ns : 0UL, 0, 0, 0);
}

static size_t list_sources(const struct sources *sources, struct pollfd *fds)
{
        for (size_t i = 0; i < sources->n; i++) {
                const struct source *source = sources->list[i];

                fds[i] = (struct pollfd){ .fd = source->ops->fd ? source->ops->fd(source) : -1,
                                          .events = POLLIN };
        }
        return sources->n;
}

static void hear_sources(const struct sources *sources, const struct pollfd *fds)
{
        for (size_t i = 0; i < sources->n; i++)
                if (fds[i].revents)
                        sources->list[i]->ops->hear(sources->list[i], util_boottime_ns());
}

/* Sleeps until @deadline_ns, or until a source wants a poll. Returns 0; -EINTR: a signal to end. */
static int wait_until(const struct waiting *waiting, uint64_t deadline_ns)
{
        int err = arm(waiting, deadline_ns);

        while (!err) {
                uint64_t now_ns = util_boottime_ns(),
                         asked_ns = answers_deadline_ns(waiting->answers), bus_ns = dbus_deadline_ns(waiting->dbus),
                         others_ns = MIN(asked_ns, bus_ns), until_ns = MIN(deadline_ns, others_ns);
                struct timespec left = timespec_of(until_ns - MIN(now_ns, until_ns));
                struct pollfd fds[3 + ARRAY_SIZE(waiting->sources->list) + ANSWERS_FDS] = {
                        { .fd = waiting->signal_fd, .events = POLLIN },
                        { .fd = waiting->timer_fd, .events = POLLIN },
                };
                size_t n = 3 + list_sources(waiting->sources, fds + 3);

                if (now_ns >= deadline_ns || is_due(waiting->sources))
                        return 0;
                dbus_watch(waiting->dbus, fds + 2);
                answers_watch(waiting->answers, fds + n);
                set_slack(waiting, deadline_ns <= others_ns);
                if (ppoll(fds, n + ANSWERS_FDS, &left, NULL) < 0 && errno != EINTR)
                        return -errno;
                if (fds[0].revents)
                        return -EINTR;
                hear_sources(waiting->sources, fds + 3);
                dbus_serve(waiting->dbus, fds + 2);
                answers_serve(waiting->answers, fds + n, util_boottime_ns());
        }
        return err;
}

/* Skips the deadlines that passed during a suspend. */
static uint64_t next_deadline(uint64_t deadline_ns, uint64_t interval_ns)
{
        uint64_t now_ns = util_boottime_ns();

        deadline_ns += interval_ns;
        if (deadline_ns <= now_ns)
                deadline_ns += ((now_ns - deadline_ns) / interval_ns + 1) * interval_ns;
        return deadline_ns;
}

static int cannot_wait(const struct poller *poller, int err)
{
        log_error(poller->log, "cannot wait for the next poll: %s", util_reason(err));
        return err;
}

/* A poll may be late on a busy machine, but three in a row are not. */
#define INTERVALS_OF_PATIENCE 4

/*
 * Sends "READY=1", "STOPPING=1" or "WATCHDOG=1" to the service manager, if there is one, as sd_notify(3)
 * does. It does not use libsystemd, which would double the memory of a service without sd-bus.
 */
static void notify_manager(const char *state)
{
        const char *path = getenv("NOTIFY_SOCKET");
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -1;
        size_t length = path ? strlen(path) : 0;

        if (length < 2 || length >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
                return;
        memcpy(address.sun_path, path, length);
        if (path[0] == '@')
                address.sun_path[0] = '\0'; /* the abstract namespace */
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd >= 0)
                sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}

/*
 * Sends READY=1; a watchdog of the manager is set to some intervals of @interval_s, longer than the unit's, which is
 * better than an additional wake-up in each interval.
 */
static void notify_ready(double interval_s)
{
        const char *text = getenv("WATCHDOG_USEC");
        uint64_t wanted_us = (uint64_t)(INTERVALS_OF_PATIENCE * interval_s * 1e6), watchdog_us;
        char state[64] = "READY=1";

        if (text && util_parse_u64(text, &watchdog_us) == 0 && wanted_us > watchdog_us)
                snprintf(state, sizeof(state), "READY=1\nWATCHDOG_USEC=%" PRIu64, wanted_us);
        notify_manager(state);
}

int poller_run(struct poller *poller, double interval_s, uint64_t count)
{
        _cleanup_(waiting_close) struct waiting waiting = { .signal_fd = -1, .timer_fd = -1 };
        uint64_t interval_ns = (uint64_t)llround(interval_s * 1e9), deadline_ns = util_boottime_ns();
        int err = waiting_open(&waiting, poller, interval_s);

        if (err)
                return cannot_wait(poller, err);
        err = poller_poll(poller);
        notify_ready(interval_s);
        while (!err && (count == 0 || poller->polls < count)) {
                if (util_boottime_ns() >= deadline_ns)
                        deadline_ns = next_deadline(deadline_ns, interval_ns);
                err = wait_until(&waiting, deadline_ns);
                if (err && err != -EINTR)
                        return cannot_wait(poller, err);
                if (err == -EINTR) {
                        notify_manager("STOPPING=1");
                        return poller_poll(poller);
                }
                err = poller_poll(poller);
                answers_rest(poller->answers);
                dbus_polled(poller->dbus, &poller->sample.battery);
                notify_manager("WATCHDOG=1");
        }
        return err;
}
