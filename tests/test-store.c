/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The store: what goes in comes out, for one writer and many readers, all of an interval or nothing. */

#include <errno.h>

#include "store-fixture.h"

/*
 * Proportions as time_in_state makes them, with what breaks them:
 * a missing point, any beyond busy, huge numbers.
 */
static void fill_in_shape(struct usage *usage, uint64_t busy_ns, unsigned round)
{
        usage->have = USAGE_CPU;
        for (uint32_t i = 0; i < 20; i++) {
                uint64_t part_ns = busy_ns / 210 * (i + 1) + draw() % 3;

                if (round % 3 == 1 && i == round % 20)
                        continue;
                if (round % 7 == 2 && i == 4)
                        part_ns = draw() >> 9;
                usage_add_cpu(usage, i / 10 * 4, 300000 + i * 100000, part_ns,
                              round % 5 == 3 ? part_ns * 2 : part_ns / 3);
        }
}

static void shaped_usages_come_back_exactly(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { 0 };
        struct sum want = { .active_ns = 0 }, got;

        make_interval(&interval, START, NS_PER_S, 0);
        for (unsigned i = 0; i < 60; i++) {
                char app[16];

                snprintf(app, sizeof(app), "app-%u", i);
                fill_in_shape(&add_row(&interval, 100 + (pid_t)i, app, STATE_BACKGROUND)->usage,
                              draw() % NS_PER_S, i);
        }
        for (size_t i = 0; i < interval.n_rows; i++)
                check_int(usage_add(&want.usage, &interval.rows[i].usage), 0);
        check_int(store_append(store, &interval), 0);
        for (unsigned i = 0; i < 60; i += 7) {
                struct sum one = { .usage = { 0 } };
                char app[16];

                snprintf(app, sizeof(app), "app-%u", i);
                check_int(usage_copy(&one.usage, &interval.rows[1 + i].usage), 0);
                got = total(store, INT64_MIN, INT64_MAX, STORE_RAW, app);
                check_same(got, one, app);
        }
        got = total(store, INT64_MIN, INT64_MAX, STORE_RAW, NULL);
        check_same(got, want, "shaped");
        interval_clear(&interval);
        store_close(store);
        remove_database();
}

static void empty_and_missing(void)
{
        struct store *store = NULL;
        struct store_battery battery;

        check_int(store_open(path, STORE_READ, NULL, &store), -ENOENT);
        store = open_store(STORE_WRITE);
        check_int(store_battery(store, INT64_MIN, INT64_MAX, &battery), -ENODATA);
        check_int(count_rows(store, NULL), 0);
        store_close(store);
        remove_database();
}

static void one_writer_many_readers(void)
{
        struct store *writer = open_store(STORE_WRITE), *second = NULL, *reader;

        check_int(store_open(path, STORE_WRITE, NULL, &second), -EBUSY);
        append_days(writer, START, START + 10 * S, 10 * S);
        reader = open_store(STORE_READ);
        check_int(count_rows(reader, ""), 1);
        append_days(writer, START + 10 * S, START + 20 * S, 10 * S);
        check_int(count_rows(reader, ""), 2);
        check_int(store_append(reader, &(struct interval){ 0 }), -EROFS);
        store_close(writer);
        writer = open_store(STORE_WRITE);
        store_close(writer);
        store_close(reader);
        remove_database();
}

/*
 * An interval and the names that came with it are there at once,
 * or not at all; and so is one that brings no names.
 */
static void failed_append_leaves_nothing(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { .end_realtime_ns = START,
                                     .start_realtime_ns = START - S,
                                     .elapsed_ns = NS_PER_S };

        add_row(&interval, 0, "", STATE_BACKGROUND);
        check_int(store_append(store, &interval), 0);
        run_sql("CREATE UNIQUE INDEX one_length ON interval (elapsed_ns)");
        interval.end_realtime_ns += S;
        check_int(store_append(store, &interval), -EBADMSG); /* it is all there is to write */
        add_row(&interval, 7, "new", STATE_BACKGROUND)->usage.read_bytes = 5;
        add_alive(&interval, "new", STATE_BACKGROUND, NS_PER_S);
        check_int(store_append(store, &interval), -EBADMSG);
        check_int(count_in_file("interval"), 1);
        check_int(count_in_file("process"), 0);
        check_int(count_in_file("app"), 1); /* nobody */
        run_sql("DROP INDEX one_length");
        check_int(store_append(store, &interval), 0);
        interval.end_realtime_ns += S;
        check_int(store_append(store, &interval), 0); /* no new name: alone */
        check_int(count_in_file("interval"), 3);
        check_int(count_in_file("process"), 1);
        check_int(count_rows(store, "new"), 2);
        interval_clear(&interval);
        store_close(store);
        remove_database();
}

static int count_uid(void *data, const struct store_row *row)
{
        check_int(row->uid, 1000);
        (*(int *)data)++;
        return *(int *)data == 3 ? 42 : 0;
}

static void rows_of_one_user_until_told_to_stop(void)
{
        struct store *store = open_store(STORE_WRITE);
        const struct store_query query = { INT64_MIN, INT64_MAX, STORE_RAW, NULL, 1000 };
        int n = 0;

        append_days(store, START, START + 600 * S, 60 * S);
        check_int(store_rows(store, &query, count_uid, &n), 42);
        check_int(n, 3);
        append_days(store, START + 600 * S, START + 660 * S, 60 * S); /* no transaction is left open */
        store_close(store);
        remove_database();
}

int main(void)
{
        name_database();
        shaped_usages_come_back_exactly();
        empty_and_missing();
        one_writer_many_readers();
        failed_append_leaves_nothing();
        rows_of_one_user_until_told_to_stop();
        remove_database();
        return check_result();
}
