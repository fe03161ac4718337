/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "limiter.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <time.h>

#include "limit-busy.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

#define WAIT_NS NS_PER_S /* time in the background before an app is limited, as people switch back and forth */
#define LOOK_NS (30 * NS_PER_S)  /* for new processes, and for changes of players */
#define NO_GUARD_NS (10 * NS_PER_S)
#define USEC_PER_PERCENT 10000   /* CPU time in us per second, for one percent of a core */

static const uint32_t watched = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF |
                                IN_MOVE_SELF;

static void save(struct limiter *limiter)
{
        int err = limit_state_write(limiter->state_path, &limiter->state);

        limiter->dirty = err != 0;
        if (err)
                log_warning(limiter->log, "%s: %s", limiter->state_path, util_reason(err));
}

/* ---- units ---- */

static int manager(struct limiter *limiter)
{
        return limiter->manager ? 0 : unit_manager_open(&limiter->manager);
}

/* The bus may have been restarted. */
static int failed(struct limiter *limiter, int err)
{
        if (err != -ENOENT && err != -ENOTSUP) {
                unit_manager_close(limiter->manager);
                limiter->manager = NULL;
        }
        return err;
}

static int undo(struct limiter *limiter, size_t at)
{
        struct limit_state *state = &limiter->state;
        int err = manager(limiter);

        if (!err)
                err = limit_undo_unit(limiter->manager, &state->units[at]);
        if (err) {
                log_warning(limiter->log, "the limit of %s cannot be undone: %s", state->units[at].unit,
                            strerror(-err));
                return failed(limiter, err);
        }
        state->units[at] = state->units[--state->n_units];
        limiter->dirty = true;
        return 0;
}

static void undo_all(struct limiter *limiter)
{
        for (size_t i = limiter->state.n_units; i-- > 0;)
                undo(limiter, i);
}

/* Can this session limit CPU time? The kernel's file exists only if the controller is delegated. */
static bool has_quota(const struct limiter *limiter, const char *cgroup)
{
        _cleanup_free_ char *path = NULL;

        return asprintf(&path, "sys/fs/cgroup%s/cpu.max", cgroup) >= 0 &&
               faccessat(limiter->root_fd, path, F_OK, 0) == 0;
}

/* Writes the change down before making it. @quota_us UINT64_MAX: the earlier value. */
static int apply(struct limiter *limiter, const char *unit, uint64_t quota_us, bool frozen)
{
        struct limit_state *state = &limiter->state;
        struct limit_unit *kept = limit_state_unit(state, unit);
        struct unit_now now;
        int err = manager(limiter);

        if (!err)
                err = unit_manager_read(limiter->manager, unit, &now);
        if (err)
                return failed(limiter, err);
        if (!kept) {
                if (now.frozen) /* somebody else froze it and will thaw it */
                        return -EBUSY;
                if (state->n_units == LIMIT_UNITS_MAX)
                        return -ENOSPC;
                kept = &state->units[state->n_units++];
                *kept = (struct limit_unit){ .quota_us = now.quota_us };
                snprintf(kept->unit, sizeof(kept->unit), "%s", unit);
                save(limiter);
                if (limiter->dirty) {
                        state->n_units--;
                        return -EIO;
                }
        }
        quota_us = MIN(quota_us, kept->quota_us);
        if (now.quota_us != quota_us)
                err = unit_manager_set_quota(limiter->manager, unit, quota_us);
        if (!err && quota_us != kept->quota_us && !has_quota(limiter, now.cgroup))
                err = -EOPNOTSUPP;
        if (frozen && !now.frozen)
                err = unit_manager_freeze(limiter->manager, unit);
        else if (!err && !frozen && now.frozen)
                err = unit_manager_thaw(limiter->manager, unit);
        return err ? failed(limiter, err) : 0;
}

/* ---- what is in front ---- */

struct front {
        char unit[APP_UNIT_MAX];
        char by_process[APP_ID_MAX], by_id[APP_ID_MAX];
};

/*
 * Finds the unit of the foreground app; false: unknown. It may also be known that no app is in the
 * foreground. An id that does not certainly identify a running app is unknown, as its app may be one that is
 * limited.
 */
static bool find_front(struct limiter *limiter, struct front *ret)
{
        const struct focus_state *state = &limiter->front;
        bool below;

        *ret = (struct front){ 0 };
        if (!state->known)
                return false;
        if (state->pid == 0 && !*state->app_id)
                return true;
        if (state->pid > 0 && !apps_is_bridge(limiter->apps, state->pid) &&
            app_units_of_process(limiter->root_fd, state->pid, ret->unit, &below) == 0 &&
            apps_find_pid(limiter->apps, state->pid, ret->by_process) < 0)
                ret->by_process[0] = '\0';
        if (*state->app_id && apps_find_front(limiter->apps, state->app_id, ret->by_id) < 0)
                ret->by_id[0] = '\0';
        return *ret->unit || *ret->by_id;
}

static bool is_front(const struct limiter *limiter, const struct front *front, const char *app)
{
        if (strcmp(app, front->by_process) == 0 || strcmp(app, front->by_id) == 0)
                return true;
        for (size_t i = 0; *front->unit && i < limiter->units.n; i++)
                if (strcmp(limiter->units.list[i].app, app) == 0 &&
                    strcmp(limiter->units.list[i].unit, front->unit) == 0)
                        return true;
        return false;
}

static bool unit_is_front(const struct limiter *limiter, const struct front *front, const char *unit)
{
        if (strcmp(unit, front->unit) == 0)
                return true;
        for (size_t i = 0; i < limiter->units.n; i++)
                if (strcmp(limiter->units.list[i].unit, unit) == 0 &&
                    is_front(limiter, front, limiter->units.list[i].app))
                        return true;
        return false;
}

void limiter_front(struct limiter *limiter, const struct focus_state *state)
{
        struct front front;
        bool known;

        limiter->front = *state;
        if (limiter->state.n_units == 0 || !limiter->apps)
                return;
        known = find_front(limiter, &front);
        for (size_t i = limiter->state.n_units; i-- > 0;)
                if (!known || unit_is_front(limiter, &front, limiter->state.units[i].unit))
                        undo(limiter, i);
        limiter->next_ns = 0;
}

void limiter_changed(struct limiter *limiter, const struct focus_state *state)
{
        limiter->front = *state;
        if (limiter->wishes.n > 0)
                limiter->next_ns = 0;
}

/* ---- wishes ---- */

static void read_wishes(struct limiter *limiter)
{
        _cleanup_free_ char *folder = strdup(limiter->wishes_path);

        if (folder && limiter->watch_fd >= 0) { /* the folder may have been replaced */
                *strrchr(folder, '/') = '\0';
                inotify_add_watch(limiter->watch_fd, folder, watched | IN_ONLYDIR);
        }
        if (limit_wishes_read(limiter->wishes_path, limiter->log, &limiter->wishes) < 0)
                limiter->wishes = (struct limit_wishes){ 0 };
        if (limiter->state.wishes_ns != limiter->wishes.written_ns)
                limiter->dirty = true;
        limiter->state.wishes_ns = limiter->wishes.written_ns;
        limiter->next_ns = 0;
}

void limiter_dispatch(struct limiter *limiter)
{
        char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
        bool ours = false;
        ssize_t n;

        while ((n = read(limiter->watch_fd, events, sizeof(events))) > 0) {
                for (const char *at = events; at < events + n;) {
                        const struct inotify_event *event = (const void *)at;

                        ours = ours || event->len == 0 || strcmp(event->name, util_base_name(limiter->wishes_path)) ==
                               0;
                        at += sizeof(*event) + event->len;
                }
        }
        if (ours)
                read_wishes(limiter);
}

/* Lists the apps with limits; the state of others is dropped. */
static void list_apps(struct limiter *limiter)
{
        struct limit_state *state = &limiter->state;

        for (size_t i = state->n_apps; i-- > 0;) {
                if (limit_wish_find(&limiter->wishes, state->apps[i].app))
                        continue;
                state->n_apps--;
                state->apps[i] = state->apps[state->n_apps];
                limiter->behind_ns[i] = limiter->behind_ns[state->n_apps];
                limiter->dirty = true;
        }
        for (size_t i = 0; i < limiter->wishes.n; i++) {
                struct limit_app *app = &state->apps[state->n_apps];

                if (limit_state_app(state, limiter->wishes.list[i].app) || state->n_apps == LIMIT_APPS_MAX)
                        continue;
                *app = (struct limit_app){ .effect = LIMIT_ABSENT, .since_ns = (int64_t)util_clock_ns(CLOCK_REALTIME) };
                snprintf(app->app, sizeof(app->app), "%s", limiter->wishes.list[i].app);
                limiter->behind_ns[state->n_apps++] = 0;
                limiter->dirty = true;
        }
}

static enum limit_effect look_at_units(const struct limiter *limiter, const char *app)
{
        enum limit_effect effect = LIMIT_ABSENT;

        for (size_t i = 0; i < limiter->units.n; i++) {
                if (strcmp(limiter->units.list[i].app, app) != 0)
                        continue;
                if (limiter->units.list[i].trouble != UNIT_FINE)
                        return LIMIT_REFUSED;
                effect = LIMIT_WAITS;
        }
        return effect;
}

struct target {
        const struct limit_wish *wish;
        bool cpu, frozen, failed;
        bool told; /* the failure was reported */
};

static void apply_to(struct limiter *limiter, struct target *target, const char *unit, bool *wanted)
{
        uint64_t quota_us = target->cpu ? (uint64_t)llround(target->wish->cpu_percent * USEC_PER_PERCENT) : UINT64_MAX;
        int err = apply(limiter, unit, quota_us, target->frozen);

        for (size_t i = 0; i < limiter->state.n_units; i++)
                if (strcmp(limiter->state.units[i].unit, unit) == 0 && (!err || err == -EOPNOTSUPP))
                        wanted[i] = true;
        if (!err || err == -ENOENT) /* it may just have ended */
                return;
        target->failed = true;
        if (!target->told)
                log_warning(limiter->log, "%s cannot be limited: %s", unit, err == -EOPNOTSUPP ?
                            "the session's service manager cannot do that on this machine" : strerror(-err));
}

/* Decides by the time in the background. Returns when to look again. */
static uint64_t decide(struct limiter *limiter, const struct limit_busy *busy, size_t at, uint64_t now_ns, bool *wanted,
                       enum limit_effect *effect)
{
        const char *app = limiter->state.apps[at].app;
        struct target target = {
                .wish = limit_wish_find(&limiter->wishes, app), .told = limiter->state.apps[at].effect == LIMIT_FAILED,
        };
        uint64_t behind_ns, freeze_ns = (uint64_t)(target.wish->freeze_after_s * (double)NS_PER_S),
                 next_ns = UINT64_MAX;
        bool is_busy = false;

        if (limiter->behind_ns[at] == 0)
                limiter->behind_ns[at] = now_ns;
        behind_ns = now_ns - limiter->behind_ns[at];
        if (behind_ns < WAIT_NS)
                return limiter->behind_ns[at] + WAIT_NS;
        target.cpu = target.wish->cpu_percent > 0;
        target.frozen = freeze_ns > 0 && behind_ns >= freeze_ns;
        if (freeze_ns > 0 && !target.frozen)
                next_ns = limiter->behind_ns[at] + freeze_ns;
        for (size_t i = 0; i < limiter->units.n; i++)
                if (strcmp(limiter->units.list[i].app, app) == 0)
                        is_busy = is_busy || limit_busy_unit(limiter->root_fd, busy, &limiter->units,
                                                             limiter->units.list[i].unit);
        if (target.frozen && is_busy) {
                target.frozen = false;
                *effect = LIMIT_BUSY;
        } else if (target.frozen) {
                *effect = LIMIT_FROZEN;
        } else if (target.cpu) {
                *effect = LIMIT_CPU;
        }
        for (size_t i = 0; (target.cpu || target.frozen) && i < limiter->units.n; i++)
                if (strcmp(limiter->units.list[i].app, app) == 0)
                        apply_to(limiter, &target, limiter->units.list[i].unit, wanted);
        if (target.failed)
                *effect = LIMIT_FAILED;
        return next_ns;
}

static void tell(struct limiter *limiter, size_t at, enum limit_effect effect)
{
        struct limit_app *app = &limiter->state.apps[at];

        if (app->effect == effect)
                return;
        app->effect = effect;
        app->since_ns = (int64_t)util_clock_ns(CLOCK_REALTIME);
        limiter->dirty = true;
}

static uint64_t do_wishes(struct limiter *limiter, const struct limit_busy *busy, uint64_t now_ns)
{
        bool wanted[LIMIT_UNITS_MAX] = { false };
        uint64_t next_ns = now_ns + LOOK_NS;
        struct front front;
        bool known = find_front(limiter, &front);

        for (size_t i = 0; i < limiter->state.n_apps; i++) {
                const char *app = limiter->state.apps[i].app;
                enum limit_effect effect = look_at_units(limiter, app);

                if (effect == LIMIT_WAITS && !known)
                        effect = LIMIT_UNSEEN;
                else if (effect == LIMIT_WAITS && is_front(limiter, &front, app))
                        effect = LIMIT_FRONT;
                if (effect == LIMIT_WAITS)
                        next_ns = MIN(next_ns, decide(limiter, busy, i, now_ns, wanted, &effect));
                else
                        limiter->behind_ns[i] = 0;
                tell(limiter, i, effect);
        }
        for (size_t i = limiter->state.n_units; i-- > 0;)
                if (!wanted[i])
                        undo(limiter, i); /* moves the last one, which was handled already, to this index */
        return next_ns;
}

/* ---- the agent ---- */

static int prepare(struct limiter *limiter)
{
        if (limiter->guard.fd < 0) {
                int err = limit_guard_start(&limiter->guard);

                if (err)
                        return err;
        }
        return limiter->apps ? 0 : apps_new(limiter->root_fd, NULL, &limiter->apps);
}

static void rest(struct limiter *limiter)
{
        undo_all(limiter);
        list_apps(limiter);
        if (limiter->dirty)
                save(limiter);
        if (limiter->state.n_units > 0)
                return;
        limit_guard_stop(&limiter->guard);
        app_units_clear(&limiter->units);
        apps_free(limiter->apps);
        limiter->apps = NULL;
        unit_manager_close(limiter->manager);
        limiter->manager = NULL;
}

void limiter_run(struct limiter *limiter, const struct pipewire_sound *sound, uint64_t now_ns)
{
        struct limit_busy busy = { 0 };
        int err;

        if (limiter->lock_fd < 0 || now_ns < limiter->next_ns)
                return;
        if (limiter->guard.fd < 0 && limiter->guard.pid > 0 && waitpid(limiter->guard.pid, NULL, WNOHANG) != 0)
                limiter->guard.pid = 0;
        if (limiter->wishes.n == 0) {
                rest(limiter);
                limiter->next_ns = limiter->state.n_units > 0 || limiter->guard.pid > 0 ? now_ns + NO_GUARD_NS :
                                   UINT64_MAX;
                return;
        }
        list_apps(limiter);
        err = prepare(limiter);
        if (!err)
                err = app_units_read(limiter->apps, limiter->root_fd, getuid(), &limiter->units);
        if (!err)
                err = limit_busy_read(limiter->root_fd, sound, &busy);
        if (err) { /* without a guard nothing may be limited */
                log_warning(limiter->log, "apps cannot be limited now: %s", strerror(-err));
                undo_all(limiter);
                limiter->next_ns = now_ns + NO_GUARD_NS;
        } else {
                limiter->next_ns = do_wishes(limiter, &busy, now_ns);
        }
        limit_busy_clear(&busy);
        if (limiter->dirty)
                save(limiter);
}

int limiter_fd(const struct limiter *limiter)
{
        return limiter->watch_fd;
}

int limiter_guard_fd(const struct limiter *limiter)
{
        return limiter->guard.fd;
}

void limiter_guard_ended(struct limiter *limiter)
{
        limit_guard_stop(&limiter->guard);
        waitpid(limiter->guard.pid, NULL, 0);
        limiter->guard.pid = 0;
        limiter->next_ns = 0;
}

uint64_t limiter_deadline(const struct limiter *limiter)
{
        return limiter->lock_fd < 0 ? UINT64_MAX : limiter->next_ns;
}

static int open_all(struct limiter *limiter)
{
        int err = limit_state_path(LIMIT_STATE, &limiter->state_path);

        if (!err)
                err = paths_limits(&limiter->wishes_path);
        for (int i = 0; !err && limiter->lock_fd < 0 && i < 100; i++) { /* a guard may still be undoing limits */
                if (i > 0)
                        usleep(20000);
                limiter->lock_fd = limit_state_lock();
        }
        if (!err && limiter->lock_fd < 0)
                err = limiter->lock_fd;
        if (!err)
                err = limit_undo_all(limiter->log);
        if (!err)
                err = util_make_parent(limiter->wishes_path, 0700);
        if (err)
                return err;
        limiter->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        limiter->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        return limiter->root_fd < 0 || limiter->watch_fd < 0 ? -errno : 0;
}

void limiter_open(struct limiter *limiter, const struct log *log)
{
        int err;

        *limiter = (struct limiter){
                .log = log, .lock_fd = -1, .watch_fd = -1, .root_fd = -1, .guard = { .fd = -1 }, .next_ns = UINT64_MAX,
        };
        err = open_all(limiter);
        if (err) {
                if (err != -ENOENT) /* there is no login or no home */
                        log_warning(log, "joulecast limit does not work here: %s", util_reason(err));
                closep(&limiter->lock_fd);
                limiter->lock_fd = -1;
                return;
        }
        read_wishes(limiter);
}

void limiter_close(struct limiter *limiter)
{
        if (limiter->lock_fd >= 0) {
                limiter->wishes.n = 0;
                undo_all(limiter);
                list_apps(limiter);
                save(limiter);
        }
        limit_guard_stop(&limiter->guard);
        unit_manager_close(limiter->manager);
        app_units_clear(&limiter->units);
        apps_free(limiter->apps);
        closep(&limiter->lock_fd);
        closep(&limiter->watch_fd);
        closep(&limiter->root_fd);
        free(limiter->state_path);
        free(limiter->wishes_path);
}
