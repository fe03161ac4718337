/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Does what limits.ini wishes: less CPU time for apps in the background, or none. What is in front is never limited,
 * and nothing is while it is not known what is in front.
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
        struct limit_state state;    /* as it is in the file, where !dirty */
        bool dirty;
        uint64_t behind_ns[LIMIT_APPS_MAX]; /* boottime from when an app of @state was in the background; 0: it is not */
        struct apps *apps;           /* NULL: not needed yet */
        int root_fd;
        struct app_units units;
        struct unit_manager *manager;
        struct limit_guard guard;
        struct focus_state front;
        uint64_t next_ns;            /* boottime; UINT64_MAX: nothing to do before something changes */
};

/* Undoes what an agent left that was killed. Without a login's runtime folder there are no limits. */
void limiter_open(struct limiter *limiter, const struct log *log);
void limiter_close(struct limiter *limiter); /* nothing is limited then */
int limiter_fd(const struct limiter *limiter);    /* limits.ini may have changed; -1: there is none */
int limiter_guard_fd(const struct limiter *limiter); /* an error event: the guard has ended; -1: there is none */
void limiter_guard_ended(struct limiter *limiter);
uint64_t limiter_deadline(const struct limiter *limiter);

/* Somebody else is in front, maybe only for a moment: it is freed at once. */
void limiter_front(struct limiter *limiter, const struct focus_state *state);
/* That has lasted: what went to the background may be limited. Also where sound begins or ends. */
void limiter_changed(struct limiter *limiter, const struct focus_state *state);
void limiter_dispatch(struct limiter *limiter); /* limiter_fd() is readable */
void limiter_run(struct limiter *limiter, const struct pipewire_sound *sound, uint64_t now_ns);
