/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "screen-log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

enum part { PART_FOREGROUND, PART_SCREEN, PART_MONITOR, PART_LOCKED };

const struct screen_inputs *screen_log_now(const struct screen_log *log)
{
        return log->n > 0 ? &log->changes[log->n - 1].inputs : &log->before;
}

static void copy_part(struct screen_inputs *to, const struct screen_inputs *from, enum part part)
{
        switch (part) {
        case PART_FOREGROUND:
                to->foreground_known = from->foreground_known;
                memcpy(to->app, from->app, sizeof(to->app));
                break;
        case PART_SCREEN:
                to->screen_known = from->screen_known;
                to->screen_on = from->screen_on;
                to->brightness = from->brightness;
                break;
        case PART_MONITOR:
                to->monitor_on = from->monitor_on;
                break;
        case PART_LOCKED:
                to->locked = from->locked;
                break;
        }
}

static bool same_part(const struct screen_inputs *a, const struct screen_inputs *b, enum part part)
{
        switch (part) {
        case PART_FOREGROUND:
                return a->foreground_known == b->foreground_known &&
                       (!a->foreground_known || strcmp(a->app, b->app) == 0);
        case PART_SCREEN:
                return a->screen_known == b->screen_known &&
                       (!a->screen_known || (a->screen_on == b->screen_on && a->brightness == b->brightness));
        case PART_MONITOR:
                return a->monitor_on == b->monitor_on;
        default:
                return a->locked == b->locked;
        }
}

/*
 * The focus is reported with a delay, so a later change of brightness may be noted already. Insert the change at its
 * time, and copy its part into all later ones.
 */
static int note(struct screen_log *log, uint64_t boottime_ns, const struct screen_inputs *inputs,
                enum part part)
{
        const struct screen_inputs *before;
        size_t at = log->n;

        while (at > 0 && log->changes[at - 1].boottime_ns > boottime_ns)
                at--;
        before = at > 0 ? &log->changes[at - 1].inputs : &log->before;
        if (at == log->n && same_part(before, inputs, part))
                return 0;
        if (log->n >= SCREEN_CHANGES_MAX) {
                copy_part(&log->changes[log->n - 1].inputs, inputs, part);
                return 0;
        }
        if (util_grow(&log->changes, &log->capacity, log->n + 1, sizeof(*log->changes)) < 0)
                return -ENOMEM;
        before = at > 0 ? &log->changes[at - 1].inputs : &log->before;
        memmove(log->changes + at + 1, log->changes + at, (log->n - at) * sizeof(*log->changes));
        log->n++;
        log->changes[at].boottime_ns = boottime_ns;
        log->changes[at].inputs = *before;
        for (size_t i = at; i < log->n; i++)
                copy_part(&log->changes[i].inputs, inputs, part);
        return 0;
}

int screen_log_foreground(struct screen_log *log, uint64_t boottime_ns, bool known, const char *app)
{
        struct screen_inputs inputs = { .foreground_known = known };

        if (known)
                snprintf(inputs.app, sizeof(inputs.app), "%s", app);
        return note(log, boottime_ns, &inputs, PART_FOREGROUND);
}

int screen_log_screen(struct screen_log *log, uint64_t boottime_ns, bool known, bool on, uint32_t brightness)
{
        struct screen_inputs inputs = { .screen_known = known, .screen_on = on, .brightness = brightness };

        return note(log, boottime_ns, &inputs, PART_SCREEN);
}

int screen_log_monitor(struct screen_log *log, uint64_t boottime_ns, bool on)
{
        struct screen_inputs inputs = { .monitor_on = on };

        return note(log, boottime_ns, &inputs, PART_MONITOR);
}

int screen_log_locked(struct screen_log *log, uint64_t boottime_ns, bool locked)
{
        struct screen_inputs inputs = { .locked = locked };

        return note(log, boottime_ns, &inputs, PART_LOCKED);
}

void screen_inputs_compose(const struct screen_inputs *inputs, uint64_t boottime_ns, struct screen_event *ret)
{
        bool dark = inputs->screen_known && !inputs->screen_on && !inputs->monitor_on;

        *ret = (struct screen_event){
                .boottime_ns = boottime_ns,
                .foreground_known = inputs->foreground_known || inputs->locked || dark,
                .screen_known = inputs->screen_known,
                .screen_on = inputs->screen_on,
                .monitor_on = inputs->monitor_on,
                .brightness = inputs->brightness,
        };
        if (inputs->foreground_known && !inputs->locked && !dark)
                memcpy(ret->app, inputs->app, sizeof(ret->app));
}

int screen_log_drain(struct screen_log *log, struct sample *sample)
{
        for (size_t i = 0; i < log->n; i++) {
                struct screen_event *event = sample_add_event(sample);

                if (!event)
                        return -ENOMEM;
                screen_inputs_compose(&log->changes[i].inputs, log->changes[i].boottime_ns, event);
        }
        log->before = *screen_log_now(log);
        log->n = 0;
        screen_inputs_compose(&log->before, sample->boottime_ns, &sample->screen);
        if (sample->screen.screen_known)
                sample->have |= SAMPLE_SCREEN;
        if (sample->screen.foreground_known)
                sample->have |= SAMPLE_FOREGROUND;
        return 0;
}

void screen_log_clear(struct screen_log *log)
{
        free(log->changes);
        *log = (struct screen_log){ 0 };
}
