/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows of owners: what the processes of an app used, the screen, and how long it was alive in each state. */

#include <errno.h>
#include <string.h>

#include "interval-private.h"
#include "util/util.h"

struct interval_row *interval_add_row(struct making *making, const char *app, uid_t uid, enum app_state state)
{
        struct interval *interval = making->interval;
        struct interval_row *row;

        if (util_grow(&interval->rows, &interval->capacity, interval->n_rows + 1, sizeof(*row)) < 0)
                return NULL;
        row = &interval->rows[interval->n_rows++];
        memset(row, 0, sizeof(*row));
        snprintf(row->app, sizeof(row->app), "%s", app);
        row->uid = uid;
        row->state = state;
        return row;
}

/* Of the processes that are an app, the one with the lowest pid, of a person rather than of the system. */
static const struct held *face_of(const struct held_table *table, const char *app)
{
        const struct held *face = NULL;

        for (size_t i = 0; i < table->n_apps; i++) {
                if (strcmp(table->apps[i]->app, app) != 0)
                        continue;
                for (const struct held *held = table->apps[i]->members; held; held = held->next_of_app) {
                        bool person = held_now(held)->uid != 0;

                        if (held->gone)
                                continue;
                        if (!face || (person && held_now(face)->uid == 0) ||
                            (person == (held_now(face)->uid != 0) && held->process.pid < face->process.pid))
                                face = held;
                }
        }
        return face;
}

/* An app that did nothing but show something was counted as far as its processes are. */
static void show_on_screen(const struct making *making, const struct held *face, struct points *screen)
{
        struct tally *tally = &face->app->tally[STATE_FOREGROUND];

        if (!tally->used)
                tally->have = making->idle_have | USAGE_DISPLAY | USAGE_CPU | (held_now(face)->have & USAGE_ALL);
        tally->used = true;
        tally->screen = *screen;
        *screen = (struct points){ 0 };
}

/* Who had it is known by name only: no process of that app is there. */
static int add_unknown_owner(struct making *making, struct screen_share *share)
{
        struct interval_row *row;

        if (share->foreground_ns == 0 && share->usage.screen.n == 0)
                return 0;
        row = interval_add_row(making, share->app, (uid_t)-1, STATE_FOREGROUND);
        if (!row)
                return -ENOMEM;
        row->active_ns = MIN(share->foreground_ns, making->awake_ns);
        if (share->usage.screen.n > 0)
                row->usage.have = making->idle_have | USAGE_DISPLAY | USAGE_CPU;
        row->usage.screen = share->usage.screen;
        share->usage.screen = (struct points){ 0 };
        return 0;
}

/* Screen time goes to the app that had it; without an app it is the base's. */
static int share_screen(struct making *making)
{
        struct screen_split *screen = &making->maker->screen;
        struct interval_row *base = &making->interval->rows[0];
        int err = 0;

        base->usage.screen = screen->shares[0].usage.screen;
        screen->shares[0].usage.screen = (struct points){ 0 };
        for (size_t i = 1; !err && i < screen->n; i++) {
                const struct held *face = face_of(&making->maker->held, screen->shares[i].app);

                if (!face)
                        err = add_unknown_owner(making, &screen->shares[i]);
                else if (screen->shares[i].usage.screen.n > 0)
                        show_on_screen(making, face, &screen->shares[i].usage.screen);
        }
        return err;
}

/* Processes that were not there all of the time count one by one, the others together. */
static void note_lives(struct making *making)
{
        struct held_table *table = &making->maker->held;

        for (size_t i = 0; i < making->now->n_processes; i++) {
                struct held *held = table->listed[i];
                struct live_app *app = held->app;

                if (!held->fresh && held->now->ended_ns == 0)
                        continue;
                app->n_leaving += !held->fresh;
                app->life_ns = MAX(app->life_ns, interval_alive_ns(making, held));
        }
}

/*
 * An app lives as long as the process of it that lived longest; one that is there at the end counts for all its
 * life. It is in the background for as long as it lives and has not the screen.
 */
static void note_alive(struct making *making, struct live_app *app)
{
        const struct screen_share *share = screen_split_find(&making->maker->screen, app->app);
        uint64_t life_ns = app->n > app->n_leaving ? making->awake_ns : app->life_ns;
        uint64_t fg_ns = share ? MIN(share->foreground_ns, making->awake_ns) : 0;

        if (app->n_there == 0)
                return;
        app->tally[STATE_FOREGROUND].active_ns = fg_ns;
        app->tally[STATE_BACKGROUND].active_ns = life_ns - MIN(fg_ns, life_ns);
}

static int add_owner(struct making *making, struct live_app *app, enum app_state state)
{
        struct tally *tally = &app->tally[state];
        struct interval_row *row;

        if (!tally->used && tally->active_ns == 0)
                return 0;
        row = interval_add_row(making, app->app, app->uid, state);
        if (!row)
                return -ENOMEM;
        row->active_ns = tally->active_ns;
        row->usage.have = tally->have;
        row->shaped = !tally->opp_ns && tally->cpu_ns > 0;
        memcpy(row->usage.amount, tally->amount, sizeof(tally->amount));
        row->usage.screen = tally->screen;
        tally->screen = (struct points){ 0 };
        return cpu_split_owner(&making->maker->cpu, tally, &row->usage.cpu);
}

int interval_add_owners(struct making *making)
{
        const struct held_table *table = &making->maker->held;
        bool processes = making->now->have & SAMPLE_PROCESSES;
        int err = share_screen(making);

        if (processes)
                note_lives(making);
        for (size_t i = 0; !err && i < table->n_apps; i++) {
                if (processes)
                        note_alive(making, table->apps[i]);
                err = add_owner(making, table->apps[i], STATE_BACKGROUND);
                if (!err)
                        err = add_owner(making, table->apps[i], STATE_FOREGROUND);
        }
        return err;
}
