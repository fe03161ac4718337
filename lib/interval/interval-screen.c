/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Screen time is split where it changes, not where we look: each segment between two events goes to the app
 * that had the foreground in it, at the brightness it had. The segments tile the interval, so apps and nobody
 * sum to the time that the screen was on, to the nanosecond.
 */

#include <errno.h>
#include <string.h>

#include "interval-private.h"
#include "util/units.h"
#include "util/util.h"

void screen_split_clear(struct screen_split *split)
{
        for (size_t i = 0; i < split->n; i++)
                usage_clear(&split->shares[i].usage);
        free(split->shares);
        *split = (struct screen_split){ 0 };
}

const struct screen_share *screen_split_find(const struct screen_split *split, const char *app)
{
        for (size_t i = 1; i < split->n; i++)
                if (strcmp(split->shares[i].app, app) == 0)
                        return &split->shares[i];
        return NULL;
}

static struct screen_share *share_of(struct screen_split *split, const char *app)
{
        struct screen_share *share;

        for (size_t i = 0; i < split->n; i++)
                if (strcmp(split->shares[i].app, app) == 0)
                        return &split->shares[i];
        if (util_grow(&split->shares, &split->capacity, split->n + 1, sizeof(*split->shares)) < 0)
                return NULL;
        share = &split->shares[split->n++];
        *share = (struct screen_share){ 0 };
        snprintf(share->app, sizeof(share->app), "%s", app);
        return share;
}

/* The state of the screen from one moment on, as far as @sample's sources know it. */
static struct screen_event state_of(const struct sample *sample)
{
        struct screen_event state = sample->screen;

        state.boottime_ns = sample->boottime_ns;
        state.screen_known = state.screen_known && (sample->have & SAMPLE_SCREEN);
        state.foreground_known = state.foreground_known && (sample->have & SAMPLE_FOREGROUND);
        return state;
}

/* Calls @each for all segments in order. Events from outside the interval hold from its edge. */
static int walk(const struct sample *before, const struct sample *now, void *data,
                int (*each)(void *data, const struct screen_event *state, uint64_t length_ns))
{
        struct screen_event first = state_of(before);
        const struct screen_event *state = &first;
        uint64_t at = before->boottime_ns;
        int err;

        for (size_t i = 0; i < now->n_events; i++) {
                uint64_t until = MAX(at, MIN(now->events[i].boottime_ns, now->boottime_ns));

                err = each(data, state, until - at);
                if (err)
                        return err;
                state = &now->events[i];
                at = until;
        }
        return each(data, state, now->boottime_ns - at);
}

static bool is_on(const struct screen_event *state)
{
        return state->screen_known && state->screen_on;
}

/* Neither the panel nor a monitor is on: nobody can look at an app. */
static bool is_dark(const struct screen_event *state)
{
        return state->screen_known && !state->screen_on && !state->monitor_on;
}

struct screen_walk {
        struct screen_split *split;
        uint64_t on_ns, off_ns;       /* lengths in CLOCK_BOOTTIME ... */
        uint64_t awake_on, awake_off; /* ... and the same without suspend */
        uint64_t at_on, at_off;
        uint64_t unknown_on_ns;       /* the screen was on, for an unknown app */
        bool known_fg;
};

static int measure(void *data, const struct screen_event *state, uint64_t length_ns)
{
        struct screen_walk *walk = data;

        *(is_on(state) ? &walk->on_ns : &walk->off_ns) += length_ns;
        if (length_ns > 0 && !state->screen_known)
                walk->split->screen_known = false;
        if (length_ns > 0 && state->foreground_known)
                walk->known_fg = true;
        if (is_on(state) && !state->foreground_known)
                walk->unknown_on_ns += length_ns;
        return 0;
}

/* The part of a segment in which the machine was awake: suspend falls into dark segments first. */
static uint64_t awake_part(uint64_t *at, uint64_t length_ns, uint64_t awake, uint64_t total)
{
        uint64_t start = mul_div(*at, awake, total);

        *at += length_ns;
        return mul_div(*at, awake, total) - start;
}

static int assign(void *data, const struct screen_event *state, uint64_t length_ns)
{
        struct screen_walk *walk = data;
        bool on = is_on(state);
        struct screen_share *share;

        length_ns = on ? awake_part(&walk->at_on, length_ns, walk->awake_on, walk->on_ns)
                       : awake_part(&walk->at_off, length_ns, walk->awake_off, walk->off_ns);
        if (length_ns == 0 || is_dark(state))
                return 0;
        share = share_of(walk->split, state->foreground_known ? state->app : "");
        if (!share)
                return -ENOMEM;
        if (*share->app)
                share->foreground_ns += length_ns;
        return on ? usage_add_screen(&share->usage, state->brightness, length_ns) : 0;
}

int screen_split_make(const struct sample *before, const struct sample *now, uint64_t awake_ns,
                      struct screen_split *ret)
{
        struct screen_walk measured = { .split = ret };

        for (size_t i = 0; i < ret->n; i++)
                usage_clear(&ret->shares[i].usage);
        ret->n = 0;
        ret->screen_known = (before->have & now->have & SAMPLE_SCREEN) != 0;
        if (!share_of(ret, ""))
                return -ENOMEM;
        walk(before, now, &measured, measure);
        ret->foreground_known = measured.known_fg || (ret->screen_known && measured.unknown_on_ns == 0);
        measured.awake_on = MIN(measured.on_ns, awake_ns);
        measured.awake_off = MIN(measured.off_ns, awake_ns - measured.awake_on);
        return walk(before, now, &measured, assign);
}
