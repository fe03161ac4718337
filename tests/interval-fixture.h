/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The samples of a machine one after another, as a test writes them, and the rows of the interval between
 * two: what the tests of interval.c share.
 */

#include <errno.h>

#include "check.h"
#include "interval/interval.h"
#include "util/tuning.h"
#include "util/units.h"

#define S NS_PER_S

struct fixture {
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        uint64_t boottime_ns;
        uint64_t monotonic_ns;
        int64_t realtime_ns;
};

static inline void setup(struct fixture *f)
{
        *f = (struct fixture){ .boottime_ns = 1000 * S, .monotonic_ns = 900 * S, .realtime_ns = 5000000 * (int64_t)S };
        check_int(interval_maker_new(&f->maker), 0);
}

static inline void teardown(struct fixture *f)
{
        interval_maker_free(f->maker);
        sample_clear(&f->sample);
        interval_clear(&f->interval);
}

/* Starts a sample @seconds after the one before. */
static inline struct sample *after(struct fixture *f, double seconds)
{
        uint64_t ns = (uint64_t)(seconds * 1e9);

        sample_reset(&f->sample);
        f->boottime_ns += ns;
        f->monotonic_ns += ns;
        f->realtime_ns += (int64_t)ns;
        f->sample.boottime_ns = f->boottime_ns;
        f->sample.monotonic_ns = f->monotonic_ns;
        f->sample.realtime_ns = f->realtime_ns;
        f->sample.have = SAMPLE_PROCESSES;
        strcpy(f->sample.boot_id, "a boot");
        return &f->sample;
}

static inline struct process *process(struct sample *sample, pid_t pid, uint64_t start_time, const char *app,
                                      uint64_t cpu_ns)
{
        struct process *process = sample_add_process(sample, false);

        process->pid = pid;
        process->start_time = start_time;
        process->uid = 1000;
        process->have = USAGE_CPU | USAGE_DISK;
        process->cpu_ns = cpu_ns;
        snprintf(process->app, sizeof(process->app), "%s", app);
        return process;
}

static inline void opp(struct sample *sample, uint32_t policy, uint32_t khz, uint64_t time_ns)
{
        *sample_add_opp(sample) = (struct opp){ .policy = policy, .khz = khz, .time_ns = time_ns };
        sample->have |= SAMPLE_OPPS;
}

static inline void core(struct sample *sample, uint32_t cpu, uint32_t policy, uint64_t busy_ns)
{
        *sample_add_core(sample) = (struct core){ .cpu = cpu, .policy = policy, .busy_ns = busy_ns };
        sample->have |= SAMPLE_CORES;
}

static inline void screen(struct sample *sample, const char *app, bool on, uint32_t brightness)
{
        sample->screen = (struct screen_event){ .foreground_known = app != NULL, .screen_known = true,
                                                .screen_on = on, .brightness = brightness };
        if (app)
                strcpy(sample->screen.app, app);
        sample->have |= SAMPLE_SCREEN | (app ? SAMPLE_FOREGROUND : 0);
}

static inline void event(struct sample *sample, uint64_t boottime_ns, const char *app, bool on,
                         uint32_t brightness)
{
        struct screen_event *event = sample_add_event(sample);

        *event = (struct screen_event){ .boottime_ns = boottime_ns, .foreground_known = app != NULL,
                                        .screen_known = true, .screen_on = on, .brightness = brightness };
        if (app)
                strcpy(event->app, app);
}

static inline int poll(struct fixture *f)
{
        return interval_make(f->maker, &f->sample, &f->interval);
}

static const struct interval_row *row(const struct fixture *f, const char *app, enum app_state state)
{
        static const struct interval_row none = { .app = "(none)" };

        for (size_t i = 0; i < f->interval.n_rows; i++)
                if (strcmp(f->interval.rows[i].app, app) == 0 && f->interval.rows[i].state == state)
                        return &f->interval.rows[i];
        return &none;
}

static inline uint64_t active(const struct fixture *f, const char *app, enum app_state state)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < f->interval.n_rows; i++)
                if (strcmp(f->interval.rows[i].app, app) == 0 && f->interval.rows[i].state == state)
                        sum += f->interval.rows[i].active_ns;
        return sum;
}

static inline bool absent(const struct fixture *f, const char *app, enum app_state state)
{
        return strcmp(row(f, app, state)->app, app) != 0;
}

/* It has a row because it was alive, and used nothing. */
static inline bool idle(const struct fixture *f, const char *app, enum app_state state)
{
        return !absent(f, app, state) && usage_is_zero(&row(f, app, state)->usage);
}

static inline uint64_t busy(const struct fixture *f, const char *app)
{
        return usage_busy_ns(&row(f, app, STATE_BACKGROUND)->usage) +
               usage_busy_ns(&row(f, app, STATE_FOREGROUND)->usage);
}
