/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What others put into a database, by its names or its bytes: an error and a sentence, or rows; never a
 * crash.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "store-fixture.h"

static void hostile_names_come_back_printable(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { .end_realtime_ns = START,
                                     .start_realtime_ns = START - S,
                                     .elapsed_ns = NS_PER_S };
        struct sum sum;

        add_row(&interval, "", STATE_BACKGROUND, 0);
        add_row(&interval, "a) R 1 (\x1b[31m", STATE_BACKGROUND, NS_PER_S)->usage.read_bytes = UINT64_MAX;
        check_int(store_append(store, &interval), 0);
        sum = total(store, INT64_MIN, INT64_MAX, STORE_RAW, "a) R 1 (?[31m");
        check(sum.usage.read_bytes == INT64_MAX); /* the most that a column holds */
        sum_clear(&sum);
        interval_clear(&interval);
        store_close(store);
        remove_database();
}

static uint64_t read_by(struct store *store, const char *app)
{
        struct sum sum = total(store, INT64_MIN, INT64_MAX, STORE_RAW, app);
        uint64_t bytes = sum.usage.read_bytes;

        sum_clear(&sum);
        return bytes;
}

static uint64_t best_of(struct store *store, const char *app)
{
        struct sum sum = total(store, INT64_MIN, INT64_MAX, STORE_BEST, app);
        uint64_t bytes = sum.usage.read_bytes;

        sum_clear(&sum);
        return bytes;
}

static void add_names(struct interval *interval, uid_t uid, int n)
{
        char app[32];

        for (int i = 0; i < n; i++) {
                struct interval_row *row;

                snprintf(app, sizeof(app), "flood-%u-%d", (unsigned)uid, i);
                row = add_row(interval, app, STATE_BACKGROUND, interval->elapsed_ns);
                row->uid = uid;
                row->usage.read_bytes = 1;
        }
}

/*
 * Whoever starts a program of a new name each second does not fill the disk, nor take the places of others'
 * apps; nor do all users together, however many they have made themselves.
 */
static void a_flood_of_names_ends_in_one_row(void)
{
        const int users = TUNING_STORE_APPS / TUNING_STORE_APPS_OF_USER, many = TUNING_STORE_OTHERS + 1000;
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { .end_realtime_ns = START,
                                     .start_realtime_ns = START - S,
                                     .elapsed_ns = NS_PER_S };

        add_row(&interval, "", STATE_BACKGROUND, 0);
        add_names(&interval, 1000, TUNING_STORE_APPS_OF_USER + 500);
        add_names(&interval, 1001, 1);
        check_int(store_append(store, &interval), 0);
        check_int(count_in_file("app"), TUNING_STORE_APPS_OF_USER + 3);
        check_int(read_by(store, TUNING_OTHER_APPS), 500);
        check_int(read_by(store, "flood-1001-0"), 1);
        for (int i = 0; i < users; i++)
                add_names(&interval, (uid_t)(2000 + i), TUNING_STORE_APPS_OF_USER);
        for (int i = 0; i < many; i++)
                add_names(&interval, (uid_t)(100000 + i), 1);
        interval.end_realtime_ns += S;
        check_int(store_append(store, &interval), 0);
        check_int(count_in_file("app"), TUNING_STORE_APPS + TUNING_STORE_OTHERS + 1);
        check_int(read_by(store, NULL), 2 * (TUNING_STORE_APPS_OF_USER + 501) + TUNING_STORE_APPS + many);
        interval_clear(&interval);
        store_close(store);
        remove_database();
}

/* Four users fill what they can of the table, and a fifth's app has its name; in time all have room again. */
static void a_full_table_frees_itself(void)
{
        const struct store_retention soon = { 1, 1, 0 };
        const int users = 4;
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { .end_realtime_ns = START, .start_realtime_ns = START - S, .elapsed_ns = NS_PER_S };
        uint64_t all;

        for (int i = 0; i < users; i++)
                add_names(&interval, (uid_t)(1000 + i), TUNING_STORE_APPS_OF_USER);
        check_int(store_append(store, &interval), 0);
        interval_clear(&interval);
        interval = (struct interval){ .end_realtime_ns = START + S, .start_realtime_ns = START, .elapsed_ns = NS_PER_S };
        add_names(&interval, 2000, 50);
        check_int(store_append(store, &interval), 0);
        check_int(read_by(store, "flood-2000-49"), 1);
        all = read_by(store, NULL);
        check_int(all, users * TUNING_STORE_APPS_OF_USER + 50);
        for (int day = 1; day <= 3; day++) {
                interval.end_realtime_ns = START + day * DAY;
                interval.start_realtime_ns = interval.end_realtime_ns - S;
                check_int(store_append(store, &interval), 0);
                check_int(store_roll_up(store, START + day * DAY + 2 * HOUR, &soon), 0);
                check_int(store_roll_up(store, START + day * DAY + 4 * HOUR, &soon), 0);
        }
        check(count_in_file("app") <= users * (TUNING_STORE_APPS_OF_PERIOD + 2) + 60);
        check(count_in_file("app") > users * (TUNING_STORE_APPS_OF_PERIOD - 2));
        check_int(best_of(store, NULL), all + 3 * 50); /* who did it is forgotten, not what was done */
        check_int(best_of(store, "flood-2000-49"), 4);
        interval_clear(&interval);
        interval = (struct interval){ .end_realtime_ns = START + 4 * DAY, .start_realtime_ns = START + 4 * DAY - S,
                                      .elapsed_ns = NS_PER_S };
        add_names(&interval, 1000, TUNING_STORE_APPS_OF_USER - TUNING_STORE_APPS_OF_PERIOD - 10);
        add_row(&interval, "new", STATE_BACKGROUND, NS_PER_S)->usage.read_bytes = 7;
        interval.rows[interval.n_rows - 1].uid = 1003;
        check_int(store_append(store, &interval), 0);
        check_int(read_by(store, "new"), 7);
        interval_clear(&interval);
        store_close(store);
        check_int(store_open(path, STORE_WRITE, NULL, &store), 0);
        check_int(best_of(store, "new"), 7);
        store_close(store);
        remove_database();
}

static void count_sentences(void *data, enum log_level level, const char *sentence)
{
        (*(int *)data)++;
}

static int ignore(void *data, const struct store_row *row)
{
        return 0;
}

/*
 * Opens and reads all of a database that somebody else wrote: an error and a sentence, or rows; never a
 * crash.
 */
static int read_all(int *sentences)
{
        const struct log log = { count_sentences, sentences };
        const struct store_query query = { INT64_MIN, INT64_MAX, STORE_BEST, NULL, -1 };
        struct store_battery battery;
        struct store *store = NULL;
        int err;

        *sentences = 0;
        err = store_open(path, STORE_READ, &log, &store);
        if (err)
                return err;
        err = store_rows(store, &query, ignore, NULL);
        store_battery(store, INT64_MIN, INT64_MAX, &battery);
        store_close(store);
        return err;
}

static void keep_sentence(void *data, enum log_level level, const char *sentence)
{
        snprintf(data, 256, "%s", sentence);
}

/* SQLite has one word for all that cannot be opened. */
static void too_many_open_files_are_named(void)
{
        struct rlimit before, none;
        char sentence[256] = "";
        const struct log log = { keep_sentence, sentence };
        struct store *store = NULL;

        store_close(open_store(STORE_WRITE));
        check_int(getrlimit(RLIMIT_NOFILE, &before), 0);
        none = before;
        none.rlim_cur = 0;
        for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
                check_int(setrlimit(RLIMIT_NOFILE, &none), 0);
                check_int(store_open(path, mode, &log, &store), -EMFILE);
                check_int(setrlimit(RLIMIT_NOFILE, &before), 0);
                check(strstr(sentence, "ulimit -n"));
        }
        remove_database();
}

static void hostile_databases_are_refused(void)
{
        static const char *const attacks[] = {
                "PRAGMA application_id = 1",
                "PRAGMA user_version = 99",
                "DROP TABLE usage",
                "CREATE VIEW v AS SELECT 1",
                "CREATE TRIGGER t AFTER INSERT ON app BEGIN DELETE FROM interval; END",
                "UPDATE usage SET cpu = x'ffffffffffffffffffff', cpu_busy_ns = 9",
                "UPDATE usage SET cpu = x'0200ff'",
                "UPDATE usage SET cpu = randomblob(50)",
                "UPDATE usage SET cpu_busy_ns = cpu_busy_ns + 1",
                "UPDATE usage SET cpu = NULL",
                "UPDATE usage SET screen = x'80', screen_on_ns = 5",
                "UPDATE usage SET read_bytes = -1",
                "UPDATE usage SET active_ns = -1",
                "UPDATE usage SET interval = 0",
                "DELETE FROM usage WHERE id = 3",
                "UPDATE interval SET n_usages = -1",
                "UPDATE interval SET first_usage = 9223372036854775807",
                "UPDATE interval SET shape = x'80'",
                "UPDATE alive SET apps = x'ffffff'",
                "UPDATE interval SET elapsed_ns = -1",
                "DELETE FROM app",
                "ALTER TABLE interval DROP COLUMN discharge_uj",
                "DROP TABLE sleep",
                "PRAGMA user_version = 2",
        };

        for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
                struct store *store = open_store(STORE_WRITE);
                int sentences, err;

                append_days(store, START, START + 600 * S, 60 * S);
                store_close(store);
                check_int(read_all(&sentences), 0);
                run_sql(attacks[i]);
                err = read_all(&sentences);
                check_int(err, -EBADMSG);
                check_int(sentences >= 1, 1);
                if (err != -EBADMSG)
                        fprintf(stderr, "in: %s\n", attacks[i]);
                remove_database();
        }
}

static void damaged_files_do_not_crash(void)
{
        for (int round = 0; round < 60; round++) {
                struct store *store = open_store(STORE_WRITE);
                int fd, sentences;

                append_days(store, START, START + 3 * HOUR, 300 * S);
                check_int(store_roll_up(store, START + 4 * HOUR, &keep_all), 0);
                store_close(store);
                fd = open(path, O_RDWR);
                for (int i = 0; i < 40; i++) {
                        unsigned char byte = (unsigned char)draw();

                        check(pwrite(fd, &byte, 1, (off_t)(draw() % 60000) + (round % 2 ? 100 : 0)) == 1);
                }
                if (round % 5 == 0)
                        check_int(ftruncate(fd, (off_t)(draw() % 40000)), 0);
                close(fd);
                read_all(&sentences);
                if (store_open(path, STORE_WRITE, NULL, &store) == 0) {
                        struct interval interval = { 0 };

                        make_interval(&interval, START + 5 * HOUR, 1000, 3);
                        store_append(store, &interval);
                        store_roll_up(store, START + 9 * HOUR, &keep_all);
                        interval_clear(&interval);
                        store_close(store);
                }
                remove_database();
        }
}

int main(void)
{
        name_database();
        hostile_names_come_back_printable();
        a_flood_of_names_ends_in_one_row();
        a_full_table_frees_itself();
        too_many_open_files_are_named();
        hostile_databases_are_refused();
        damaged_files_do_not_crash();
        remove_database();
        return check_result();
}
