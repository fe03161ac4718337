/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sums by app and state, of one interval or of a whole hour or day. */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/util.h"

/* Columns of SQL_INTERVALS. */
enum { END, START, ELAPSED, SUSPEND, DISCHARGE_UJ, DISCHARGE_NPERCENT, USAGE, ACTIVE, ALIVE, SPLIT_BY };

void totals_reset(struct totals *totals)
{
        for (size_t i = 0; i < totals->n; i++)
                usage_clear(&totals->list[i].usage);
        totals->n = 0;
        if (totals->slots)
                memset(totals->slots, 0, totals->slots_capacity * sizeof(*totals->slots));
}

void totals_clear(struct totals *totals)
{
        totals_reset(totals);
        free(totals->list);
        free(totals->slots);
        *totals = (struct totals){ 0 };
}

struct total *totals_of(struct store *store, struct totals *totals, uint64_t app_id, enum app_state state,
                        int *err)
{
        const struct app_name *app = names_find_app(store, app_id);
        size_t slot = app ? (size_t)(app - store->apps) * 2 + state : 0, had = totals->slots_capacity;
        struct total *total;

        *err = app ? 0 : -EBADMSG;
        if (!app)
                return NULL;
        *err = util_grow(&totals->slots, &totals->slots_capacity, slot + 1, sizeof(*totals->slots));
        if (*err)
                return NULL;
        memset(totals->slots + had, 0, (totals->slots_capacity - had) * sizeof(*totals->slots));
        if (totals->slots[slot])
                return &totals->list[totals->slots[slot] - 1];
        *err = util_grow(&totals->list, &totals->capacity, totals->n + 1, sizeof(*totals->list));
        if (*err)
                return NULL;
        total = &totals->list[totals->n++];
        *total = (struct total){ .app = (size_t)(app - store->apps), .state = state };
        totals->slots[slot] = totals->n;
        return total;
}

static struct reader blob_of(sqlite3_stmt *statement, int column)
{
        const unsigned char *blob = sqlite3_column_blob(statement, column);
        int n = sqlite3_column_bytes(statement, column);

        return (struct reader){ blob, blob ? blob + n : blob };
}

/* "app * 2 + state" is how a row names its owner. */
static int get_owner(struct reader *reader, uint64_t *app, enum app_state *state)
{
        uint64_t owner = 0;
        int err = get_number(reader, &owner);

        *app = owner >> 1;
        *state = owner & 1 ? STATE_FOREGROUND : STATE_BACKGROUND;
        return err;
}

static int add_usages(struct store *store, struct totals *totals, struct reader reader)
{
        int err = 0;

        store->shape.n = 0;
        while (!err && reader.at < reader.end) {
                uint64_t app, process;
                enum app_state state;
                struct usage usage;
                struct total *total;

                err = get_owner(&reader, &app, &state);
                if (!err)
                        err = get_number(&reader, &process);
                if (!err)
                        err = get_usage(store, &reader, &usage, true);
                if (err)
                        return err;
                if (app > 0) {
                        total = totals_of(store, totals, app, state, &err);
                        if (!err)
                                err = usage_add(&total->usage, &usage);
                }
                usage_clear(&usage);
        }
        return err;
}

static int add_active(struct store *store, struct totals *totals, uint64_t app, enum app_state state,
                      uint64_t ns)
{
        struct total *total;
        int err;

        total = totals_of(store, totals, app, state, &err);
        if (err)
                return err;
        return __builtin_add_overflow(total->active_ns, ns, &total->active_ns) ? -EBADMSG : 0;
}

static int add_alive(struct store *store, struct totals *totals, struct reader reader, uint64_t awake_ns)
{
        uint64_t app = 0, step;
        int err = 0;

        while (!err && reader.at < reader.end) {
                err = get_number(&reader, &step);
                app += step;
                if (!err)
                        err = add_active(store, totals, app, STATE_BACKGROUND, awake_ns);
        }
        return err;
}

static int add_others(struct store *store, struct totals *totals, struct reader reader)
{
        int err = 0;

        while (!err && reader.at < reader.end) {
                uint64_t app, active_ns = 0;
                enum app_state state;

                err = get_owner(&reader, &app, &state);
                if (!err)
                        err = get_number(&reader, &active_ns);
                if (!err)
                        err = add_active(store, totals, app, state, active_ns);
        }
        return err;
}

int totals_add_interval(struct store *store, struct totals *totals, sqlite3_stmt *row)
{
        int64_t awake_ns = sqlite3_column_int64(row, ELAPSED) - sqlite3_column_int64(row, SUSPEND);
        int err = awake_ns < 0 ? -EBADMSG : 0;

        if (!err)
                err = add_usages(store, totals, blob_of(row, USAGE));
        if (!err)
                err = add_others(store, totals, blob_of(row, ACTIVE));
        if (!err)
                err = add_alive(store, totals, blob_of(row, ALIVE), (uint64_t)awake_ns);
        return err;
}

struct times times_of_interval(sqlite3_stmt *row)
{
        int64_t elapsed_ns = sqlite3_column_int64(row, ELAPSED),
                split_by = sqlite3_column_int64(row, SPLIT_BY);

        return (struct times){
                .start_ns = sqlite3_column_int64(row, START),
                .end_ns = sqlite3_column_int64(row, END),
                .sums = { elapsed_ns,
                          sqlite3_column_type(row, DISCHARGE_UJ) != SQLITE_NULL ? elapsed_ns : 0,
                          sqlite3_column_type(row, DISCHARGE_NPERCENT) != SQLITE_NULL ? elapsed_ns : 0,
                          sqlite3_column_int64(row, DISCHARGE_UJ), sqlite3_column_int64(row, DISCHARGE_NPERCENT),
                          split_by == SPLIT_COUNTED ? elapsed_ns : 0, split_by == SPLIT_SHARED ? elapsed_ns : 0 },
        };
}

int times_of_period(struct store *store, int64_t period, struct times *ret)
{
        sqlite3_stmt *row = store_statement(store, SQL_PERIOD);
        int more;

        if (!row)
                return -EBADMSG;
        sqlite3_bind_int64(row, 1, period);
        more = store_step(store, row);
        if (more != 1)
                return more < 0 ? more : -EBADMSG;
        ret->start_ns = sqlite3_column_int64(row, 0);
        ret->end_ns = sqlite3_column_int64(row, 1);
        for (size_t i = 0; i < ARRAY_SIZE(ret->sums); i++)
                ret->sums[i] = sqlite3_column_int64(row, 2 + (int)i);
        sqlite3_reset(row);
        return 0;
}

/* Columns of SQL_PERIOD_USAGE: app, state, active_ns, usage. */
int totals_add_period(struct store *store, struct totals *totals, int64_t period)
{
        sqlite3_stmt *rows = store_statement(store, SQL_PERIOD_USAGE);
        int more, err = 0;

        if (!rows)
                return -EBADMSG;
        sqlite3_bind_int64(rows, 1, period);
        while ((more = store_step(store, rows)) == 1) {
                struct reader reader = blob_of(rows, 3);
                uint64_t app = (uint64_t)sqlite3_column_int64(rows, 0);
                enum app_state state = sqlite3_column_int64(rows, 1) ? STATE_FOREGROUND : STATE_BACKGROUND;
                int64_t active_ns = sqlite3_column_int64(rows, 2);
                struct usage usage;
                struct total *total;

                err = active_ns < 0 ? -EBADMSG : get_usage(store, &reader, &usage, false);
                if (err)
                        break;
                total = totals_of(store, totals, app, state, &err);
                if (!err && (usage.have || !usage_is_zero(&usage))) /* else it was only alive, and says nothing */
                        err = usage_add(&total->usage, &usage);
                usage_clear(&usage);
                if (!err)
                        err = add_active(store, totals, app, state, (uint64_t)active_ns);
                if (err)
                        break;
        }
        sqlite3_reset(rows);
        return err ? err : more;
}
