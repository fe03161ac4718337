/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Forgetting, in one transaction. Of some apps: their rows go to the other programs of nobody, so that the
 * machine's sums, and what is learnt from them, stay right without a name or a user. Of everything:
 * intervals, sums, sleeps and charges of the span go. An hour or a day that is only partly in the span is
 * summed up anew where its parts are kept; where they are not, it goes as a whole.
 */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/tuning.h"
#include "util/util.h"

struct forget {
        struct store *store;
        const struct store_forget *what;
        bool whole;     /* everything, not some apps */
        int64_t others; /* id that takes what apps used */
        bool *gone;     /* by index of the store's apps: to be forgotten */
        bool *met;      /* thereof those that had something in the span */
        int64_t alive_before, alive_after; /* the last set of apps without those that go */
        bool alive_known;
        struct store_forgotten *result;
};

/* A row of `interval`, `period` or `usage` that is changed after all were listed. */
struct listed {
        int64_t id, second, third, fourth;
};

struct list {
        struct listed *rows;
        size_t n, capacity;
};

static void list_clear(struct list *list)
{
        free(list->rows);
}

/* All rows of a statement of up to four numbers; its arguments are bound. */
static int list_rows(struct store *store, sqlite3_stmt *statement, struct list *list)
{
        int more = 0, err = 0;

        list->n = 0;
        while (!err && (more = store_step(store, statement)) == 1) {
                err = util_grow(&list->rows, &list->capacity, list->n + 1, sizeof(*list->rows));
                if (!err)
                        list->rows[list->n++] = (struct listed){
                                sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1),
                                sqlite3_column_int64(statement, 2), sqlite3_column_int64(statement, 3),
                        };
        }
        sqlite3_reset(statement);
        return err ? err : more;
}

/* Runs a statement with up to three numbers and no result. */
static int run(struct store *store, enum statement which, int64_t first, int64_t second, int64_t third)
{
        sqlite3_stmt *statement = store_statement(store, which);
        const int64_t numbers[] = { first, second, third };

        if (!statement)
                return -EBADMSG;
        for (int i = 0; i < sqlite3_bind_parameter_count(statement); i++)
                sqlite3_bind_int64(statement, i + 1, numbers[i]);
        return store_step(store, statement);
}

static bool is_gone(const struct forget *forget, int64_t id)
{
        const struct app_name *app = names_find_app(forget->store, (uint64_t)id);

        if (!app || !forget->gone[app - forget->store->apps])
                return false;
        forget->met[app - forget->store->apps] = true;
        return true;
}

static bool has_any(const struct forget *forget, const struct totals *totals)
{
        for (size_t i = 0; i < totals->n; i++)
                if (forget->gone[totals->list[i].app])
                        return true;
        return false;
}

static int find_apps(struct forget *forget)
{
        struct store *store = forget->store;
        const struct store_forget *what = forget->what;
        int err = names_app(store, TUNING_OTHER_APPS, (uid_t)-1, &forget->others);

        if (err)
                return err;
        forget->gone = calloc(store->n_apps, sizeof(*forget->gone));
        forget->met = calloc(store->n_apps, sizeof(*forget->met));
        if (!forget->gone || !forget->met)
                return -ENOMEM;
        for (size_t i = 0; i < store->n_apps; i++) {
                const struct app_name *app = &store->apps[i];

                forget->gone[i] = *app->app && app->id != forget->others &&
                                  (what->uid < 0 || what->uid == (int64_t)app->uid) &&
                                  (!what->app || strcmp(what->app, app->app) == 0);
        }
        return 0;
}

/* Several apps that are one from now on were alive for as long as the one that was longest. */
static int give_usages(struct forget *forget, int64_t end_ns, int64_t first, int64_t n, bool *changed)
{
        struct store *store = forget->store;
        sqlite3_stmt *usages = store_statement(store, SQL_USAGE_APPS);
        _cleanup_(list_clear) struct list list = { 0 };
        size_t longest[2] = { SIZE_MAX, SIZE_MAX };
        int err;

        if (!usages || n < 0 || first < 0 || n > INT64_MAX - first)
                return -EBADMSG;
        sqlite3_bind_int64(usages, 1, first);
        sqlite3_bind_int64(usages, 2, first + n);
        sqlite3_bind_int64(usages, 3, end_ns);
        err = list_rows(store, usages, &list);
        for (size_t i = 0; !err && i < list.n; i++) {
                size_t *most = &longest[list.rows[i].third != 0];

                if (is_gone(forget, list.rows[i].second))
                        *changed = true;
                else if (list.rows[i].second != forget->others)
                        continue;
                if (*most == SIZE_MAX || list.rows[*most].fourth < list.rows[i].fourth)
                        *most = i;
        }
        for (size_t i = 0; !err && *changed && i < list.n; i++) {
                const struct listed *row = &list.rows[i];

                if (row->second == forget->others || is_gone(forget, row->second))
                        err = run(store, SQL_GIVE_USAGE, row->id, forget->others,
                                  longest[row->third != 0] == i ? row->fourth : 0);
        }
        return err;
}

/* The set without those that go, packed as store-append.c does it. @changed: it has any of them. */
static int filter_alive(const struct forget *forget, struct bytes_reader reader, struct bytes *ret, bool *changed)
{
        uint64_t app = 0, last = 0, step;
        int err = 0;

        while (!err && reader.at < reader.end) {
                err = bytes_get(&reader, &step);
                app += err ? 0 : step;
                if (!err && is_gone(forget, (int64_t)app)) {
                        *changed = true;
                } else if (!err) {
                        err = bytes_put(ret, app - last);
                        last = app;
                }
        }
        return err;
}

static int find_alive(struct forget *forget, int64_t alive, int64_t *ret)
{
        struct store *store = forget->store;
        _cleanup_(bytes_clear) struct bytes packed = { 0 };
        sqlite3_stmt *get = store_statement(store, SQL_GET_ALIVE), *add = store_statement(store, SQL_ADD_ALIVE);
        bool changed = false;
        int err;

        if (!get || !add)
                return -EBADMSG;
        sqlite3_bind_int64(get, 1, alive);
        err = store_step(store, get);
        if (err != 1)
                return err < 0 ? err : -EBADMSG;
        err = filter_alive(forget, store_reader_of(get, 0), &packed, &changed);
        sqlite3_reset(get);
        *ret = alive;
        if (err || !changed)
                return err;
        sqlite3_bind_blob(add, 1, packed.data ? (const void *)packed.data : "", (int)packed.n, SQLITE_STATIC);
        err = store_step(store, add);
        sqlite3_clear_bindings(add);
        *ret = sqlite3_last_insert_rowid(store->db);
        return err;
}

/* Intervals that follow one another mostly share their set. */
static int give_alive(struct forget *forget, int64_t end_ns, int64_t alive, bool *changed)
{
        int err = 0;

        if (!forget->alive_known || forget->alive_before != alive)
                err = find_alive(forget, alive, &forget->alive_after);
        if (err)
                return err;
        forget->alive_known = true;
        forget->alive_before = alive;
        if (forget->alive_after == alive)
                return 0;
        *changed = true;
        return run(forget->store, SQL_SET_ALIVE, end_ns, forget->alive_after, 0);
}

static int forget_intervals(struct forget *forget)
{
        struct store *store = forget->store;
        sqlite3_stmt *intervals = store_statement(store, SQL_INTERVALS_OF);
        _cleanup_(list_clear) struct list list = { 0 };
        int err;

        if (!intervals)
                return -EBADMSG;
        sqlite3_bind_int64(intervals, 1, forget->what->from_ns);
        sqlite3_bind_int64(intervals, 2, forget->what->to_ns);
        err = list_rows(store, intervals, &list);
        for (size_t i = 0; !err && i < list.n; i++) {
                const struct listed *row = &list.rows[i];
                bool changed = false;

                err = give_usages(forget, row->id, row->second, row->third, &changed);
                if (!err && row->fourth > 0)
                        err = give_alive(forget, row->id, row->fourth, &changed);
                forget->result->polls += changed;
        }
        return err;
}

static int drop_intervals(struct forget *forget)
{
        static const enum statement drops[] = { SQL_FORGET_USAGE, SQL_FORGET_INTERVALS, SQL_FORGET_SLEEPS,
                                                SQL_FORGET_CHARGES };
        struct store *store = forget->store;
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(drops); i++) {
                err = run(store, drops[i], forget->what->from_ns, forget->what->to_ns, 0);
                if (!err && drops[i] == SQL_FORGET_INTERVALS)
                        forget->result->polls = (uint64_t)sqlite3_changes(store->db);
        }
        return err;
}

static int add_part(const struct times *part, struct times *times, bool first)
{
        if (first) {
                *times = *part;
                return 0;
        }
        return store_add_times(times, part);
}

/*
 * Sums the kept parts of an hour, or the hours of a day, into the store's totals. Returns the number of parts, or a
 * negative errno.
 */
static int sum_up(struct store *store, enum store_grain grain, int64_t bucket_ns, struct times *times)
{
        sqlite3_stmt *parts = store_statement(store, grain == STORE_HOUR ? SQL_FOLDED : SQL_HOURS_OF);
        _cleanup_(list_clear) struct list hours = { 0 };
        struct times part;
        int more = 0, err = 0, n = 0;

        totals_reset(&store->totals);
        if (!parts)
                return -EBADMSG;
        sqlite3_bind_int64(parts, 1, bucket_ns);
        sqlite3_bind_int64(parts, 2, bucket_ns + (grain == STORE_HOUR ? HOUR_NS : DAY_NS));
        if (grain == STORE_HOUR)
                sqlite3_bind_int64(parts, 3, store->marks.folded_ns);
        for (; grain == STORE_HOUR && !err && (more = store_step(store, parts)) == 1; n++) {
                err = store_times_of_interval(parts, &part);
                if (!err)
                        err = totals_add_interval(store, &store->totals, parts);
                if (!err)
                        err = add_part(&part, times, n == 0);
        }
        if (grain == STORE_DAY)
                err = list_rows(store, parts, &hours);
        sqlite3_reset(parts);
        for (size_t i = 0; !err && i < hours.n; i++, n++) {
                err = store_times_of_period(store, hours.rows[i].id, &part);
                if (!err)
                        err = totals_add_period(store, &store->totals, hours.rows[i].id);
                if (!err)
                        err = add_part(&part, times, n == 0);
        }
        times->details = true;
        return err ? err : more < 0 ? more : n;
}

/* Gives the usage of forgotten apps to the others, in a sum whose parts are not kept, or are all in the span. */
static int give_totals(struct forget *forget, struct totals *totals)
{
        size_t n = totals->n;
        int err = 0;

        for (size_t i = 0; !err && i < n; i++) {
                struct total *from = &totals->list[i], *to;

                if (!is_gone(forget, forget->store->apps[from->app].id))
                        continue;
                to = totals_of(forget->store, totals, (uint64_t)forget->others, from->state, &err);
                from = &totals->list[i]; /* the list may have moved */
                if (err)
                        break;
                to->active_ns = MAX(to->active_ns, from->active_ns);
                err = usage_add(&to->usage, &from->usage);
                usage_clear(&from->usage);
                from->active_ns = 0;
        }
        return err;
}

/* Replaces a period by the store's totals; without any @parts it is gone. */
static int replace_period(struct forget *forget, enum store_grain grain, const struct listed *period,
                          int parts, const struct times *times)
{
        struct store *store = forget->store;
        int err = store_drop_period(store, period->id);

        forget->result->hours += grain == STORE_HOUR;
        forget->result->days += grain == STORE_DAY;
        return err || parts == 0 ? err : store_write_period(store, grain, period->second, times, &store->totals);
}

/* Apps of a sum: those in the span, if that can be told. */
static int forget_apps_of(struct forget *forget, enum store_grain grain, const struct listed *period, bool partly)
{
        struct store *store = forget->store;
        struct times times = { 0 };
        int parts = 1, err = store_times_of_period(store, period->id, &times);

        totals_reset(&store->totals);
        if (!err)
                err = totals_add_period(store, &store->totals, period->id);
        if (err || !has_any(forget, &store->totals))
                return err;
        if (partly)
                parts = sum_up(store, grain, period->second, &times);
        else
                err = give_totals(forget, &store->totals);
        err = err ? err : MIN(parts, 0);
        return err ? err : replace_period(forget, grain, period, parts, &times);
}

static int forget_period(struct forget *forget, enum store_grain grain, const struct listed *period)
{
        int64_t bucket_ns = period->second, length_ns = grain == STORE_HOUR ? HOUR_NS : DAY_NS;
        bool inside = bucket_ns >= forget->what->from_ns && bucket_ns + length_ns <= forget->what->to_ns;
        bool partly = !inside && period->third;
        struct times times = { 0 };
        int parts = 0;

        if (!forget->whole)
                return forget_apps_of(forget, grain, period, partly);
        if (partly)
                parts = sum_up(forget->store, grain, bucket_ns, &times);
        return parts < 0 ? parts : replace_period(forget, grain, period, parts, &times);
}

static int forget_periods(struct forget *forget, enum store_grain grain)
{
        struct store *store = forget->store;
        const struct store_forget *what = forget->what;
        int64_t length_ns = grain == STORE_HOUR ? HOUR_NS : DAY_NS;
        sqlite3_stmt *periods = store_statement(store, SQL_PERIOD_BUCKETS);
        _cleanup_(list_clear) struct list list = { 0 };
        int err;

        if (!periods)
                return -EBADMSG;
        sqlite3_bind_int64(periods, 1, grain);
        sqlite3_bind_int64(periods, 2, what->from_ns < INT64_MIN + length_ns ? INT64_MIN : what->from_ns - length_ns);
        sqlite3_bind_int64(periods, 3, what->to_ns);
        err = list_rows(store, periods, &list);
        for (size_t i = 0; !err && i < list.n; i++)
                err = forget_period(forget, grain, &list.rows[i]);
        totals_reset(&store->totals);
        return err;
}

/* How much was recorded is known by the newest interval, or, if that goes, by the marks. */
static int keep_marks(struct forget *forget)
{
        struct store *store = forget->store;

        store->marks.folded_ns = MAX(store->marks.folded_ns, store->recorded_ns);
        return store_marks_write(store, &store->marks);
}

static size_t count_named(const struct forget *forget)
{
        size_t n = 0;

        for (size_t i = 0; i < forget->store->n_apps; i++)
                n += *forget->store->apps[i].app && forget->store->apps[i].id != forget->others;
        return n;
}

static int forget_all(struct forget *forget)
{
        struct store *store = forget->store;
        size_t named;
        int err = store_find_last(store);

        if (!err)
                err = find_apps(forget);
        if (!err)
                err = forget->whole ? drop_intervals(forget) : forget_intervals(forget);
        if (!err)
                err = forget_periods(forget, STORE_HOUR);
        if (!err)
                err = forget_periods(forget, STORE_DAY);
        if (!err && forget->whole && store->last_ns > forget->what->from_ns && store->last_ns <= forget->what->to_ns)
                err = keep_marks(forget);
        if (!err)
                err = store_run(store, SQL_DROP_LOST_ALIVE);
        for (size_t i = 0; !err && i < store->n_apps; i++)
                forget->result->apps += forget->met[i];
        named = count_named(forget);
        if (!err)
                err = store_drop_unused_apps(store);
        if (!err && forget->whole)
                forget->result->apps = named - count_named(forget);
        return err;
}

/* Overwrites the freed pages and gives them back; and empties the -wal, which may have them, too. */
static int make_small(struct store *store)
{
        int code = sqlite3_exec(store->db, "VACUUM", NULL, NULL, NULL);

        if (code == SQLITE_OK)
                code = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        return code == SQLITE_OK ? 0 : errno_from_sqlite(store, code);
}

int store_forget(struct store *store, const struct store_forget *what, struct store_forgotten *ret)
{
        struct store_forgotten result = { .whole = what->uid < 0 && !what->app };
        struct forget forget = { .store = store, .what = what, .whole = result.whole, .result = &result };
        const struct marks marks = store->marks;
        int err;

        if (store->mode == STORE_READ)
                return -EROFS;
        sqlite3_exec(store->db, "PRAGMA secure_delete = ON", NULL, NULL, NULL);
        err = store_run(store, SQL_BEGIN_WRITE);
        if (!err)
                err = store_finish(store, forget_all(&forget));
        free(forget.gone);
        free(forget.met);
        totals_reset(&store->totals);
        if (err)
                store->marks = marks;
        store->alive_id = 0;
        store->last_known = store->power.known = false;
        store->checked_ns = 0;
        if (names_load(store) < 0 && !err)
                err = -EBADMSG;
        if (!err && (result.polls || result.hours || result.days))
                result.stayed_large = make_small(store) < 0;
        sqlite3_exec(store->db, "PRAGMA secure_delete = FAST", NULL, NULL, NULL);
        if (!err)
                *ret = result;
        return err;
}
