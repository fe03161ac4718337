/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Databases and bytes that an older joulecast wrote. */

#include "store-fixture.h"

/* What the first version of the schema had not. */
static const char to_version_1[] =
        "ALTER TABLE interval DROP COLUMN split_by; ALTER TABLE period DROP COLUMN counted_ns;"
        "ALTER TABLE period DROP COLUMN shared_ns; DROP TABLE sleep; PRAGMA user_version = 1";

static void older_databases_are_read_and_migrated(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct store_battery now, old;
        struct store_sleep sleeps[8];
        struct sum totals;

        append_days(store, START, START + 30 * HOUR, 301 * S);
        append_sleep(store, START + 40 * HOUR, 8 * 3600 * NS_PER_S, INTERVAL_DISCHARGE);
        check_int(store_roll_up(store, START + 30 * HOUR, &keep_all), 0);
        now = battery_of_all(store);
        totals = total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL);
        store_close(store);
        run_sql(to_version_1);

        store = open_store(STORE_READ);
        old = battery_of_all(store);
        check_int(old.elapsed_ns, now.elapsed_ns);
        check_int(old.discharge_uj, now.discharge_uj);
        check_int(old.counted_ns, 0);
        check_int(old.shared_ns, 0);
        check_int(read_sleeps(store, sleeps), 0);
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL), totals, "version 1, read");
        totals = total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL);
        store_close(store);

        store = open_store(STORE_WRITE);
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL), totals, "version 1, migrated");
        append_days(store, START + 50 * HOUR, START + 50 * HOUR + 10 * 301 * S, 301 * S);
        append_sleep(store, START + 60 * HOUR, 8 * 3600 * NS_PER_S, INTERVAL_DISCHARGE);
        check_int(store_roll_up(store, START + 72 * HOUR, &keep_all), 0);
        check_int(battery_of_all(store).counted_ns, 5 * 301 * NS_PER_S);
        check_int(read_sleeps(store, sleeps), 1);
        store_close(store);
        store = open_store(STORE_WRITE); /* once is enough */
        store_close(store);
        remove_database();
}

/*
 * Bytes as they were before any_ns was told by a difference and before shared weights stood in an interval:
 * by hand, from the comment in store-blob.c. The first usage has two operating points in full, (100, 50) and
 * (200, 25) ns; the other is 600 ns in the shape of the first.
 */
static void older_bytes_are_read(void)
{
        static const char text[] =
                "DELETE FROM opp; INSERT INTO opp VALUES (1, 0, 300000), (2, 0, 600000);"
                "UPDATE interval SET usage = x'02009f800404016432' || x'02c80119' || x'03009f800401d8040004'";
        struct store *store = open_store(STORE_WRITE);
        struct sum sum;

        append_days(store, START, START + 60 * S, 60 * S);
        store_close(store);
        run_sql(text);
        run_sql(to_version_1);
        for (unsigned i = 0; i < 2; i++) { /* read as it is; migrated and rolled up */
                store = open_store(i == 0 ? STORE_READ : STORE_WRITE);
                if (i == 1)
                        check_int(store_roll_up(store, START + 30 * HOUR, &keep_all), 0);
                sum = total(store, INT64_MIN, INT64_MAX, i == 0 ? STORE_BEST : STORE_HOUR, NULL);
                check_int(sum.usage.n_cpu, 2);
                check_int(sum.usage.n_cpu > 1 && sum.usage.cpu[1].khz == 600000, true);
                for (size_t j = 0; j < sum.usage.n_cpu && j < 2; j++) {
                        check_int(sum.usage.cpu[j].busy_ns, j == 0 ? 300 : 600);
                        check_int(sum.usage.cpu[j].any_ns, j == 0 ? 150 : 75);
                }
                future_sum_clear(&sum);
                store_close(store);
        }
        remove_database();
}

int main(void)
{
        name_database();
        older_databases_are_read_and_migrated();
        older_bytes_are_read();
        remove_database();
        return check_result();
}
