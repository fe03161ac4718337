/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What happened on the screen since the last poll, each change at its own
 * time. Who has the foreground, whether the screen is on, and whether the
 * session is locked come from three places, late or early; here they become
 * one ascending list of states. Pure: no clock, no file.
 */

#include "source/sample.h"

struct screen_inputs {
        bool foreground_known;
        char app[APP_ID_MAX]; /* "": nobody */
        bool screen_known, screen_on;
        uint32_t brightness;
        bool locked; /* nothing is in the foreground while the session is locked or the machine sleeps */
};

struct screen_change {
        uint64_t boottime_ns;
        struct screen_inputs inputs; /* from here on */
};

struct screen_log {
        struct screen_inputs before; /* at the last poll */
        struct screen_change *changes;
        size_t n, capacity;
};

/* Each holds from @boottime_ns on until the next of its kind; nothing is noted where nothing changes. */
int screen_log_foreground(struct screen_log *log, uint64_t boottime_ns, bool known, const char *app);
int screen_log_screen(struct screen_log *log, uint64_t boottime_ns, bool known, bool on, uint32_t brightness);
int screen_log_locked(struct screen_log *log, uint64_t boottime_ns, bool locked);

const struct screen_inputs *screen_log_now(const struct screen_log *log);

/* What a sample says of these inputs: nobody while locked, or off. */
void screen_inputs_compose(const struct screen_inputs *inputs, uint64_t boottime_ns,
                           struct screen_event *ret);

/* Moves the changes into @sample, with the state now and its SAMPLE_* bits. */
int screen_log_drain(struct screen_log *log, struct sample *sample);
void screen_log_clear(struct screen_log *log);
