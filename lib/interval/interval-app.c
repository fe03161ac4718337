/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What belongs to an app and not to one of its processes: the screen, and how long it was alive. */

#include <errno.h>
#include <string.h>

#include "interval-private.h"
#include "util/util.h"

/* The one with the lowest pid, of a person rather than of the system. */
static struct held *face_of(const struct held_table *table, const char *app)
{
        struct held *face = NULL;

        for (size_t i = 0; i < table->n_apps; i++) {
                if (strcmp(table->apps[i]->app, app) != 0)
                        continue;
                for (struct held *held = table->apps[i]->members; held; held = held->next_of_app) {
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

static struct interval_row *row_for_screen(struct making *making, const struct screen_share *share)
{
        struct held *face = face_of(&making->maker->held, share->app);
        struct interval_row *row;

        for (size_t i = 1; face && i < making->interval->n_rows; i++) {
                row = &making->interval->rows[i];
                if (row->state == STATE_FOREGROUND && making->maker->owner[i] == face)
                        return row;
        }
        row = making_add_row(making, face ? held_now(face) : NULL, face, STATE_FOREGROUND);
        if (row) {
                memcpy(row->app, share->app, sizeof(row->app));
                row->usage.have = making->idle_have | USAGE_DISPLAY | USAGE_CPU |
                                  (face ? making_usage_have(NULL, held_now(face)) : 0);
        }
        return row;
}

/* Screen time goes to the app that had it, nobody's to nobody. */
int making_add_screen_time(struct making *making)
{
        const struct screen_split *screen = &making->maker->screen;

        for (size_t i = 0; i < screen->n; i++) {
                const struct usage *from = &screen->shares[i].usage;
                struct interval_row *row = &making->interval->rows[0];
                int err = 0;

                if (from->n_screen == 0)
                        continue;
                if (*screen->shares[i].app)
                        row = row_for_screen(making, &screen->shares[i]);
                if (!row)
                        return -ENOMEM;
                for (size_t j = 0; !err && j < from->n_screen; j++)
                        err = usage_add_screen(&row->usage, from->screen[j].brightness,
                                               from->screen[j].on_ns);
                if (err)
                        return err;
        }
        return 0;
}

static int add_alive(struct making *making, const char *app, uid_t uid, enum app_state state,
                     uint64_t active_ns)
{
        struct interval *interval = making->interval;
        struct interval_alive *alive;

        if (util_grow(&interval->alive, &interval->capacity.alive, interval->n_alive + 1, sizeof(*alive)) < 0)
                return -ENOMEM;
        alive = &interval->alive[interval->n_alive++];
        *alive = (struct interval_alive){ .uid = uid, .state = state, .active_ns = active_ns };
        snprintf(alive->app, sizeof(alive->app), "%s", app);
        return 0;
}

/* Those that were not there all of the time count one by one, the others together. */
static void note_lives(struct making *making)
{
        struct held_table *table = &making->maker->held;

        for (size_t i = 0; i < making->now->n_processes; i++) {
                struct held *held = table->listed[i];
                struct live_app *app = held->app;

                if (!held->fresh && held->now->ended_ns == 0)
                        continue;
                app->n_leaving += !held->fresh;
                app->life_ns = MAX(app->life_ns, making_alive_ns(making, held));
        }
}

/*
 * An app lives as long as the process of it that lived longest;
 * one that begins just now has not lived yet.
 */
static int note_alive(struct making *making, const struct live_app *app)
{
        uint64_t life_ns = app->n > app->n_leaving ? making->awake_ns : app->life_ns;

        if (app->n_there == 0 || (life_ns == 0 && !screen_split_find(&making->maker->screen, app->app)))
                return 0;
        return add_alive(making, app->app, app->uid, STATE_BACKGROUND, life_ns);
}

/* It is in the background for as long as it lives and has not the screen. */
static int split_alive(struct making *making, size_t index)
{
        struct interval_alive *alive = &making->interval->alive[index], old = *alive; /* the list may move */
        const struct screen_share *share = screen_split_find(&making->maker->screen, alive->app);
        uint64_t fg_ns = share ? MIN(share->foreground_ns, making->awake_ns) : 0;

        if (fg_ns == 0)
                return 0;
        if (fg_ns >= alive->active_ns) {
                alive->state = STATE_FOREGROUND;
                alive->active_ns = fg_ns;
                return 0;
        }
        alive->active_ns -= fg_ns;
        return add_alive(making, old.app, old.uid, STATE_FOREGROUND, fg_ns);
}

/*
 * An app that is there at the end counts for all its life,
 * one that had the screen and is gone for that time.
 */
int making_list_alive(struct making *making)
{
        const struct screen_split *screen = &making->maker->screen;
        const struct held_table *table = &making->maker->held;
        int err = 0;
        size_t n;

        if (making->now->have & SAMPLE_PROCESSES)
                note_lives(making);
        for (size_t i = 0; !err && (making->now->have & SAMPLE_PROCESSES) && i < table->n_apps; i++)
                err = note_alive(making, table->apps[i]);
        n = making->interval->n_alive;
        for (size_t i = 0; !err && i < n; i++)
                err = split_alive(making, i);
        for (size_t i = 1; !err && i < screen->n; i++)
                if (screen->shares[i].foreground_ns > 0 && !face_of(table, screen->shares[i].app))
                        err = add_alive(making, screen->shares[i].app, (uid_t)-1, STATE_FOREGROUND,
                                        MIN(screen->shares[i].foreground_ns, making->awake_ns));
        return err;
}
