/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Makes the changes of a plan that `joulecast advise --apply` asks for. It undoes them at the plan's end
 * time, when external power is connected, when the plan is withdrawn, and when this process ends in any way.
 */

#include "limit-undo.h"
#include "plan-undo.h"

struct planner {
        const struct log *log;
        bool may;                   /* this process has the lock */
        char *wish_path, *made_path;
        int watch_fd;               /* inotify: folder of the plan files; -1: there is none */
        int root_fd;
        bool runs;                  /* its changes are in effect */
        int64_t until_ns;           /* realtime */
        bool stays_online;          /* a supply has been online since before the plan began */
        struct plan_settings settings;
        struct limit_guard guard;
        uint64_t next_ns;           /* boottime; UINT64_MAX: nothing to do before something changes */
};

/* Undoes changes left by an agent that was killed. @may: does this process have the lock? */
void planner_open(struct planner *planner, bool may, const struct log *log);
void planner_close(struct planner *planner); /* its changes are undone */
int planner_fd(const struct planner *planner);       /* the plan may have changed; -1: there is none */
int planner_guard_fd(const struct planner *planner); /* an error event: the guard has ended; -1: there is none */
void planner_guard_ended(struct planner *planner);
uint64_t planner_deadline(const struct planner *planner);
void planner_dispatch(struct planner *planner);      /* call when planner_fd() is readable */
void planner_run(struct planner *planner, uint64_t now_ns);
