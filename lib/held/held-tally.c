/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "held-tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

struct holder {
        char app[APP_ID_MAX]; /* "": the holder is identified by its process */
        pid_t pid;            /* 0: identified by its app, and no process of it was seen yet */
        uint64_t start_time; /* the process with this pid in a sample; 0: none yet */
        bool holds[HELD_PARTS];
        bool seen;
        uint64_t on_ns[HELD_PARTS];
};

static const enum amount amounts[HELD_PARTS] = {
        [HELD_GPS] = AMOUNT_gps_on_ns, [HELD_AUDIO] = AMOUNT_audio_on_ns, [HELD_CAMERA] = AMOUNT_camera_on_ns,
};

int holders_add(struct holders *holders, pid_t pid)
{
        if (pid <= 0) {
                holders->nobodys++;
                return 0;
        }
        for (size_t i = 0; i < holders->n; i++)
                if (holders->pids[i] == pid)
                        return 0;
        if (util_grow(&holders->pids, &holders->capacity, holders->n + 1, sizeof(*holders->pids)) < 0)
                return -ENOMEM;
        holders->pids[holders->n++] = pid;
        return 0;
}

int holders_add_app(struct holders *holders, const char *app)
{
        for (size_t i = 0; i < holders->n_apps; i++)
                if (strcmp(holders->apps[i], app) == 0)
                        return 0;
        if (util_grow(&holders->apps, &holders->apps_capacity, holders->n_apps + 1, sizeof(*holders->apps)) < 0)
                return -ENOMEM;
        snprintf(holders->apps[holders->n_apps++], APP_ID_MAX, "%s", app);
        return 0;
}

void holders_clear(struct holders *holders)
{
        free(holders->pids);
        free(holders->apps);
        *holders = (struct holders){ 0 };
}

void held_tally_clear(struct held_tally *tally)
{
        free(tally->list);
        *tally = (struct held_tally){ 0 };
}

static void share_until(struct held_tally *tally, enum held_part part, uint64_t now_ns)
{
        uint64_t ns = now_ns - MIN(now_ns, tally->parts[part].since_ns);
        size_t n = tally->parts[part].n_holders;

        tally->parts[part].since_ns += ns;
        if (n == 0 || !tally->parts[part].known)
                return;
        tally->parts[part].on_ns += ns;
        for (size_t i = 0; i < tally->n; i++)
                if (tally->list[i].holds[part])
                        tally->list[i].on_ns[part] += ns / n;
}

/* Notes a holder of the part, given by @pid or, if that is 0, by @app. */
static int hold(struct held_tally *tally, enum held_part part, pid_t pid, const char *app)
{
        struct holder *holder = NULL;

        for (size_t i = 0; !holder && i < tally->n; i++)
                if (strcmp(tally->list[i].app, app) == 0 && (*app || tally->list[i].pid == pid))
                        holder = &tally->list[i];
        if (!holder) {
                if (util_grow(&tally->list, &tally->capacity, tally->n + 1, sizeof(*tally->list)) < 0)
                        return -ENOMEM;
                holder = &tally->list[tally->n++];
                *holder = (struct holder){ .pid = pid };
                snprintf(holder->app, sizeof(holder->app), "%s", app);
        }
        holder->holds[part] = true;
        return 0;
}

int held_tally_set(struct held_tally *tally, enum held_part part, const struct holders *holders, uint64_t now_ns)
{
        int err = 0;

        share_until(tally, part, now_ns);
        for (size_t i = 0; i < tally->n; i++)
                tally->list[i].holds[part] = false;
        tally->parts[part].known = holders;
        tally->parts[part].n_holders = 0;
        for (size_t i = 0; holders && !err && i < holders->n; i++)
                err = hold(tally, part, holders->pids[i], "");
        for (size_t i = 0; holders && !err && i < holders->n_apps; i++)
                err = hold(tally, part, 0, holders->apps[i]);
        if (holders)
                tally->parts[part].n_holders = holders->n + holders->n_apps + holders->nobodys;
        return err;
}

/*
 * Adds a holder's times to the process that had its pid when a sample first showed it. Another process with
 * the same pid begins at 0.
 */
static void fill_process(struct held_tally *tally, uint32_t known, struct process *process)
{
        process->have |= known;
        for (size_t i = 0; i < tally->n; i++) {
                struct holder *holder = &tally->list[i];

                if (holder->pid == 0 && process->ended_ns == 0 && strcmp(holder->app, process->app) == 0)
                        holder->pid = process->pid;
                if (holder->pid != process->pid || (process->ended_ns > 0 && holder->start_time != process->start_time))
                        continue;
                if (holder->start_time > 0 && holder->start_time != process->start_time)
                        memset(holder->on_ns, 0, sizeof(holder->on_ns));
                holder->start_time = process->start_time;
                holder->seen = process->ended_ns == 0;
                for (enum held_part part = 0; part < HELD_PARTS; part++)
                        process->amount[amounts[part]] += holder->on_ns[part];
        }
}

/* A process missing from a partial sample is alive and unchanged. */
static bool is_gone(const struct sample *sample, const struct holder *holder)
{
        bool gone = !sample->partial && !holder->seen;

        for (size_t i = 0; !gone && i < sample->n_gone; i++)
                gone = sample->gone[i].pid == holder->pid && sample->gone[i].start_time == holder->start_time;
        return gone;
}

static void forget_gone(struct held_tally *tally, const struct sample *sample)
{
        size_t kept = 0;

        for (size_t i = 0; i < tally->n; i++) {
                struct holder *holder = &tally->list[i];
                bool holds = false, gone = is_gone(sample, holder);

                if (gone && *holder->app && holder->pid > 0) { /* another process of the app begins at 0 */
                        holder->pid = 0;
                        holder->start_time = 0;
                        memset(holder->on_ns, 0, sizeof(holder->on_ns));
                }
                for (enum held_part part = 0; part < HELD_PARTS; part++)
                        holds = holds || holder->holds[part];
                if (holds || !gone)
                        tally->list[kept++] = *holder;
        }
        tally->n = kept;
}

int held_tally_fill(struct held_tally *tally, struct sample *sample)
{
        uint32_t known = 0;

        for (enum held_part part = 0; part < HELD_PARTS; part++) {
                share_until(tally, part, sample->monotonic_ns);
                sample->amount[amounts[part]] = tally->parts[part].on_ns;
                if (tally->parts[part].known)
                        known |= amount_kinds[amounts[part]].have;
        }
        sample->have |= known;
        if (!(sample->have & SAMPLE_PROCESSES))
                return 0;
        for (size_t i = 0; i < tally->n; i++)
                tally->list[i].seen = false;
        for (size_t i = 0; i < sample->n_processes; i++)
                fill_process(tally, known, &sample->processes[i]);
        forget_gone(tally, sample);
        return 0;
}
