/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Applies limits.ini: less CPU time for apps in the background, or none. The foreground app is never limited,
 * and no app is limited while the foreground app is unknown.
 */

#include "app/app-units.h"
#include "backend.h"
#include "backoff.h"
#include "limit-undo.h"
#include "limit/limit-state.h"
#include "limit/limit-wish.h"
#include "pipewire.h"

struct limiter {
        const struct log *log;
        int lock_fd;                 /* -1: this process must not limit anything */
        char *state_path, *wishes_path;
        int watch_fd;                /* inotify: the folder of limits.ini */
        struct limit_wishes wishes;
        struct limit_state state;    /* as in the file, if !dirty */
        bool dirty;
        /* boottime since which an app of @state has been in the background; 0: it is not */
        uint64_t behind_ns[LIMIT_APPS_MAX];
        struct apps *apps;           /* NULL: not needed yet */
        int root_fd;
        struct app_units units;
        struct unit_manager *manager;
        struct limit_guard guard;
        struct focus_state front;
        uint64_t next_ns;            /* boottime; UINT64_MAX: nothing to do before something changes */
};

/* Undoes limits left by an agent that was killed. Without a login's runtime folder there are no limits. */
void limiter_open(struct limiter *limiter, const struct log *log);
void limiter_close(struct limiter *limiter); /* nothing is limited afterwards */
int limiter_fd(const struct limiter *limiter);    /* limits.ini may have changed; -1: there is none */
int limiter_guard_fd(const struct limiter *limiter); /* an error event: the guard has ended; -1: there is none */
void limiter_guard_ended(struct limiter *limiter);
uint64_t limiter_deadline(const struct limiter *limiter);

/* Another app is in the foreground, perhaps only for a moment: its limits are removed at once. */
void limiter_front(struct limiter *limiter, const struct focus_state *state);
/*
 * The foreground has been stable: apps in the background may be limited. Also called when sound begins or
 * ends.
 */
void limiter_changed(struct limiter *limiter, const struct focus_state *state);
void limiter_dispatch(struct limiter *limiter); /* call when limiter_fd() is readable */
void limiter_run(struct limiter *limiter, const struct pipewire_sound *sound, uint64_t now_ns);
