/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A usage as columns: one for each amount of the table in component.h, by its word. NULL is 0, or was not counted
 * where column `have` lacks the bit of the amount (enum usage_have). Of each keyed amount there is a column with
 * the sum, as cpu_busy_ns, and one with its points, as cpu, packed (util/bytes.h), for each point
 *
 *   the id of its (group, key) in table key, or its key + 1 where keys have no group; ns; any_ns if it has one
 *
 * Those of radios are packed more closely (model/radio-usage.h).
 *
 * In an interval whose CPU time was shared by the machine's proportions (column interval.shape, packed likewise),
 * usages that have these proportions have the sum only: usage_points_share() gives their points back to the ns.
 */

#include <errno.h>
#include <string.h>

#include "model/radio-usage.h"
#include "store-private.h"
#include "util/util.h"

struct bytes_reader store_reader_of(sqlite3_stmt *statement, int column)
{
        const unsigned char *blob = sqlite3_column_blob(statement, column);
        int n = sqlite3_column_bytes(statement, column);

        return (struct bytes_reader){ blob, blob ? blob + n : blob };
}

static int put_point(struct store *store, enum keyed keyed, const struct point *point)
{
        const struct keyed_kind *kind = &keyed_kinds[keyed];
        int64_t id = (int64_t)(uint32_t)(point->key + 1); /* the unknown brightness is 0 */
        int err = kind->group ? names_key(store, keyed, point->group, point->key, &id) : 0;

        if (!err)
                err = bytes_put(&store->bytes, (uint64_t)id);
        if (!err)
                err = bytes_put(&store->bytes, point->ns);
        return err || !kind->any_ns ? err : bytes_put(&store->bytes, point->any_ns);
}

int store_put_points(struct store *store, enum keyed keyed, const struct points *points)
{
        int err = 0;

        if (keyed == KEYED_RADIO)
                return radio_usage_pack(points, &store->bytes);
        for (size_t i = 0; !err && i < points->n; i++)
                err = put_point(store, keyed, &points->list[i]);
        return err;
}

static int get_point(const struct store *store, enum keyed keyed, struct bytes_reader *reader, struct point *ret)
{
        const struct keyed_kind *kind = &keyed_kinds[keyed];
        uint64_t id = 0;
        int err = bytes_get(reader, &id);

        if (!err)
                err = bytes_get(reader, &ret->ns);
        if (!err && kind->any_ns)
                err = bytes_get(reader, &ret->any_ns);
        if (err || !kind->group) {
                ret->key = (uint32_t)id - 1;
                return err || id > UINT32_MAX ? -EBADMSG : 0;
        }
        return names_find_key(store, keyed, id, ret) ? 0 : -EBADMSG;
}

/* Mostly they ascend, as they were written. @room: of the list; 0 once it has no more than it needs. */
static int put_last(struct points *points, size_t *room, const struct point *point)
{
        if (points->n < *room && (points->n == 0 || usage_point_compare(&points->list[points->n - 1], point) < 0)) {
                points->list[points->n++] = *point;
                return 0;
        }
        *room = 0;
        return usage_points_add(points, point);
}

int store_get_points(const struct store *store, enum keyed keyed, struct bytes_reader reader, struct points *ret)
{
        struct points points = { 0 };
        int err = keyed == KEYED_RADIO ? radio_usage_unpack(&reader, &points) : 0;
        size_t room = 0;

        if (!err && reader.at < reader.end) {
                room = bytes_count(&reader) / (keyed_kinds[keyed].any_ns ? 3 : 2);
                points.list = reallocarray(NULL, room + 1, sizeof(*points.list));
                err = points.list ? 0 : -ENOMEM;
        }
        while (!err && reader.at < reader.end) {
                struct point point = { 0 };

                err = get_point(store, keyed, &reader, &point);
                if (!err)
                        err = put_last(&points, &room, &point);
        }
        if (err)
                free(points.list);
        else
                *ret = points;
        return err == -ENOMEM ? err : err ? -EBADMSG : 0;
}

bool store_is_common_column(int column)
{
        int amount = column - USAGE_COLUMN_AMOUNTS, keyed = amount - AMOUNT_COUNT;
        uint32_t have = amount < 0 ? USAGE_ALL : keyed < 0 ? amount_kinds[amount].have : keyed_kinds[keyed / 2].have;

        return have & (USAGE_CPU | USAGE_DISK);
}

bool store_is_common(const struct usage *usage)
{
        for (int i = 0; i < AMOUNT_COUNT; i++)
                if (usage->amount[i] && !store_is_common_column(USAGE_COLUMN_AMOUNTS + i))
                        return false;
        for (int k = 0; k < KEYED_COUNT; k++)
                if (usage->keyed[k].n && !store_is_common_column(USAGE_COLUMN_AMOUNTS + AMOUNT_COUNT + 2 * k))
                        return false;
        return true;
}

/* Where the points of each keyed amount begin in store->bytes. */
struct packed {
        size_t from[KEYED_COUNT + 1];
};

static int pack(struct store *store, const struct store_usage *row, struct packed *ret)
{
        int err = 0;

        for (size_t k = 0; !err && k < KEYED_COUNT; k++) {
                ret->from[k] = store->bytes.n;
                if (k != KEYED_CPU || !row->shaped)
                        err = store_put_points(store, k, &row->usage->keyed[k]);
        }
        ret->from[KEYED_COUNT] = store->bytes.n;
        return err;
}

static void bind_amount(sqlite3_stmt *add, int at, uint64_t amount)
{
        if (amount)
                sqlite3_bind_int64(add, at, store_clamp(amount));
}

/* The values of a row from parameter @at on. Returns the parameter of the next row. */
static int bind(const struct store *store, sqlite3_stmt *add, int at, bool common, const struct store_usage *row,
                const struct packed *packed)
{
        const struct usage *usage = row->usage;
        int column = USAGE_COLUMN_AMOUNTS;

        sqlite3_bind_int64(add, at++, row->span);
        sqlite3_bind_int64(add, at++, row->app);
        sqlite3_bind_int64(add, at++, row->state);
        sqlite3_bind_int64(add, at++, store_clamp(row->active_ns));
        sqlite3_bind_int64(add, at++, usage->have & USAGE_ALL);
        for (size_t i = 0; i < AMOUNT_COUNT; i++, column++)
                if (!common || store_is_common_column(column))
                        bind_amount(add, at++, usage->amount[i]);
        for (size_t k = 0; k < KEYED_COUNT; k++, column += 2) {
                size_t from = packed->from[k], length = packed->from[k + 1] - from;

                if (common && !store_is_common_column(column))
                        continue;
                bind_amount(add, at++, usage_points_sum_ns(&usage->keyed[k]));
                if (length)
                        sqlite3_bind_blob(add, at, store->bytes.data + from, (int)length, SQLITE_STATIC);
                at++;
        }
        return at;
}

int store_insert_usages(struct store *store, enum statement which, const struct store_usage *rows, size_t n)
{
        sqlite3_stmt *add = store_statement(store, which);
        struct packed packed[USAGES_AT_ONCE];
        int err = add ? 0 : -EBADMSG, at = 1;

        store->bytes.n = 0;
        for (size_t i = 0; !err && i < n; i++)
                err = pack(store, &rows[i], &packed[i]);
        if (err)
                return err;
        sqlite3_clear_bindings(add);
        for (size_t i = 0; i < n; i++)
                at = bind(store, add, at, which == SQL_ADD_COMMON_USAGES, &rows[i], &packed[i]);
        return store_step(store, add);
}

static int get_amount(sqlite3_stmt *row, int column, uint64_t *ret)
{
        int type = sqlite3_column_type(row, column);

        *ret = 0;
        if (type == SQLITE_NULL) /* most are */
                return 0;
        *ret = (uint64_t)sqlite3_column_int64(row, column);
        return type == SQLITE_INTEGER && *ret <= INT64_MAX ? 0 : -EBADMSG;
}

int store_read_usage_times(sqlite3_stmt *row, struct usage *ret)
{
        int err = get_amount(row, USAGE_COLUMN_ACTIVE, &ret->time_ns);

        return err ? err : get_amount(row, USAGE_COLUMN_ACTIVE + 1, &ret->suspend_ns);
}

/* The points of a sum, and nothing else. Without points it has the shape of the interval. */
static int get_keyed(const struct store *store, sqlite3_stmt *row, int column, enum keyed keyed,
                     const struct points *shape, struct points *ret)
{
        uint64_t sum_ns = 0;
        int err = get_amount(row, column, &sum_ns);
        bool none = sqlite3_column_type(row, column + 1) == SQLITE_NULL;

        if (err || (none && sum_ns == 0))
                return err;
        if (none && keyed == KEYED_CPU)
                err = shape->n > 0 ? usage_points_share(shape, sum_ns, ret) : -EBADMSG;
        else
                err = store_get_points(store, keyed, store_reader_of(row, column + 1), ret);
        return err ? err : MIN(usage_points_sum_ns(ret), (uint64_t)INT64_MAX) == sum_ns ? 0 : -EBADMSG;
}

int store_read_usage(const struct store *store, sqlite3_stmt *row, const struct points *shape, struct usage *ret)
{
        struct usage usage = { .have = (uint32_t)sqlite3_column_int64(row, USAGE_COLUMN_HAVE - 1) & USAGE_ALL };
        int column = USAGE_COLUMN_AMOUNTS - 1, err = 0;

        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++)
                err = get_amount(row, column++, &usage.amount[i]);
        for (size_t k = 0; !err && k < KEYED_COUNT; k++, column += 2)
                err = get_keyed(store, row, column, k, shape, &usage.keyed[k]);
        if (err) {
                usage_clear(&usage);
                return err;
        }
        *ret = usage;
        return 0;
}
