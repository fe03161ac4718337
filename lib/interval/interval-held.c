/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The known processes of the samples so far, found by pid and start time, and their apps. A process that a sample
 * does not list is not touched.
 */

#include <errno.h>
#include <string.h>

#include "interval-private.h"
#include "util/util.h"

static size_t slot_of(const struct held_table *table, pid_t pid)
{
        return ((uint32_t)pid * UINT32_C(2654435761)) & (table->n_slots - 1);
}

struct held *held_find_pid(const struct held_table *table, pid_t pid, const struct held *after)
{
        struct held *first = table->n_slots ? table->slots[slot_of(table, pid)] : NULL;
        struct held *held = after ? after->next : first;

        while (held && held->process.pid != pid)
                held = held->next;
        return held;
}

/*
 * Finds a process that this sample did not list yet: a program that was replaced (exec) within the tick of its start
 * has the same identity as its successor.
 */
static struct held *find_untold(const struct held_table *table, pid_t pid, uint64_t start_time)
{
        struct held *held = held_find_pid(table, pid, NULL);

        while (held && (held->process.start_time != start_time || held->now || held->gone))
                held = held_find_pid(table, pid, held);
        return held;
}

static int make_slots(struct held_table *table)
{
        size_t wanted = MAX(table->n_slots, (size_t)256);
        struct held **old = table->slots, **slots;
        size_t n_old = table->n_slots;

        while (wanted < table->n + 1)
                wanted *= 2;
        if (wanted == table->n_slots)
                return 0;
        slots = calloc(wanted, sizeof(struct held *));
        if (!slots)
                return -ENOMEM;
        table->slots = slots;
        table->n_slots = wanted;
        for (size_t i = 0; i < n_old; i++)
                for (struct held *held = old[i], *next; held; held = next) {
                        size_t slot = slot_of(table, held->process.pid);

                        next = held->next;
                        held->next = slots[slot];
                        slots[slot] = held;
                }
        free(old);
        return 0;
}

static size_t hash_app(const char *app, uid_t uid)
{
        size_t hash = uid * (size_t)2654435761u + 2166136261u;

        for (; *app; app++)
                hash = (hash ^ (unsigned char)*app) * 16777619u;
        return hash ^ hash >> 15;
}

static int make_app_slots(struct held_table *table)
{
        size_t wanted = MAX(table->n_app_slots, (size_t)64);
        struct live_app **slots;

        while (wanted < table->n_apps + 1)
                wanted *= 2;
        if (wanted == table->n_app_slots)
                return 0;
        slots = calloc(wanted, sizeof(struct live_app *));
        if (!slots)
                return -ENOMEM;
        free(table->app_slots);
        table->app_slots = slots;
        table->n_app_slots = wanted;
        for (size_t i = 0; i < table->n_apps; i++) {
                struct live_app **slot = &slots[hash_app(table->apps[i]->app, table->apps[i]->uid) & (wanted - 1)];

                table->apps[i]->next = *slot;
                *slot = table->apps[i];
        }
        return 0;
}

static bool is_app(const struct live_app *app, const struct process *process)
{
        return app->uid == process->uid && strcmp(app->app, process->app) == 0;
}

static struct live_app *app_of(struct held_table *table, const struct process *process)
{
        struct live_app *app, **slot;

        if (util_grow(&table->apps, &table->apps_capacity, table->n_apps + 1, sizeof(struct live_app *)) < 0 ||
            make_app_slots(table) < 0)
                return NULL;
        slot = &table->app_slots[hash_app(process->app, process->uid) & (table->n_app_slots - 1)];
        for (app = *slot; app; app = app->next)
                if (is_app(app, process))
                        return app;
        app = calloc(1, sizeof(*app));
        if (!app)
                return NULL;
        memcpy(app->app, process->app, sizeof(app->app));
        app->uid = process->uid;
        app->next = *slot;
        *slot = app;
        table->apps[table->n_apps++] = app;
        return app;
}

static void join(struct live_app *app, struct held *held)
{
        held->app = app;
        held->next_of_app = app->members;
        held->at_of_app = &app->members;
        if (held->next_of_app)
                held->next_of_app->at_of_app = &held->next_of_app;
        app->members = held;
}

static void leave(struct held *held)
{
        *held->at_of_app = held->next_of_app;
        if (held->next_of_app)
                held->next_of_app->at_of_app = held->at_of_app;
        held->app = NULL;
}

static struct held *add(struct held_table *table, const struct process *process)
{
        struct live_app *app = app_of(table, process);
        struct held *held = app && make_slots(table) == 0 ? calloc(1, sizeof(*held)) : NULL;
        size_t slot;

        if (!held)
                return NULL;
        slot = slot_of(table, process->pid);
        held->process.pid = process->pid;
        held->process.start_time = process->start_time;
        held->fresh = true;
        held->next = table->slots[slot];
        table->slots[slot] = held;
        join(app, held);
        app->n_there++;
        table->n++;
        return held;
}

static void held_free(struct held *held)
{
        free(held->process.cpu_opp_ns);
        free(held);
}

static void drop(struct held_table *table, struct held *held)
{
        struct held **at = &table->slots[slot_of(table, held->process.pid)];

        while (*at != held)
                at = &(*at)->next;
        *at = held->next;
        leave(held);
        table->n--;
        held_free(held);
}

static int mark_gone(struct held_table *table, struct held *held)
{
        int err = util_grow(&table->gone, &table->gone_capacity, table->n_gone + 1, sizeof(struct held *));

        if (err)
                return err;
        held->gone = true;
        held->app->n_leaving++;
        held->app->n_there--;
        table->gone[table->n_gone++] = held;
        return 0;
}

/* A partial sample names the processes that are gone; after a full one all that it does not list are gone. */
static int find_gone(struct held_table *table, const struct sample *now)
{
        int err = 0;

        for (size_t i = 0; now->partial && !err && i < now->n_gone; i++) {
                struct held *held = find_untold(table, now->gone[i].pid, now->gone[i].start_time);

                err = held ? mark_gone(table, held) : 0;
        }
        for (size_t i = 0; !now->partial && !err && i < table->n_slots; i++)
                for (struct held *held = table->slots[i]; !err && held; held = held->next)
                        err = held->listed == table->samples ? 0 : mark_gone(table, held);
        return err;
}

/* Moves a process to its present app, to which its usage in this interval and all its life count. */
static int follow_app(struct held_table *table, struct held *held)
{
        struct live_app *app, *old = held->app;

        if (is_app(old, held->now))
                return 0;
        app = app_of(table, held->now);
        if (!app)
                return -ENOMEM;
        leave(held);
        join(app, held);
        old->n_there--;
        app->n_there++;
        old->n -= !held->fresh;
        app->n += !held->fresh;
        return 0;
}

/* Index of an operating point in table->opps, mostly the same as in the sample (@guess); added if it is new. */
static int place_opp(struct held_table *table, size_t guess, const struct opp *opp, size_t *ret)
{
        for (size_t i = 0; i < table->n_opps; i++) {
                size_t at = (guess + i) % table->n_opps;

                if (table->opps[at].policy == opp->policy && table->opps[at].khz == opp->khz) {
                        *ret = at;
                        return 0;
                }
        }
        if (util_grow(&table->opps, &table->opps_capacity, table->n_opps + 1, sizeof(*table->opps)) < 0)
                return -ENOMEM;
        *ret = table->n_opps;
        table->opps[table->n_opps++] = (struct opp_id){ opp->policy, opp->khz };
        return 0;
}

static int place_opps(struct held_table *table, const struct sample *now)
{
        int err = util_grow(&table->opp_of, &table->opp_of_capacity, now->n_opps, sizeof(*table->opp_of));

        for (size_t i = 0; !err && i < now->n_opps; i++)
                err = place_opp(table, i, &now->opps[i], &table->opp_of[i]);
        return err;
}

/* Makes room for the CPU time at all operating points; the process has not run at new ones. */
static int make_opps_room(const struct held_table *table, struct held *held)
{
        uint64_t *opps;

        if (!held->now->cpu_opp_ns || held->n_opps >= table->n_opps)
                return 0;
        opps = reallocarray(held->process.cpu_opp_ns, table->n_opps, sizeof(*opps));
        if (!opps)
                return -ENOMEM;
        memset(opps + held->n_opps, 0, (table->n_opps - held->n_opps) * sizeof(*opps));
        held->process.cpu_opp_ns = opps;
        held->n_opps = table->n_opps;
        return 0;
}

int held_match(struct held_table *table, struct sample *now)
{
        int err = util_grow(&table->listed, &table->listed_capacity, now->n_processes, sizeof(struct held *));

        if (!err)
                err = place_opps(table, now);
        table->samples++;
        table->n_gone = 0;
        for (size_t i = 0; !err && i < now->n_processes; i++) {
                struct process *process = &now->processes[i];
                struct held *held = find_untold(table, process->pid, process->start_time);

                if (!held)
                        held = add(table, process);
                if (!held)
                        return -ENOMEM;
                held->now = process;
                held->listed = table->samples;
                table->listed[i] = held;
                err = make_opps_room(table, held);
                if (!err)
                        err = follow_app(table, held);
        }
        return err ? err : find_gone(table, now);
}

static void copy_process(const struct held_table *table, struct held *held, size_t n_opps)
{
        uint64_t *opps = held->process.cpu_opp_ns;

        for (size_t i = 0; held->now->cpu_opp_ns && i < n_opps; i++)
                opps[table->opp_of[i]] = held->now->cpu_opp_ns[i];
        held->process = *held->now;
        held->process.cpu_opp_ns = opps;
}

static void take_over(const struct held_table *table, struct held *held, size_t n_opps)
{
        copy_process(table, held, n_opps);
        held->app->n += held->fresh;
        held->fresh = false;
        held->now = NULL;
        held->reaped = (struct reaped){ 0 };
}

static void tally_clear(struct tally *tally)
{
        free(tally->opp_ns);
        free(tally->screen.list);
        free(tally->counted.list);
        *tally = (struct tally){ 0 };
}

static void app_free(struct live_app *app)
{
        tally_clear(&app->tally[STATE_BACKGROUND]);
        tally_clear(&app->tally[STATE_FOREGROUND]);
        free(app);
}

static void drop_empty_apps(struct held_table *table)
{
        size_t kept = 0;

        for (size_t i = 0; i < table->n_apps; i++) {
                struct live_app *app = table->apps[i], **at;

                app->n_leaving = 0;
                app->lost_one = false;
                app->life_ns = 0;
                tally_clear(&app->tally[STATE_BACKGROUND]);
                tally_clear(&app->tally[STATE_FOREGROUND]);
                if (app->members) {
                        table->apps[kept++] = app;
                        continue;
                }
                at = &table->app_slots[hash_app(app->app, app->uid) & (table->n_app_slots - 1)];
                while (*at != app)
                        at = &(*at)->next;
                *at = app->next;
                app_free(app);
        }
        table->n_apps = kept;
}

void held_take_over(struct held_table *table, const struct sample *now)
{
        for (size_t i = 0; i < table->n_gone; i++) {
                table->gone[i]->app->n--;
                drop(table, table->gone[i]);
        }
        util_shrink(&table->lives, &table->lives_capacity, table->n_lives);
        table->n_gone = table->n_lives = 0;
        for (size_t i = 0; i < now->n_processes; i++)
                take_over(table, table->listed[i], now->n_opps);
        drop_empty_apps(table);
}

void held_clear(struct held_table *table)
{
        for (size_t i = 0; i < table->n_slots; i++)
                for (struct held *held = table->slots[i], *next; held; held = next) {
                        next = held->next;
                        held_free(held);
                }
        for (size_t i = 0; i < table->n_apps; i++)
                app_free(table->apps[i]);
        free(table->slots);
        free(table->app_slots);
        free(table->apps);
        free(table->listed);
        free(table->gone);
        free(table->lives);
        free(table->opps);
        free(table->opp_of);
        *table = (struct held_table){ 0 };
}
