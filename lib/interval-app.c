/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What belongs to an app and not to one of its processes: the screen, and how long it was alive. */

#include <errno.h>
#include <string.h>

#include "interval-private.h"
#include "util.h"

/* A process of the app that had the screen: one of a person's rather than one of the system's. */
static size_t face_of(const struct sample *sample, const char *app)
{
        size_t face = NO_OWNER;

        for (size_t i = 0; i < sample->n_processes; i++) {
                if (strcmp(sample->processes[i].app, app) != 0)
                        continue;
                if (sample->processes[i].uid != 0)
                        return i;
                if (face == NO_OWNER)
                        face = i;
        }
        return face;
}

static struct interval_row *row_for_screen(struct making *making, const struct screen_share *share)
{
        size_t face = face_of(making->now, share->app);
        struct interval_row *row;

        for (size_t i = 1; i < making->interval->n_rows; i++) {
                row = &making->interval->rows[i];
                if (row->state == STATE_FOREGROUND && making->maker->owner[i] == face && face != NO_OWNER)
                        return row;
        }
        row = making_add_row(making, face == NO_OWNER ? NULL : &making->now->processes[face], face, STATE_FOREGROUND);
        if (row) {
                memcpy(row->app, share->app, sizeof(row->app));
                row->usage.have = making->idle_have | USAGE_DISPLAY | USAGE_CPU |
                                  (face == NO_OWNER ? 0 : making_usage_have(NULL, &making->now->processes[face]));
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
                        err = usage_add_screen(&row->usage, from->screen[j].brightness, from->screen[j].on_ns);
                if (err)
                        return err;
        }
        return 0;
}

static size_t alive_hash(const char *app, uid_t uid)
{
        size_t hash = uid * (size_t)2654435761u + 2166136261u;

        for (; *app; app++)
                hash = (hash ^ (unsigned char)*app) * 16777619u;
        return hash ^ hash >> 15;
}

/* The entry of (app, uid), or NULL; then the next one that is added gets its slot. */
static struct interval_alive *find_alive(struct making *making, const char *app, uid_t uid)
{
        struct interval *interval = making->interval;
        size_t mask = making->maker->alive_capacity - 1, *slots = making->maker->alive_slots;
        size_t at = alive_hash(app, uid) & mask;

        for (; slots[at]; at = (at + 1) & mask) {
                struct interval_alive *alive = &interval->alive[slots[at] - 1];

                if (alive->uid == uid && strcmp(alive->app, app) == 0)
                        return alive;
        }
        slots[at] = interval->n_alive + 1;
        return NULL;
}

static int add_alive(struct making *making, const char *app, uid_t uid, enum app_state state, uint64_t active_ns)
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

/* An app lives as long as the process of it that lived longest; one that begins just now has not lived yet. */
static int note_alive(struct making *making, const struct process *process)
{
        uint64_t life_ns = making_alive_ns(making, process);
        struct interval_alive *alive;

        if (life_ns == 0 && !screen_split_find(&making->maker->screen, process->app))
                return 0;
        alive = find_alive(making, process->app, process->uid);
        if (!alive)
                return add_alive(making, process->app, process->uid, STATE_BACKGROUND, life_ns);
        alive->active_ns = MAX(alive->active_ns, life_ns);
        return 0;
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

static int make_alive_slots(struct interval_maker *maker, size_t n)
{
        size_t wanted = 64;

        while (wanted < 2 * (n + 1))
                wanted *= 2;
        if (wanted > maker->alive_capacity) {
                free(maker->alive_slots);
                maker->alive_capacity = 0;
                maker->alive_slots = malloc(wanted * sizeof(*maker->alive_slots));
                if (!maker->alive_slots)
                        return -ENOMEM;
                maker->alive_capacity = wanted;
        }
        memset(maker->alive_slots, 0, maker->alive_capacity * sizeof(*maker->alive_slots));
        return 0;
}

/* An app that is there at the end counts for all its life, one that had the screen and is gone for that time. */
int making_list_alive(struct making *making)
{
        const struct screen_split *screen = &making->maker->screen;
        const struct sample *now = making->now;
        int err = make_alive_slots(making->maker, now->n_processes);
        size_t n;

        for (size_t i = 0; !err && i < now->n_processes; i++)
                err = note_alive(making, &now->processes[i]);
        n = making->interval->n_alive;
        for (size_t i = 0; !err && i < n; i++)
                err = split_alive(making, i);
        for (size_t i = 1; !err && i < screen->n; i++)
                if (screen->shares[i].foreground_ns > 0 && face_of(now, screen->shares[i].app) == NO_OWNER)
                        err = add_alive(making, screen->shares[i].app, (uid_t)-1, STATE_FOREGROUND,
                                        MIN(screen->shares[i].foreground_ns, making->awake_ns));
        return err;
}
