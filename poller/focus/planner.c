/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "planner.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <time.h>

#include "source/battery.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

#define LOOK_NS (5 * NS_PER_S)    /* checks for a charger and for the time; only while a plan runs */
#define RETRY_NS (30 * NS_PER_S)  /* time until a failed undo is tried again */

/* By what the supplies and the battery say. */
static bool is_fed(int root_fd, bool *charges)
{
        _cleanup_free_ struct battery_unit *units = NULL;
        struct battery battery = { 0 };
        size_t n = 0;

        if (battery_list(root_fd, &units, &n, NULL) == 0)
                battery_sum(units, n, &battery);
        *charges = battery.status == BATTERY_CHARGING;
        return *charges || battery_supply(root_fd) == SUPPLY_ONLINE;
}

/*
 * Has external power come since the plan began? A plan is refused beside external power, so that a supply that
 * was online then is one that stays online although it was unplugged.
 */
static bool is_fed_now(struct planner *planner)
{
        bool charges, fed = is_fed(planner->root_fd, &charges);

        planner->stays_online = planner->stays_online && fed;
        return charges || (fed && !planner->stays_online);
}

static int open_all(struct planner *planner)
{
        int err = paths_plan(&planner->wish_path);

        if (!err)
                err = paths_plan_made(&planner->made_path);
        if (!err)
                err = plan_undo_all(planner->log);
        if (!err)
                err = util_make_parent(planner->wish_path, 0700);
        if (err)
                return err;
        planner->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        planner->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        return planner->root_fd < 0 || planner->watch_fd < 0 ? -errno : 0;
}

/* A plan comes by rename. Its writer closes the file later, and to follow it twice would undo it in between. */
static void watch(struct planner *planner)
{
        _cleanup_free_ char *folder = strdup(planner->wish_path);

        if (!folder)
                return;
        *strrchr(folder, '/') = '\0';
        inotify_add_watch(planner->watch_fd, folder, IN_MOVED_TO | IN_DELETE | IN_ONLYDIR);
}

void planner_open(struct planner *planner, bool may, const struct log *log)
{
        int err;

        *planner = (struct planner){
                .log = log, .may = may, .watch_fd = -1, .root_fd = -1, .guard = { .fd = -1 }, .next_ns = UINT64_MAX,
        };
        if (!may)
                return;
        err = open_all(planner);
        if (err) {
                planner->may = false;
                if (err != -ENOENT)
                        log_warning(log, "joulecast advise --apply does not work here: %s", util_reason(err));
                return;
        }
        planner->settings = (struct plan_settings){ .log = log, .root_fd = planner->root_fd };
        watch(planner);
}

/* Undoes all changes and removes the plan. */
static void end(struct planner *planner, const char *why)
{
        int err;

        if (unlink(planner->wish_path) == 0 && why)
                log_info(planner->log, "the plan ends: %s", why);
        err = plan_undo(&planner->settings, planner->made_path);
        planner->runs = err != 0;
        planner->next_ns = err ? util_boottime_ns() + RETRY_NS : UINT64_MAX;
        plan_settings_close(&planner->settings);
        if (!err)
                limit_guard_stop(&planner->guard);
}

void planner_close(struct planner *planner)
{
        if (planner->may && planner->runs)
                end(planner, "joulecast-focus ends");
        plan_settings_close(&planner->settings);
        limit_guard_stop(&planner->guard);
        closep(&planner->watch_fd);
        closep(&planner->root_fd);
        free(planner->wish_path);
        free(planner->made_path);
}

int planner_fd(const struct planner *planner)
{
        return planner->watch_fd;
}

int planner_guard_fd(const struct planner *planner)
{
        return planner->guard.fd;
}

/* A program that killed the guard may kill this process next. */
void planner_guard_ended(struct planner *planner)
{
        limit_guard_stop(&planner->guard);
        waitpid(planner->guard.pid, NULL, 0);
        planner->guard.pid = 0;
        end(planner, "its guard has ended");
}

uint64_t planner_deadline(const struct planner *planner)
{
        return planner->next_ns;
}

/* Without a guard nothing may be changed. */
static void begin(struct planner *planner, struct plan_file *plan)
{
        int err;

        if (planner->guard.fd < 0 && planner->guard.pid > 0)
                waitpid(planner->guard.pid, NULL, 0); /* guard of the previous plan, which ends within a second */
        err = planner->guard.fd < 0 ? limit_guard_start(&planner->guard) : 0;
        planner->runs = true;
        planner->until_ns = plan->until_ns;
        planner->stays_online = is_fed(planner->root_fd, &(bool){ false });
        planner->next_ns = util_boottime_ns() + LOOK_NS;
        if (!err)
                err = plan_make(&planner->settings, planner->made_path, plan);
        plan_settings_close(&planner->settings);
        if (!err)
                return;
        log_warning(planner->log, "a plan cannot be followed: %s", util_reason(err));
        end(planner, "it failed");
}

static bool is_over(const struct planner *planner)
{
        return (int64_t)util_clock_ns(CLOCK_REALTIME) >= planner->until_ns;
}

void planner_dispatch(struct planner *planner)
{
        char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
        struct plan_file plan;
        bool ours = false;
        ssize_t n;
        int err;

        while ((n = read(planner->watch_fd, events, sizeof(events))) > 0) {
                for (const char *at = events; at < events + n;) {
                        const struct inotify_event *event = (const void *)at;

                        ours = ours || (event->len > 0 && strcmp(event->name, util_base_name(planner->wish_path)) == 0);
                        at += sizeof(*event) + event->len;
                }
        }
        if (!ours || !planner->may)
                return;
        err = plan_file_read(planner->wish_path, &plan);
        if (planner->runs) /* the next plan begins where this one began */
                err = plan_undo(&planner->settings, planner->made_path) ? -EBUSY : err;
        if (err)
                end(planner, NULL);
        else
                begin(planner, &plan);
}

void planner_run(struct planner *planner, uint64_t now_ns)
{
        if (planner->guard.fd < 0 && planner->guard.pid > 0 && waitpid(planner->guard.pid, NULL, WNOHANG) != 0)
                planner->guard.pid = 0;
        if (!planner->may || now_ns < planner->next_ns)
                return;
        planner->next_ns = planner->runs ? now_ns + LOOK_NS : UINT64_MAX;
        if (!planner->runs)
                return;
        if (access(planner->wish_path, F_OK) < 0)
                end(planner, NULL);
        else if (is_over(planner))
                end(planner, "its time has come");
        else if (is_fed_now(planner))
                end(planner, "external power is there");
}
