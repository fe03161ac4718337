/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * All usages of an hour or a day are one value, the period's row in table summary, so that a reader takes few pages
 * that lie side by side and no column for each amount. Packed (util/bytes.h), ascending by app and state, for each app
 *
 *   how many bytes of it follow; the app's id; its state; active_ns; have;
 *   a bit for each amount of amount_kinds (of an older version: of its layout) that is not 0, and these amounts;
 *   for each of keyed_kinds how many bytes its points take, and these, as in a column of table usage
 */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/util.h"

/* Appends @part with its length before it. */
static int put_part(struct bytes *bytes, const struct bytes *part)
{
        int err = bytes_put(bytes, part->n);

        return err ? err : bytes_put_raw(bytes, part->data, part->n);
}

static int put_amounts(struct bytes *bytes, const struct usage *usage)
{
        uint64_t bits = 0;
        int err;

        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                bits |= (uint64_t)(usage->amount[i] != 0) << i;
        err = bytes_put(bytes, bits);
        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++)
                if (usage->amount[i])
                        err = bytes_put(bytes, (uint64_t)store_clamp(usage->amount[i]));
        return err;
}

/* One app, into @part. */
static int pack_total(struct store *store, const struct total *total, struct bytes *part)
{
        const uint64_t head[] = { (uint64_t)store->apps[total->app].id, total->state,
                                  (uint64_t)store_clamp(total->active_ns), total->usage.have & USAGE_ALL };
        int err = 0;

        part->n = 0;
        for (size_t i = 0; !err && i < ARRAY_SIZE(head); i++)
                err = bytes_put(part, head[i]);
        if (!err)
                err = put_amounts(part, &total->usage);
        for (size_t k = 0; !err && k < KEYED_COUNT; k++) {
                store->bytes.n = 0;
                err = store_put_points(store, k, &total->usage.keyed[k]);
                if (!err)
                        err = put_part(part, &store->bytes);
        }
        return err;
}

static int by_app_and_state(const void *a, const void *b)
{
        const struct total *one = *(const struct total *const *)a, *other = *(const struct total *const *)b;

        if (one->app != other->app)
                return one->app < other->app ? -1 : 1;
        return (int)one->state - (int)other->state;
}

static int pack(struct store *store, const struct totals *totals, struct bytes *ret)
{
        _cleanup_free_ const struct total **list = calloc(totals->n + 1, sizeof(*list));
        _cleanup_(bytes_clear) struct bytes part = { 0 };
        int err = list ? 0 : -ENOMEM;
        size_t n = 0;

        for (size_t i = 0; !err && i < totals->n; i++)
                if (totals->list[i].active_ns || !usage_is_empty(&totals->list[i].usage))
                        list[n++] = &totals->list[i];
        if (n > 0)
                qsort(list, n, sizeof(*list), by_app_and_state);
        for (size_t i = 0; !err && i < n; i++) {
                err = pack_total(store, list[i], &part);
                if (!err)
                        err = put_part(ret, &part);
        }
        return err;
}

int store_add_summary(struct store *store, int64_t period, const struct totals *totals)
{
        _cleanup_(bytes_clear) struct bytes packed = { 0 };
        sqlite3_stmt *add = store_statement(store, SQL_ADD_SUMMARY);
        int err = add ? pack(store, totals, &packed) : -EBADMSG;

        if (err)
                return err;
        sqlite3_bind_int64(add, 1, period);
        sqlite3_bind_blob64(add, 2, packed.data ? (const void *)packed.data : "", packed.n, SQLITE_STATIC);
        err = store_step(store, add);
        sqlite3_clear_bindings(add);
        return err;
}

/* Reads a number of at most @most, as our writers do; data of other writers may be anything. */
static int get_number(struct bytes_reader *reader, uint64_t most, uint64_t *ret)
{
        int err = bytes_get(reader, ret);

        return err ? err : *ret <= most ? 0 : -EBADMSG;
}

/* The next @length bytes, of which there must be as many, by themselves. */
static int get_part(struct bytes_reader *reader, struct bytes_reader *ret)
{
        uint64_t length = 0;
        int err = get_number(reader, (uint64_t)(reader->end - reader->at), &length);

        if (err || length > (uint64_t)(reader->end - reader->at))
                return -EBADMSG;
        *ret = (struct bytes_reader){ reader->at, reader->at + length };
        reader->at += length;
        return 0;
}

static int get_amounts(const struct layout *layout, struct bytes_reader *reader, struct usage *ret)
{
        uint64_t bits = 0;
        int err = get_number(reader, (UINT64_C(1) << layout->n_amounts) - 1, &bits);

        for (size_t i = 0; !err && i < layout->n_amounts; i++)
                if (bits & UINT64_C(1) << i)
                        err = get_number(reader, INT64_MAX, &ret->amount[layout->amounts[i]]);
        return err;
}

static int get_keyed(const struct store *store, struct bytes_reader *reader, struct usage *ret)
{
        struct bytes_reader points;
        int err = 0;

        for (size_t i = 0; !err && i < store->layout.n_keyed; i++) {
                enum keyed keyed = store->layout.keyed[i];

                err = get_part(reader, &points);
                if (!err && points.at < points.end)
                        err = store_get_points(store, keyed, points, &ret->keyed[keyed]);
        }
        return err ? err : reader->at == reader->end ? 0 : -EBADMSG;
}

/* Keeps only the times of a usage if these are enough; its points are not read then. */
static void keep_times(struct usage *usage)
{
        *usage = (struct usage){ .time_ns = usage->time_ns, .suspend_ns = usage->suspend_ns };
}

static int add_app(struct store *store, struct totals *totals, struct bytes_reader reader)
{
        uint64_t app = 0, state = 0, active_ns = 0, have = 0;
        struct usage usage = { 0 };
        int err = get_number(&reader, INT64_MAX, &app);

        if (!err)
                err = get_number(&reader, STATE_FOREGROUND, &state);
        if (!err)
                err = get_number(&reader, INT64_MAX, &active_ns);
        if (!err)
                err = get_number(&reader, USAGE_ALL, &have);
        usage.have = (uint32_t)have;
        if (!err)
                err = get_amounts(&store->layout, &reader, &usage);
        if (!err && !totals->times)
                err = get_keyed(store, &reader, &usage);
        if (!err && totals->times)
                keep_times(&usage);
        if (!err)
                err = totals_add_usage(store, totals, app, (enum app_state)state, active_ns, &usage);
        usage_clear(&usage);
        return err;
}

int store_summary_add(struct store *store, struct totals *totals, int64_t period)
{
        sqlite3_stmt *row = store_statement(store, SQL_SUMMARY);
        struct bytes_reader reader, app;
        int more, err = 0;

        if (!row)
                return -EBADMSG;
        sqlite3_bind_int64(row, 1, period);
        more = store_step(store, row);
        if (more != 1)
                return more < 0 ? more : -EBADMSG;
        err = sqlite3_column_type(row, 0) == SQLITE_BLOB ? 0 : -EBADMSG;
        reader = store_reader_of(row, 0);
        while (!err && reader.at < reader.end) {
                err = get_part(&reader, &app);
                if (!err)
                        err = add_app(store, totals, app);
        }
        sqlite3_reset(row);
        return err;
}

int store_each_summary_app(struct store *store, void (*each)(void *data, uint64_t app), void *data)
{
        sqlite3_stmt *rows = store_statement(store, SQL_SUMMARIES);
        int more = 0, err = 0;

        if (!rows)
                return -EBADMSG;
        while (!err && (more = store_step(store, rows)) == 1) {
                struct bytes_reader reader = store_reader_of(rows, 0), part;
                uint64_t app = 0;

                while (!err && reader.at < reader.end) {
                        err = get_part(&reader, &part);
                        if (!err)
                                err = bytes_get(&part, &app);
                        if (!err)
                                each(data, app);
                }
        }
        sqlite3_reset(rows);
        return err ? err : more;
}
