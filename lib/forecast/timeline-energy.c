/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The energy in a timeline. Each row is priced as it comes: the model is linear. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "timeline-private.h"
#include "util/hash.h"
#include "util/units.h"
#include "util/util.h"

/* An app in one slot; what it used in one is not always in one piece. */
struct use {
        uint32_t app, slot;
        double energy_j;
};

struct seen {
        char *app, *name;
        struct usage_there there[STATE_FOREGROUND + 1];
        uint32_t index;    /* in the order of their first rows */
        double energy_j;
        size_t place;      /* among the dearest; TIMELINE_APPS: not there */
        UT_hash_handle hh;
};

struct reader {
        const struct profile *profile;
        struct timeline *timeline;
        struct seen *table, **seen;
        size_t n_seen, seen_capacity;
        struct use *uses;
        size_t n_uses, uses_capacity;
};

static void seen_free(struct seen *seen)
{
        if (!seen)
                return;
        free(seen->app);
        free(seen->name);
        free(seen);
}

static void reader_clear(struct reader *reader)
{
        HASH_CLEAR(hh, reader->table);
        for (size_t i = 0; i < reader->n_seen; i++)
                seen_free(reader->seen[i]);
        free(reader->seen);
        free(reader->uses);
}

static int add_seen(struct reader *reader, const char *app, struct seen **ret)
{
        struct seen *seen;
        int err = util_grow(&reader->seen, &reader->seen_capacity, reader->n_seen + 1, sizeof(*reader->seen));

        if (err)
                return err;
        seen = calloc(1, sizeof(*seen));
        if (!seen)
                return -ENOMEM;
        seen->app = strdup(app);
        seen->name = strdup(app);
        seen->index = (uint32_t)reader->n_seen;
        if (seen->app && seen->name)
                HASH_ADD_KEYPTR(hh, reader->table, seen->app, strlen(seen->app), seen);
        if (!seen->app || !seen->name || !HASH_HAS(seen)) {
                seen_free(seen);
                return -ENOMEM;
        }
        reader->seen[reader->n_seen++] = seen;
        *ret = seen;
        return 0;
}

/* The newest name counts. */
static int rename_seen(struct seen *seen, const char *name)
{
        char *copy;

        if (!name || !*name || strcmp(seen->name, name) == 0)
                return 0;
        copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        free(seen->name);
        seen->name = copy;
        return 0;
}

static int find_seen(struct reader *reader, const struct store_row *row, struct seen **ret)
{
        int err = 0;

        HASH_FIND(hh, reader->table, row->app, strlen(row->app), *ret);
        if (!*ret)
                err = add_seen(reader, row->app, ret);
        return err ? err : rename_seen(*ret, row->name);
}

/* The part of a row that is in [@start_ns, @end_ns). */
static double part_in(const struct store_row *row, int64_t start_ns, int64_t end_ns)
{
        int64_t within_ns = MIN(row->end_ns, end_ns) - MAX(row->start_ns, start_ns);

        return within_ns > 0 ? (double)within_ns / (double)(row->end_ns - row->start_ns) : 0;
}

static int compare_slot(const void *key, const void *element)
{
        const struct timeline_slot *slot = element;
        int64_t time_ns = *(const int64_t *)key;

        return slot->end_ns <= time_ns ? 1 : time_ns < slot->start_ns ? -1 : 0;
}

static int compare_hour(const void *key, const void *element)
{
        const struct timeline_hour *hour = element;
        int64_t time_ns = *(const int64_t *)key, end_ns = hour->start_ns + TIMELINE_HOUR_S * (int64_t)NS_PER_S;

        return end_ns <= time_ns ? 1 : time_ns < hour->start_ns ? -1 : 0;
}

/* @seen: NULL: the base. */
static int add_use(struct reader *reader, size_t slot, struct seen *seen, double energy_j)
{
        int err;

        if (!seen) {
                reader->timeline->slots[slot].base_j += energy_j;
                return 0;
        }
        err = util_grow(&reader->uses, &reader->uses_capacity, reader->n_uses + 1, sizeof(*reader->uses));
        if (!err)
                reader->uses[reader->n_uses++] = (struct use){ seen->index, (uint32_t)slot, energy_j };
        return err;
}

static void add_time(struct timeline_slot *slot, const struct store_row *row, double part)
{
        double suspend_s = (double)row->usage->suspend_ns / (double)NS_PER_S;

        slot->recorded_s += part * ((double)row->usage->time_ns / (double)NS_PER_S + suspend_s);
        slot->suspend_s += part * suspend_s;
}

/* Energy beyond the ends of the span belongs to its first and last slot. */
static int spread_slots(struct reader *reader, const struct store_row *row, struct seen *seen, double energy_j)
{
        struct timeline *timeline = reader->timeline;
        size_t first = util_lower_bound(&row->start_ns, timeline->slots, timeline->n_slots,
                                        sizeof(*timeline->slots), compare_slot);
        int err = 0;

        for (size_t i = MIN(first, timeline->n_slots - 1); !err && i < timeline->n_slots; i++) {
                struct timeline_slot *slot = &timeline->slots[i];
                int64_t start_ns = i == 0 ? INT64_MIN : slot->start_ns;
                int64_t end_ns = i + 1 == timeline->n_slots ? INT64_MAX : slot->end_ns;
                double part = part_in(row, start_ns, end_ns);

                if (!(part > 0))
                        break;
                err = add_use(reader, i, seen, part * energy_j);
                if (!seen)
                        add_time(slot, row, part);
        }
        return err;
}

/* A sum that is longer than an hour says nothing about hours. */
static void spread_hours(struct timeline *timeline, const struct store_row *row, bool base, double energy_j)
{
        double awake_s = base ? (double)row->usage->time_ns / (double)NS_PER_S : 0;
        size_t i = util_lower_bound(&row->start_ns, timeline->hours, timeline->n_hours,
                                    sizeof(*timeline->hours), compare_hour);

        for (; awake_s <= TIMELINE_HOUR_S + 60 && i < timeline->n_hours; i++) {
                struct timeline_hour *hour = &timeline->hours[i];
                double part = part_in(row, hour->start_ns, hour->start_ns + TIMELINE_HOUR_S * (int64_t)NS_PER_S);

                if (!(part > 0))
                        break;
                hour->energy_j += part * energy_j;
                if (base)
                        hour->recorded_s += part * (awake_s + (double)row->usage->suspend_ns / (double)NS_PER_S);
        }
}

/* The time that this row adds to how long its app was there. */
static double there_s(const struct store_row *row, struct seen *seen)
{
        struct usage_there *there = &seen->there[row->state == STATE_FOREGROUND];

        return (double)usage_there_add(there, row->end_ns, row->awake_ns, row->active_ns) / NS_PER_S;
}

/* @active_s: see there_s() */
static int price(const struct profile *profile, const struct store_row *row, bool base, double active_s, double *ret)
{
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        struct model_user user = { row->app, row->state == STATE_FOREGROUND, active_s };
        struct usage nothing = { .have = USAGE_ALL };
        int err = model_vector_make(profile, usage_is_empty(row->usage) ? &nothing : row->usage, &vector);

        if (err)
                return err;
        if (!base)
                model_vector_add_user(profile, &user, &vector);
        *ret = !model_knows(&vector) ? 0 : model_energy_mj(profile, &vector) * 1e-3;
        if (base && vector.unknown & 1u << COMPONENT_BASE)
                *ret = NAN;
        return 0;
}

/* Was the device awake for longer than a slot is in this row of the base? An app's row has no such time. */
static bool too_long(const struct timeline *timeline, const struct store_row *row, bool base)
{
        return base && timeline->slot_s < TIMELINE_DAY_S &&
               (double)row->usage->time_ns / (double)NS_PER_S > 1.5 * timeline->slot_s + 60;
}

static int add_row(void *data, const struct store_row *row)
{
        struct reader *reader = data;
        bool base = !row->app || !*row->app;
        struct seen *seen = NULL;
        double energy_j = 0;
        int err = 0;

        if (row->end_ns <= row->start_ns)
                return 0;
        if (too_long(reader->timeline, row, base))
                return -EAGAIN;
        if (!base)
                err = find_seen(reader, row, &seen);
        if (!err)
                err = price(reader->profile, row, base, seen ? there_s(row, seen) : 0, &energy_j);
        if (err)
                return err;
        if (seen)
                seen->energy_j += energy_j;
        spread_hours(reader->timeline, row, base, energy_j);
        return spread_slots(reader, row, seen, energy_j);
}

static int by_energy(const void *a, const void *b)
{
        const struct seen *one = *(struct seen *const *)a, *other = *(struct seen *const *)b;

        if (one->energy_j != other->energy_j)
                return one->energy_j < other->energy_j ? 1 : -1;
        return strcmp(one->app, other->app);
}

static int place_apps(const struct reader *reader)
{
        _cleanup_free_ struct seen **order = calloc(reader->n_seen + 1, sizeof(struct seen *));
        struct timeline *timeline = reader->timeline;

        if (!order)
                return -ENOMEM;
        for (size_t i = 0; i < reader->n_seen; i++)
                order[i] = reader->seen[i];
        if (reader->n_seen > 1)
                qsort(order, reader->n_seen, sizeof(*order), by_energy);
        for (size_t i = 0; i < reader->n_seen; i++) {
                order[i]->place = MIN(i, (size_t)TIMELINE_APPS);
                if (i >= TIMELINE_APPS)
                        continue;
                snprintf(timeline->apps[i].app, APP_ID_MAX, "%s", order[i]->app);
                snprintf(timeline->apps[i].name, APP_ID_MAX, "%s", order[i]->name);
                timeline->apps[i].energy_j = order[i]->energy_j;
                timeline->n_apps = i + 1;
        }
        return 0;
}

/*
 * A long span is read by days, which are those of UTC, until the begin of one; then the hours that are told
 * apart begin. Days that are not UTC's are a little less exact there, and half as many rows are priced.
 * INT64_MIN: hours for all of it.
 */
static int64_t sums_until(const struct timeline *timeline)
{
        const int64_t day_ns = TIMELINE_DAY_S * (int64_t)NS_PER_S;
        int64_t hours_from_ns = timeline->n_hours ? timeline->hours[0].start_ns : timeline->to_ns;

        if (timeline->slot_s < TIMELINE_DAY_S || timeline->to_ns - timeline->from_ns < 100 * day_ns)
                return INT64_MIN;
        return hours_from_ns - hours_from_ns % day_ns;
}

int timeline_read_energy(const struct profile *profile, struct store *store, int64_t uid, int64_t from_ns,
                         int64_t to_ns, struct timeline *timeline)
{
        _cleanup_(reader_clear) struct reader reader = { .profile = profile, .timeline = timeline };
        struct store_query query = {
                .from_ns = from_ns, .to_ns = to_ns, .uid = uid, .others = true,
                .grain = timeline->slot_s == TIMELINE_QUARTER_S ? STORE_RAW : STORE_HOUR,
        };
        int64_t days_until_ns = sums_until(timeline);
        int err = 0;

        if (days_until_ns != INT64_MIN) {
                query.grain = STORE_BEST;
                query.to_ns = days_until_ns;
                err = store_rows(store, &query, add_row, &reader);
                query.grain = STORE_HOUR;
                query.from_ns = days_until_ns;
                query.to_ns = to_ns;
        }
        if (!err)
                err = store_rows(store, &query, add_row, &reader);
        if (!err)
                err = place_apps(&reader);
        if (err)
                return err;
        for (size_t i = 0; i < timeline->n_slots; i++)
                timeline->slots[i].n_apps = timeline->n_apps;
        for (size_t i = 0; i < reader.n_uses; i++) {
                const struct use *use = &reader.uses[i];
                struct timeline_slot *slot = &timeline->slots[use->slot];
                size_t place = reader.seen[use->app]->place;

                *(place < TIMELINE_APPS ? &slot->apps_j[place] : &slot->others_j) += use->energy_j;
        }
        return 0;
}
