/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Time alive of an app: the union of its processes' lives, so that a shell loop or a build, whose processes follow one
 * another, lives as long as they do together.
 *
 * A process that existed before and exists now lived for the whole interval, and so did its app. The begin of other
 * processes is known, and their end if the collector is notified of ends. If it is not, an app that had a process at
 * both ends of the interval counts as alive in between; the last moments of an app that had none at the end are
 * unknown, as is its usage in them.
 *
 * The kernel may report an end seconds late (process-table-private.h). The life of such a process in the interval
 * before counts in this one, as far as it was in the last gap of its app's life there.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interval-private.h"
#include "util/util.h"

static int add_life(struct held_table *table, struct live_app *app, uint64_t from_ns, uint64_t until_ns)
{
        int err = until_ns > from_ns ? util_grow(&table->lives, &table->lives_capacity, table->n_lives + 1,
                                                 sizeof(*table->lives)) : 0;

        if (!err && until_ns > from_ns)
                table->lives[table->n_lives++] = (struct life){ app, from_ns, until_ns };
        return err;
}

static bool was_there_in_part(const struct held *held)
{
        return held->fresh || held->now->ended_ns > 0;
}

static bool lived_throughout(const struct live_app *app)
{
        return app->n > app->n_leaving || (app->lost_one && app->n_there > 0);
}

/* Adds the life of a process whose end was reported late, within the gap; a new app was in the gap all the time. */
static int add_late(struct held_table *table, const struct held *held, const struct sample *before)
{
        const struct process *process = held->now;
        const struct live_app *app = held->app;
        uint64_t from_ns = MAX(table->earlier_ns, app->gap_from_ns);
        uint64_t until_ns = app->gap_until_ns ? app->gap_until_ns : before->boottime_ns;

        if (!held->fresh || process->ended_ns == 0 || process->began_ns == 0)
                return 0;
        return add_life(table, held->app, MAX(from_ns, process->began_ns), MIN(until_ns, process->ended_ns));
}

static int list_lives(const struct making *making)
{
        struct held_table *table = &making->maker->held;
        int err = 0;

        for (size_t i = 0; !err && i < making->now->n_processes; i++) {
                const struct held *held = table->listed[i];
                uint64_t from_ns, until_ns;

                if (!was_there_in_part(held) || lived_throughout(held->app))
                        continue;
                interval_life(making, held, &from_ns, &until_ns);
                err = add_life(table, held->app, from_ns, until_ns);
                if (!err)
                        err = add_late(table, held, making->before);
        }
        return err;
}

static int by_app_and_time(const void *a, const void *b)
{
        const struct life *one = a, *other = b;

        if (one->app != other->app)
                return one->app < other->app ? -1 : 1;
        return one->from_ns < other->from_ns ? -1 : one->from_ns > other->from_ns;
}

/* Adds up the lives of one app, which are ascending. Lives in the interval before do not affect gaps in this one. */
static void add_up(const struct making *making, const struct life *lives, size_t n, struct live_app *app)
{
        uint64_t start_ns = making->before->boottime_ns, covered_ns = 0;

        app->gap_from_ns = app->gap_until_ns = start_ns; /* no gap, if the app was alive all the time */
        for (size_t i = 0; i < n; i++) {
                if (lives[i].from_ns > MAX(covered_ns, start_ns)) {
                        app->gap_from_ns = MAX(covered_ns, start_ns);
                        app->gap_until_ns = lives[i].from_ns;
                }
                covered_ns = MAX(covered_ns, lives[i].from_ns);
                app->life_ns += lives[i].until_ns - MIN(covered_ns, lives[i].until_ns);
                covered_ns = MAX(covered_ns, lives[i].until_ns);
        }
        if (covered_ns >= making->now->boottime_ns)
                return;
        app->gap_from_ns = MAX(covered_ns, start_ns);
        app->gap_until_ns = making->now->boottime_ns;
}

static void add_up_all(const struct making *making)
{
        const struct held_table *table = &making->maker->held;
        size_t from = 0;

        for (size_t i = 1; i <= table->n_lives; i++) {
                if (i < table->n_lives && table->lives[i].app == table->lives[from].app)
                        continue;
                add_up(making, &table->lives[from], i - from, table->lives[from].app);
                from = i;
        }
}

/* Before any life is added: an app that was alive all the time has no gap; for others all the time is a gap. */
static void begin_gap(const struct making *making, struct live_app *app)
{
        app->life_ns = lived_throughout(app) ? making->awake_ns : 0;
        app->gap_from_ns = lived_throughout(app) ? making->now->boottime_ns : making->before->boottime_ns;
        app->gap_until_ns = making->now->boottime_ns;
}

int interval_measure_lives(struct making *making)
{
        struct held_table *table = &making->maker->held;
        int err;

        for (size_t i = 0; i < making->now->n_processes; i++)
                table->listed[i]->app->n_leaving += !table->listed[i]->fresh && table->listed[i]->now->ended_ns > 0;
        for (size_t i = 0; i < table->n_gone; i++)
                table->gone[i]->app->lost_one |= table->gone[i]->process.ended_ns == 0;
        err = list_lives(making);
        if (err)
                return err;
        if (table->n_lives > 1)
                qsort(table->lives, table->n_lives, sizeof(*table->lives), by_app_and_time);
        for (size_t i = 0; i < table->n_apps; i++)
                begin_gap(making, table->apps[i]);
        add_up_all(making);
        for (size_t i = 0; i < table->n_apps; i++)
                table->apps[i]->life_ns = MIN(table->apps[i]->life_ns, making->awake_ns);
        table->earlier_ns = making->before->boottime_ns;
        return 0;
}
