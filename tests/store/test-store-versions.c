/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Databases made by older versions, and the answers of these versions: tests/store/versions/VERSION.sql and
 * VERSION.txt. A writer converts each, and every answer stays the same. Before that, a reader gives the same answers,
 * or says which program converts it.
 */

#include <errno.h>
#include <fcntl.h>

#include "store-fixture.h"
#include "store/store-private.h"

#define TEXT_MAX (1 << 18)

static const char *folder;

static char *read_text(const char *version, const char *end)
{
        char name[400], *text = calloc(1, TEXT_MAX);

        snprintf(name, sizeof(name), "%s/%s.%s", folder, version, end);
        check(text && util_read_at(AT_FDCWD, name, text, TEXT_MAX) > 0);
        return text;
}

/* Makes a database like the store, with room for checksums. */
static void make_database(const char *version)
{
        _cleanup_free_ char *text = read_text(version, "sql");
        int sum_bytes = STORE_SUM_BYTES;
        sqlite3 *db;

        check_int(store_register_vfs(), SQLITE_OK);
        check_int(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, STORE_VFS), SQLITE_OK);
        sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &sum_bytes);
        check_int(sqlite3_exec(db, "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL", NULL, NULL, NULL), SQLITE_OK);
        check_int(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
}

/* Amounts are named by their words, so that all versions print the same. */
static int tell_row(void *data, const struct store_row *row)
{
        const struct usage *usage = row->usage;
        FILE *file = data;

        fprintf(file, "%lld %lld %s %d %d %llu", (long long)row->start_ns, (long long)row->end_ns, row->app,
                (int)row->uid, (int)row->state, (unsigned long long)row->active_ns);
        if (usage_is_zero(usage) && usage->have == USAGE_ALL) /* alive and nothing else: all that a version knows */
                fprintf(file, " all");
        else
                fprintf(file, " %x", usage->have);
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (usage->amount[i])
                        fprintf(file, " %s=%llu", amount_kinds[i].word, (unsigned long long)usage->amount[i]);
        for (size_t k = 0; k < KEYED_COUNT; k++)
                for (size_t i = 0; i < usage->keyed[k].n; i++) {
                        const struct point *point = &usage->keyed[k].list[i];

                        fprintf(file, " %s:%u:%u:%llu:%llu", keyed_kinds[k].word, point->group, point->key,
                                (unsigned long long)point->ns, (unsigned long long)point->any_ns);
                }
        fprintf(file, "\n");
        return 0;
}

/* By @opened, or by a reader of its own for each. */
static char *tell_all(struct store *opened)
{
        static const enum store_grain grains[] = { STORE_RAW, STORE_HOUR, STORE_DAY, STORE_BEST };
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);

        for (size_t i = 0; i < ARRAY_SIZE(grains); i++) {
                const struct store_query query = { INT64_MIN, INT64_MAX, grains[i], NULL, -1 };
                struct store *store = opened ? opened : open_store(STORE_READ);

                fprintf(file, "grain %zu\n", i);
                check_int(store_rows(store, &query, tell_row, file), 0);
                if (!opened)
                        store_close(store);
        }
        fclose(file);
        return text;
}

static void check_answers_by(struct store *opened, const char *version, const char *wanted, const char *when)
{
        _cleanup_free_ char *got = tell_all(opened);

        check(strcmp(got, wanted) == 0);
        if (strcmp(got, wanted) != 0)
                fprintf(stderr, "in: version %s, %s:\n%s", version, when, got);
}

static void check_answers(const char *version, const char *wanted, const char *when)
{
        check_answers_by(NULL, version, wanted, when);
}

static void check_reader(const char *version, const char *wanted)
{
        struct store *store = NULL;
        int err = store_open(path, STORE_READ, NULL, &store);

        store_close(store);
        check_int(err, atoi(version) < 60000 ? -EPROTONOSUPPORT : 0);
        if (!err)
                check_answers(version, wanted, "as it is");
}

/* It goes on as any other: polls are added, and hours and days made of all. */
static void check_going_on(void)
{
        const struct store_retention retention = { 12, 1, 0 };
        struct store *store = open_store(STORE_WRITE);
        struct sum before = total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL), after;

        append_days(store, START + 4 * DAY, START + 6 * DAY, HOUR);
        check_int(store_roll_up(store, START + 7 * DAY, &retention), 0);
        after = total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL);
        check_int((int64_t)(after.usage.time_ns - before.usage.time_ns), 2 * DAY);
        sum_clear(&before);
        sum_clear(&after);
        store_close(store);
}

static bool is_current(const char *version)
{
        char text[64];
        int64_t n;

        store_close(open_store(STORE_WRITE));
        snprintf(text, sizeof(text), "pragma_user_version WHERE user_version = %s", version);
        n = count_in_file(text);
        remove_database();
        return n == 1;
}

/* A row that cannot be read ends the conversion, and the file is what it was. */
static void a_damaged_one_is_left(const char *version)
{
        struct store *store = NULL;
        char text[64];

        if (is_current(version))
                return;
        make_database(version);
        run_sql(atoi(version) < STORE_SUMMARIES_SINCE ? "UPDATE period_usage SET active_ns = -1"
                                                      : "UPDATE summary SET usages = x'ff'");
        check_int(store_open(path, STORE_WRITE, NULL, &store), -EBADMSG);
        snprintf(text, sizeof(text), "pragma_user_version WHERE user_version = %s", version);
        check_int(count_in_file(text), 1);
        remove_database();
}

static void check_version(const char *version)
{
        _cleanup_free_ char *wanted = read_text(version, "txt");
        struct store *reader = NULL;
        char current[64];

        make_database(version);
        check_reader(version, wanted);
        if (atoi(version) >= 60000)
                reader = open_store(STORE_READ);
        store_close(open_store(STORE_WRITE));
        snprintf(current, sizeof(current), "pragma_user_version WHERE user_version > %d", STORE_SUMMARIES_SINCE);
        check_int(count_in_file(current), 1);
        check_int(count_in_file("sqlite_schema WHERE name IN ('period_usage', 'older_usage')"), 0);
        check_answers(version, wanted, "converted");
        if (reader)
                check_answers_by(reader, version, wanted, "converted while it was open");
        store_close(reader);
        check_going_on();
        remove_database();
        a_damaged_one_is_left(version);
}

/*
 * Tests a database of the previous version that lacks the last amount, bluetooth_on_ns, of which the fixtures have no
 * values.
 */
static void one_amount_less(const char *version)
{
        _cleanup_free_ char *wanted = read_text(version, "txt");
        struct store *reader;
        char text[64];

        make_database(version);
        run_sql("ALTER TABLE usage DROP COLUMN bluetooth_on_ns");
        snprintf(text, sizeof(text), "PRAGMA user_version = %d", atoi(version) - 1);
        run_sql(text);
        check_answers(version, wanted, "as it is, one amount less");
        reader = open_store(STORE_READ);
        check_answers_by(reader, version, wanted, "before a writer converts it");
        store_close(open_store(STORE_WRITE));
        check_answers_by(reader, version, wanted, "after a writer converted it");
        store_close(reader);
        store_close(open_store(STORE_WRITE)); /* the reader kept the -wal */
        check_int(count_in_file("pragma_table_info('usage') WHERE name = 'bluetooth_on_ns'"), 1);
        check_answers(version, wanted, "converted, one amount less");
        check_going_on();
        remove_database();
}

int main(int argc, char **argv)
{
        folder = argv[1];
        name_database();
        for (int i = 2; i < argc; i++)
                check_version(argv[i]);
        one_amount_less(argv[argc - 1]);
        return check_result();
}
