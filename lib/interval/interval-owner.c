/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows of owners: usage of an app's processes, the screen, and its time alive in each state. */

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

/* Prefers a person's process to one of the system, and then the one with the lowest pid. */
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

/* An app whose only usage is the screen has the USAGE_* bits that its processes counted. */
static void show_on_screen(const struct making *making, const struct held *face, struct points *screen)
{
        struct tally *tally = &face->app->tally[STATE_FOREGROUND];

        if (!tally->used)
                tally->have = making->idle_have | USAGE_DISPLAY | USAGE_CPU | (held_now(face)->have & USAGE_ALL);
        tally->used = true;
        tally->screen = *screen;
        *screen = (struct points){ 0 };
}

/* Adds a row for an app that had the screen and has no known process: only its name is known. */
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

/*
 * Screen time goes to the app that had the screen, or to the base without such an app. If several users run the app,
 * it goes to the user of the process that face_of() finds.
 */
static int share_screen(struct making *making)
{
        struct screen_split *screen = &making->maker->screen;
        struct interval_row *base = &making->interval->rows[0];
        int err = 0;

        base->usage.screen = screen->shares[0].usage.screen;
        screen->shares[0].usage.screen = (struct points){ 0 };
        for (size_t i = 1; !err && i < screen->n; i++) {
                const struct held *face = face_of(&making->maker->held, screen->shares[i].app);

                if (!face) {
                        err = add_unknown_owner(making, &screen->shares[i]);
                        continue;
                }
                face->app->tally[STATE_FOREGROUND].active_ns = MIN(screen->shares[i].foreground_ns, making->awake_ns);
                if (screen->shares[i].usage.screen.n > 0)
                        show_on_screen(making, face, &screen->shares[i].usage.screen);
        }
        return err;
}

/* An app is in the background while it is alive and does not have the screen. */
static void note_alive(struct making *making, struct live_app *app)
{
        const struct screen_share *share = screen_split_find(&making->maker->screen, app->app);
        uint64_t fg_ns = share && app->n_there > 0 ? share->foreground_ns : 0;

        app->tally[STATE_BACKGROUND].active_ns = app->life_ns - MIN(fg_ns, app->life_ns);
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
        row->usage.counted = tally->counted;
        tally->counted = (struct points){ 0 };
        return cpu_split_owner(&making->maker->cpu, tally, &row->usage.cpu);
}

int interval_add_owners(struct making *making)
{
        const struct held_table *table = &making->maker->held;
        bool processes = making->now->have & SAMPLE_PROCESSES;
        int err = share_screen(making);

        if (!err && processes)
                err = interval_measure_lives(making);
        for (size_t i = 0; !err && i < table->n_apps; i++) {
                if (processes)
                        note_alive(making, table->apps[i]);
                err = add_owner(making, table->apps[i], STATE_BACKGROUND);
                if (!err)
                        err = add_owner(making, table->apps[i], STATE_FOREGROUND);
        }
        return err;
}
