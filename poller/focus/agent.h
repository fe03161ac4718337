/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Chooses one back-end, waits until its reports are stable, and sends them to the service, together with the
 * players of sound and the screen's refresh rate.
 */

#include <signal.h>

#include "backoff.h"
#include "backend.h"
#include "limiter.h"
#include "planner.h"
#include "sender.h"
#include "warner.h"

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

/* Tries the back-ends in order. 0; -ENODEV: none works here, which is logged once. */
int agent_choose(struct agent *agent);
void agent_close_backend(struct agent *agent);
/*
 * The event loop. 0: @stop_fd became readable; or a negative errno. @stops: the signals that @stop_fd reports.
 * They are blocked only while the loop waits and when it returns, so that they still end a process that hangs
 * in a desktop's library.
 */
int agent_run(struct agent *agent, int stop_fd, const sigset_t *stops);

void agent_report(struct focus_sink *sink, const struct focus_state *state);
/* Publishes the pending state if it has lasted SETTLE_NS. */
void agent_settle(struct agent *agent, uint64_t now_ns);
