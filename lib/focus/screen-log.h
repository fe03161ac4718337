/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The changes of the screen since the last poll. The foreground app, the state of the screen and the session's lock
 * come from three sources, in any order of time; this merges them to one list of states, ascending by time. Uses no
 * clock and no file.
 */

#include "source/sample.h"

struct screen_inputs {
        bool foreground_known;
        char app[APP_ID_MAX]; /* "": no app */
        bool screen_known, screen_on, monitor_on; /* see struct screen_event */
        uint32_t brightness;
        bool locked; /* or suspended: no app is in the foreground */
};

struct screen_change {
        uint64_t boottime_ns;
        struct screen_inputs inputs; /* the state from then on */
};

struct screen_log {
        struct screen_inputs before; /* at the last poll */
        struct screen_change *changes;
        size_t n, capacity;
};

/*
 * Each state is valid from @boottime_ns until the next call of the same function. Calls without a change are
 * ignored.
 */
int screen_log_foreground(struct screen_log *log, uint64_t boottime_ns, bool known, const char *app);
int screen_log_screen(struct screen_log *log, uint64_t boottime_ns, bool known, bool on, uint32_t brightness);
int screen_log_monitor(struct screen_log *log, uint64_t boottime_ns, bool on);
int screen_log_locked(struct screen_log *log, uint64_t boottime_ns, bool locked);

const struct screen_inputs *screen_log_now(const struct screen_log *log);

/* The state as a sample has it: no app in the foreground while locked, or while panel and monitors are off. */
void screen_inputs_compose(const struct screen_inputs *inputs, uint64_t boottime_ns,
                           struct screen_event *ret);

/* Moves the changes into @sample, with the current state and its SAMPLE_* bits. */
int screen_log_drain(struct screen_log *log, struct sample *sample);
void screen_log_clear(struct screen_log *log);
