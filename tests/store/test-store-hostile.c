/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Databases that others changed, by SQL or in their bytes: the result is an error and a message, or rows; never a
 * crash.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "store-fixture.h"

/* Hundreds of databases are made, and none has to reach the disk. */
int fdatasync(int fd)
{
        return 0;
}

int fsync(int fd)
{
        return 0;
}

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
        interval = (struct interval){ .end_realtime_ns = START + S,
                                      .start_realtime_ns = START,
                                      .elapsed_ns = NS_PER_S };
        add_names(&interval, 2000, 50);
        check_int(store_append(store, &interval), 0);
        check_int(read_by(store, "flood-2000-49"), 1);
        all = read_by(store, NULL);
        check_int(all, users * TUNING_STORE_APPS_OF_USER + 50);
        for (int day = 1; day <= 3; day++) {
                interval.end_realtime_ns = START + day * DAY;
                interval.start_realtime_ns = interval.end_realtime_ns - DAY;
                interval.elapsed_ns = (uint64_t)DAY; /* retention is time that was recorded */
                check_int(store_append(store, &interval), 0);
                check_int(store_roll_up(store, START + day * DAY + 2 * HOUR, &soon), 0);
                check_int(store_roll_up(store, START + day * DAY + 4 * HOUR, &soon), 0);
        }
        check(count_in_file("app") <= users * (TUNING_STORE_APPS_OF_PERIOD + 2) + 60);
        check(count_in_file("app") > users * (TUNING_STORE_APPS_OF_PERIOD - 2));
        check_int(best_of(store, NULL), all + 3 * 50); /* the apps are forgotten, but not their usage */
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

static int ignore_poll(void *data, const struct store_poll *poll)
{
        return 0;
}

/* Opens and reads all of a database that another program wrote: an error and a message, or rows; never a crash. */
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
        store_polls(store, INT64_MIN, INT64_MAX, ignore_poll, NULL);
        store_close(store);
        return err;
}

static void keep_sentence(void *data, enum log_level level, const char *sentence)
{
        snprintf(data, 256, "%s", sentence);
}

/* SQLite has one error for all files that cannot be opened. */
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
                "UPDATE interval SET elapsed_ns = 1.5",
                "UPDATE interval SET elapsed_ns = 9223372036854775807",
                "UPDATE interval SET suspend_ns = elapsed_ns + 1",
                "UPDATE interval SET start_ns = end_ns + 1",
                "UPDATE interval SET discharge_uj = 9e999",
                "UPDATE interval SET discharge_uj = 'many'",
                "UPDATE interval SET discharge_uj = -1",
                "UPDATE usage SET read_bytes = 9e999",
                "UPDATE usage SET active_ns = 'x'",
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

static int64_t known_ns(bool joules)
{
        struct store *store = open_store(STORE_READ);
        struct store_battery battery;

        check_int(store_battery(store, INT64_MIN, INT64_MAX, &battery), 0);
        store_close(store);
        return (int64_t)(joules ? battery.known_ns : battery.percent_known_ns);
}

/*
 * Older versions wrote some: a battery that was taken out had given more than all. The rest of the file is
 * as good as ever.
 */
static void impossible_discharges_are_unknown(void)
{
        static const struct {
                const char *sql;
                int joules, percents; /* still known, of 10 minutes */
        } cases[] = {
                { "UPDATE interval SET discharge_uj = 9223372036854775807 WHERE rowid % 2", 5, 10 },
                { "UPDATE interval SET discharge_npercent = 100000000001", 0, 0 },
                { "UPDATE interval SET discharge_npercent = 166666666666, discharge_uj = 144000000000"
                  " WHERE end_ns = (SELECT max(end_ns) FROM interval)", 9, 9 },
                { "UPDATE interval SET discharge_npercent = 100000000000", 10, 10 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct store *store = open_store(STORE_WRITE);
                int sentences;

                append_days(store, START, START + 600 * S, 60 * S);
                store_close(store);
                run_sql("UPDATE interval SET discharge_uj = 1, discharge_npercent = 1");
                run_sql(cases[i].sql);
                check_int(read_all(&sentences), 0);
                if (i > 0)
                        check_int(known_ns(true), cases[i].joules * 60 * S);
                check_int(known_ns(false), cases[i].percents * 60 * S);
                remove_database();
        }
}

/* A reader accepts everything that the writer stores. */
static void nothing_is_written_that_readers_refuse(void)
{
        static const struct {
                uint64_t uj;
                double percent;
        } cases[] = {
                { 1, 100 }, { 1, 100.1 }, { 144000000000, 166.7 }, { UINT64_MAX, 1 }, { 1, 1e300 }, { 1, NAN },
                { UINT64_C(1) << 62, 50 }, { 1, -1 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct store *store = open_store(STORE_WRITE);
                struct interval interval = { 0 };
                int sentences;

                make_interval(&interval, START + 60 * S, 60 * S, 3);
                interval.battery_have = INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT;
                interval.discharge_uj = cases[i].uj;
                interval.discharge_percent = cases[i].percent;
                check_int(store_append(store, &interval), 0);
                store_close(store);
                check_int(read_all(&sentences), 0);
                check_int(known_ns(false), i == 0 || i == 6 || i == 3 ? 60 * S : 0);
                interval_clear(&interval);
                remove_database();
        }
}

/* Hours and days, which nothing finer speaks for. */
static void hostile_sums_are_refused(void)
{
        static const char *const attacks[] = {
                "UPDATE period SET discharge_uj = 9e999",
                "UPDATE period SET discharge_uj = -1",
                "UPDATE period SET discharge_uj = 9223372036854775807",
                "UPDATE period SET elapsed_ns = 0",
                "UPDATE period SET known_ns = elapsed_ns + 1",
                "UPDATE period SET counted_ns = elapsed_ns, shared_ns = 1",
                "DELETE FROM summary",
                "UPDATE summary SET usages = 9e999",
                "UPDATE summary SET usages = CAST(usages AS TEXT)",
                "UPDATE summary SET usages = substr(usages, 1, length(usages) - 1)",
                "UPDATE summary SET usages = substr(usages, 2)",
                "UPDATE summary SET usages = usages || x'00'",
                "UPDATE summary SET usages = x'7f01'",
                "UPDATE summary SET usages = x'ffffffffffffffffff01'",
        };

        for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
                struct store *store = open_store(STORE_WRITE);
                int sentences, err;

                append_days(store, START, START + 2 * DAY, 1800 * S);
                store_close(store); /* else the last ones could get new dates */
                store = open_store(STORE_WRITE);
                check_int(store_roll_up(store, START + 4 * DAY, &(struct store_retention){ 1, 1, 0 }), 0);
                store_close(store);
                check_int(read_all(&sentences), 0);
                run_sql(attacks[i]);
                err = read_all(&sentences);
                check_int(err, -EBADMSG);
                check_int(sentences, 1);
                if (err != -EBADMSG)
                        fprintf(stderr, "in: %s\n", attacks[i]);
                remove_database();
        }
}

static void a_newer_one_is_refused_and_left(void)
{
        char sentence[256] = "";
        const struct log log = { keep_sentence, sentence };
        struct store *store = open_store(STORE_WRITE);

        append_days(store, START, START + 600 * S, 60 * S);
        store_close(store);
        run_sql("PRAGMA user_version = 1000000");
        for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
                check_int(store_open(path, mode, &log, &store), -EPROTONOSUPPORT);
                check(strstr(sentence, "a newer version of joulecast made"));
        }
        check_int(count_in_file("interval"), 10);
        remove_database();
}

static uint64_t mix(uint64_t sum, uint64_t number)
{
        return (sum ^ number) * UINT64_C(0x9e3779b97f4a7c15) ^ sum >> 29;
}

static int mix_row(void *data, const struct store_row *row)
{
        uint64_t sum = mix(mix(*(uint64_t *)data, (uint64_t)row->start_ns), (uint64_t)row->end_ns);

        for (const char *at = row->app; *at; at++)
                sum = mix(sum, (unsigned char)*at);
        sum = mix(mix(mix(sum, row->uid), row->state), mix(row->active_ns, row->usage->have));
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                sum = mix(sum, row->usage->amount[i]);
        for (size_t k = 0; k < KEYED_COUNT; k++)
                for (size_t i = 0; i < row->usage->keyed[k].n; i++) {
                        const struct point *point = &row->usage->keyed[k].list[i];

                        sum = mix(mix(mix(sum, point->group), point->key), mix(point->ns, point->any_ns));
                }
        *(uint64_t *)data = sum;
        return 0;
}

static int mix_sleep(void *data, const struct store_sleep *sleep)
{
        *(uint64_t *)data = mix(mix(*(uint64_t *)data, (uint64_t)sleep->end_ns), (uint64_t)(sleep->discharge_j * 1e6));
        return 0;
}

static int mix_poll(void *data, const struct store_poll *poll)
{
        uint64_t *sum = data;

        *sum = mix(mix(*sum, (uint64_t)poll->end_ns), poll->battery.capacity_percent);
        for (size_t i = 0; i < poll->n_rows; i++)
                mix_row(data, &poll->rows[i]);
        return 0;
}

/* All answers as one number. */
static int read_answers(uint64_t *ret)
{
        int sentences = 0;
        const struct log log = { count_sentences, &sentences };
        struct store_battery battery = { 0 };
        struct store *store = NULL;
        uint64_t sum = 0;
        int err = store_open(path, STORE_READ, &log, &store);

        for (enum store_grain grain = STORE_RAW; !err && grain <= STORE_BEST; grain++)
                err = store_rows(store, &(struct store_query){ INT64_MIN, INT64_MAX, grain, NULL, -1 }, mix_row, &sum);
        if (!err)
                err = store_battery(store, INT64_MIN, INT64_MAX, &battery);
        if (!err)
                err = store_sleeps(store, INT64_MIN, INT64_MAX, mix_sleep, &sum);
        if (!err)
                err = store_polls(store, INT64_MIN, INT64_MAX, mix_poll, &sum);
        store_close(store);
        check_int(sentences > 0, err != 0);
        *ret = mix(mix(mix(sum, battery.discharge_uj), battery.elapsed_ns),
                   mix((uint64_t)(battery.discharge_percent * 1e9), battery.last.capacity_percent));
        return err;
}

/* Each byte of the database in which one bit or all are others: the same answer, or none. */
static void a_changed_byte_changes_no_answer(void)
{
        struct store *store = open_store(STORE_WRITE);
        int refused = 0, fd;
        uint64_t want = 0, got;
        off_t size;

        append_days(store, START, START + 8 * HOUR, 600 * S);
        check_int(store_roll_up(store, START + 8 * HOUR, &(struct store_retention){ 3, 1, 0 }), 0);
        append_sleep(store, START + 18 * HOUR, 8 * 3600 * NS_PER_S, INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT);
        store_close(store);
        check(count_in_file("interval") > 10 && count_in_file("period") > 5);
        check_int(read_answers(&want), 0);
        fd = open(path, O_RDWR | O_CLOEXEC);
        size = lseek(fd, 0, SEEK_END);
        for (int i = 0; i < 1000; i++) {
                off_t at = (off_t)(draw() % (uint64_t)size);
                unsigned char byte, other;
                int err;

                check_int(pread(fd, &byte, 1, at), 1);
                other = i % 3 ? byte ^ (unsigned char)(1 << draw() % 8) : (unsigned char)~byte;
                check_int(pwrite(fd, &other, 1, at), 1);
                err = read_answers(&got);
                refused += err != 0;
                if (!err && got != want)
                        fprintf(stderr, "byte %lld, 0x%02x instead of 0x%02x:\n", (long long)at, other, byte);
                check(err || got == want);
                check_int(pwrite(fd, &byte, 1, at), 1);
        }
        close(fd);
        check(refused > 300);
        check_int(read_answers(&got), 0);
        check(got == want);
        remove_database();
}

/* A program that knows nothing of checksums: what it wrote is not believed. */
static void what_others_write_is_refused(void)
{
        struct store *store = open_store(STORE_WRITE);
        int sentences;
        sqlite3 *db;

        append_days(store, START, START + 600 * S, 60 * S);
        store_close(store);
        check_int(sqlite3_open(path, &db), SQLITE_OK);
        check_int(sqlite3_exec(db, "UPDATE interval SET discharge_uj = 9e999", NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        check_int(read_all(&sentences), -EBADMSG);
        check_int(sentences >= 1, 1);
        remove_database();
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
        impossible_discharges_are_unknown();
        nothing_is_written_that_readers_refuse();
        hostile_sums_are_refused();
        a_newer_one_is_refused_and_left();
        a_changed_byte_changes_no_answer();
        what_others_write_is_refused();
        damaged_files_do_not_crash();
        remove_database();
        return check_result();
}
