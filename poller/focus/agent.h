/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Picks one back-end, lets its reports settle, and sends what stays. */

#include <signal.h>

#include "backoff.h"
#include "backend.h"
#include "sender.h"

/*
 * Between two windows there is often none for a moment, and some desktops tell everything twice. A change
 * that lasts this long is one; it counts from when it began.
 */
#define SETTLE_NS (150 * NS_PER_MS)
#define FIRST_STATE_NS (2 * NS_PER_S) /* a back-end that has said nothing by then is passed over */

struct agent {
        struct focus_sink sink; /* first */
        struct sender sender;
        const struct log *log;
        const char *wanted; /* --backend; NULL: any */
        bool print;         /* each published state as a line of JSON */

        const struct backend_ops *ops; /* NULL: none is chosen */
        struct backend *backend;
        struct backoff backoff; /* without a back-end: when to look for one; with a weak one: for a better one */
        char told[48];          /* whom the log names as chosen */
        bool reported;

        struct focus_state pending, published;
        uint64_t pending_since_ns, published_since_ns;
        bool settling;
};

/*
 * Tries the back-ends in order. 0; -ENODEV:
 * none of them works here (which is said once a failure changes).
 */
int agent_choose(struct agent *agent);
void agent_close_backend(struct agent *agent);
/*
 * Waits for what comes next and deals with it, for ever; a negative errno. @stop_fd: readable ends it with 0.
 * @stops: the signals that it tells; blocked while we wait, and at its return. In the library of a desktop that
 * hangs they arrive.
 */
int agent_run(struct agent *agent, int stop_fd, const sigset_t *stops);

void agent_report(struct focus_sink *sink, const struct focus_state *state);
/* Publishes a pending state whose time has come. */
void agent_settle(struct agent *agent, uint64_t now_ns);
