/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Everyday observations in observations.db: what comes back, what stays, and what others wrote there. */

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "observation/everyday.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

#define S ((int64_t)NS_PER_S)
#define DAY (86400 * S)
#define START (20000 * DAY)
#define LENGTH (900 * S)

/* Hundreds of transactions are made, and none has to reach the disk. */
int fdatasync(int fd)
{
        return 0;
}

int fsync(int fd)
{
        return 0;
}

static char folder[] = "/tmp/joulecast-everyday-XXXXXX";
static char path[128];
static char said[512];
static int n_said;

static void hear(void *data, enum log_level level, const char *sentence)
{
        snprintf(said, sizeof(said), "%s", sentence);
        n_said++;
}

static const struct log heard = { .handler = hear };

static struct observations *open_database(bool write)
{
        struct observations *observations = NULL;

        check_int(observations_open(path, write, &heard, &observations), 0);
        return observations;
}

static void remove_database(void)
{
        static const char *const ends[] = { "", "-wal", "-shm" };
        char name[160];

        for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
                snprintf(name, sizeof(name), "%s%s", path, ends[i]);
                unlink(name);
        }
}

static void run_sql(const char *text)
{
        sqlite3 *db = NULL;

        check_int(sqlite3_open(path, &db), SQLITE_OK);
        check_int(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
}

static int64_t number_of(const char *text)
{
        sqlite3_stmt *statement = NULL;
        sqlite3 *db = NULL;
        int64_t number = -1;

        check_int(sqlite3_open(path, &db), SQLITE_OK);
        check_int(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
        if (sqlite3_step(statement) == SQLITE_ROW)
                number = sqlite3_column_int64(statement, 0);
        sqlite3_finalize(statement);
        sqlite3_close(db);
        return number;
}

#define N_USES 3

/* A span of @app in front at @brightness, the base and one more app. */
static void make(struct everyday *everyday, struct everyday_use uses[N_USES], int64_t start_ns, const char *app,
                 uint32_t brightness)
{
        *everyday = (struct everyday){ .start_ns = start_ns, .end_ns = start_ns + LENGTH,
                                       .elapsed_ns = (uint64_t)LENGTH, .energy_j = 576.125, .percent = 1, .level = 50.5,
                                       .late_s = 30, .gauge_j = 570.5, .wifi_signal_dbm = -61.25,
                                       .cellular_signal_percent = 40.5, .shared = true, .uses = uses,
                                       .n_uses = N_USES };
        memset(uses, 0, N_USES * sizeof(*uses));
        uses[0].usage = (struct usage){ .have = USAGE_ALL, .time_ns = (uint64_t)LENGTH, .wifi_on_ns = 5 };
        uses[1].state = STATE_FOREGROUND;
        snprintf(uses[1].app, sizeof(uses[1].app), "%s", app);
        uses[1].active_s = 899.5;
        uses[1].usage.have = USAGE_CPU | USAGE_DISPLAY;
        check_int(usage_add_cpu(&uses[1].usage, 0, 1026000, 19999999999, 19999999998), 0);
        check_int(usage_add_cpu(&uses[1].usage, 4, KHZ_UNKNOWN, 5, 4), 0);
        check_int(usage_add_screen(&uses[1].usage, brightness, 20000000000), 0);
        check_int(usage_add_screen(&uses[1].usage, BRIGHTNESS_UNKNOWN, 1), 0);
        for (uint32_t i = 0; i < COUNTED_COUNT; i++) /* the last amount is 0, and known to be */
                check_int(usage_add_point(&uses[1].usage, KEYED_COUNTED,
                                          &(struct point){ .policy = 4, .key = i, .amount = 2000 - 1000 * i }), 0);
        for (uint32_t i = 0; i < 2 * AIR_COUNT; i++) /* packed, beside the others */
                check_int(usage_add_point(&uses[1].usage, KEYED_RADIO,
                                          &(struct point){ .group = i / 2, .key = 600 * i, .amount = 1 + 999 * i }), 0);
        snprintf(uses[2].app, sizeof(uses[2].app), "daemon");
        uses[2].active_s = 900;
        uses[2].usage.have = USAGE_DISK;
        uses[2].usage.read_bytes = (UINT64_C(1) << 53) - 1;
}

static void clear(struct everyday_use uses[N_USES])
{
        for (size_t i = 0; i < N_USES; i++)
                usage_clear(&uses[i].usage);
}

static void append_one(struct observations *observations, int64_t start_ns, const char *app, uint32_t brightness)
{
        struct everyday everyday;
        struct everyday_use uses[N_USES];

        make(&everyday, uses, start_ns, app, brightness);
        check_int(everyday_append(observations, &everyday, 1), 0);
        clear(uses);
}

static const struct everyday_use *use_of(const struct everyday *everyday, const char *app)
{
        static const struct everyday_use none;

        for (size_t i = 0; i < everyday->n_uses; i++)
                if (strcmp(everyday->uses[i].app, app) == 0)
                        return &everyday->uses[i];
        return &none;
}

static void check_same(const struct everyday *got, const struct everyday *want)
{
        check_int(got->start_ns, want->start_ns);
        check_int(got->end_ns, want->end_ns);
        check_int(got->elapsed_ns, want->elapsed_ns);
        check(got->energy_j == want->energy_j || (isnan(got->energy_j) && isnan(want->energy_j)));
        check(got->gauge_j == want->gauge_j || (isnan(got->gauge_j) && isnan(want->gauge_j)));
        check(got->percent == want->percent && got->level == want->level && got->late_s == want->late_s);
        check(got->wifi_signal_dbm == want->wifi_signal_dbm ||
              (isnan(got->wifi_signal_dbm) && isnan(want->wifi_signal_dbm)));
        check(got->cellular_signal_percent == want->cellular_signal_percent ||
              (isnan(got->cellular_signal_percent) && isnan(want->cellular_signal_percent)));
        check_int(got->shared, want->shared);
        check_int(got->n_uses, want->n_uses);
        for (size_t i = 0; i < want->n_uses; i++) {
                const struct everyday_use *use = &want->uses[i], *back = use_of(got, use->app);

                check_int(back->state, use->state);
                check_near(back->active_s, use->active_s, 1e-9);
                check_int(back->usage.have, use->usage.have);
                check(memcmp(back->usage.amount, use->usage.amount, sizeof(use->usage.amount)) == 0);
                for (size_t k = 0; k < KEYED_COUNT; k++) {
                        const struct points *a = &back->usage.keyed[k], *b = &use->usage.keyed[k];

                        check_int(a->n, b->n);
                        check(a->n == b->n && (a->n == 0 || memcmp(a->list, b->list, a->n * sizeof(*a->list)) == 0));
                }
        }
}

/* Everyday observations are added to a database of calibrations, read as written, and appended only once. */
static void round_trip(void)
{
        struct observation_run run = { .device = "d", .method = "percent", .plan = "", .description = (char *)"{}" };
        struct observation observation = { .run = 1, .sequence = 1, .mode = "idle", .kind = "idle" }, *observed = NULL;
        struct everyday want[3], *got = NULL;
        struct everyday_use uses[3][N_USES];
        struct observations *observations = open_database(true), *reader;
        int64_t newest = 0;
        size_t n = 1;

        check_int(observations_start(observations, &run), 0);
        check_int(observations_append(observations, &observation), 0);
        check_int(everyday_newest(observations, &newest), 0);
        check(newest == INT64_MIN);
        check_int(everyday_read(observations, &got, &n), 0);
        check(got == NULL);
        check_int(n, 0);
        make(&want[0], uses[0], START, "browser", 100);
        make(&want[1], uses[1], START + LENGTH, "browser", 200);
        make(&want[2], uses[2], START + 3 * LENGTH, "game", 200);
        want[1].energy_j = want[1].gauge_j = want[1].wifi_signal_dbm = want[1].cellular_signal_percent = NAN;
        want[1].shared = false;
        check_int(everyday_append(observations, want, 2), 0);
        check_int(everyday_append(observations, want, 3), 0); /* two are already in the database */
        want[0].start_ns -= DAY;
        want[0].end_ns -= DAY;
        want[0].gauge_j = 1e30; /* a broken gauge */
        check_int(everyday_append(observations, want, 1), 0);
        want[0].start_ns += DAY;
        want[0].end_ns += DAY;
        want[0].gauge_j = 570.5;
        reader = open_database(false);
        check_int(everyday_newest(reader, &newest), 0);
        check_int(newest, START + 4 * LENGTH);
        check_int(everyday_read(reader, &got, &n), 0);
        check_int(n, 3);
        for (size_t i = 0; i < n; i++) {
                check_same(&got[i], &want[i]);
                check_int(got[i].follows, i == 1);
        }
        everyday_free(got, n);
        check_int(observations_read(reader, 1, &observed, &n), 0);
        check_int(n, 1);
        observations_free(observed, n);
        observations_close(reader);
        observations_close(observations);
        for (size_t i = 0; i < ARRAY_SIZE(want); i++)
                clear(uses[i]);
        check_int(n_said, 0);
        remove_database();
}

/* All of the last three days; before that 48 of each kind. */
static void thins_by_kind(void)
{
        const int often = 500, rare = 20;
        struct observations *observations = open_database(true);

        for (int i = 0; i < rare; i++)
                append_one(observations, START + i * LENGTH, "rare", 100);
        for (int i = 0; i < often; i++)
                append_one(observations, START + (rare + i) * LENGTH, "often", 100);
        append_one(observations, START + (rare + often) * LENGTH, "often", 255);
        observations_close(observations);
        /* three days are 288 of them, with the newest; what began before is older */
        check_int(number_of("SELECT count(*) FROM everyday"
                            " WHERE end_ns > (SELECT max(end_ns) FROM everyday) - 259200000000000"), 288);
        check_int(number_of("SELECT count(*) FROM everyday"), 288 + 48 + rare);
        check_int(number_of("SELECT count(DISTINCT everyday) FROM everyday_use"), 288 + 48 + rare);
        remove_database();
}

/* At most a megabyte for a month is kept: the oldest observations of the most frequent kind are deleted first. */
static void thins_by_bytes(void)
{
        enum { APPS = 60, ROUNDS = 50, MANY = 400 };
        struct observations *observations = open_database(true);
        struct everyday list[APPS];
        struct everyday_use uses[APPS][N_USES];
        int64_t at = START;

        for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < APPS; i++, at += LENGTH) {
                        char app[APP_ID_MAX];

                        snprintf(app, sizeof(app), "app-%d", i);
                        make(&list[i], uses[i], at, app, 100);
                        for (uint32_t khz = 1; khz <= MANY / 20; khz++)
                                check_int(usage_add_cpu(&uses[i][2].usage, 0, khz, NS_PER_S * khz, NS_PER_S), 0);
                        list[i].elapsed_ns = (uint64_t)LENGTH;
                }
                check_int(everyday_append(observations, list, APPS), 0);
                for (int i = 0; i < APPS; i++)
                        clear(uses[i]);
        }
        append_one(observations, at, "once", 100);
        append_one(observations, at + LENGTH, "app-0", 100);
        observations_close(observations);
        run_sql("VACUUM");
        check_int(number_of("SELECT sum(bytes) <= 1e6 * max(1, (max(end_ns) - min(start_ns)) / 2592e12)"
                            " FROM everyday"), 1);
        check(number_of("SELECT sum(bytes) FROM everyday") > 900000);
        check(number_of("PRAGMA page_count") * number_of("PRAGMA page_size") < 1150000);
        check_int(number_of("SELECT count(*) FROM everyday JOIN everyday_app ON everyday_app.id = screen_app"
                            " WHERE app = 'once'"), 1);
        /* all kinds keep about as many */
        check(number_of("SELECT max(n) - min(n) FROM (SELECT count(*) AS n FROM everyday JOIN everyday_app"
                        " ON everyday_app.id = screen_app WHERE app <> 'once' GROUP BY app)") <= 1);
        remove_database();
}

/* Damaged rows that another program wrote are left out with one message; there is no crash. */
static void hostile(void)
{
        static const char *const texts[] = {
                "UPDATE everyday SET end_ns = start_ns",
                "UPDATE everyday SET start_ns = -9223372036854775808",
                "UPDATE everyday SET end_ns = 9223372036854775807",
                "UPDATE everyday SET elapsed_ns = -1",
                "UPDATE everyday SET percent = -1",
                "UPDATE everyday SET percent = 9e999",
                "UPDATE everyday SET percent = 'a lot'",
                "UPDATE everyday SET level = 1001",
                "UPDATE everyday SET energy_j = -1",
                "UPDATE everyday SET energy_j = 9e999",
                "UPDATE everyday SET gauge_j = -9e999",
                "UPDATE everyday SET wifi_signal_dbm = 9e999",
                "UPDATE everyday SET cellular_signal_percent = 101",
                "UPDATE everyday SET late_s = 1e6",
                "UPDATE everyday_use SET state = 2 WHERE key = 1 AND app = 1",
                "UPDATE everyday_use SET value = -1",
                "UPDATE everyday_use SET any_ns = -1",
                "UPDATE everyday_key SET \"group\" = 4294967296",
                "UPDATE everyday_key SET key = key - 9223372036854775807 WHERE key > 0",
                "UPDATE everyday_app SET id = id + 100",
                "UPDATE everyday_key SET id = id + 100",
        };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                struct observations *observations = open_database(true);
                struct everyday *list = NULL;
                size_t n = 0;
                int err;

                append_one(observations, START, "browser", 100);
                observations_close(observations);
                run_sql(texts[i]);
                observations = open_database(true);
                /* a span that does not overlap the damaged one */
                append_one(observations, START + (strstr(texts[i], "SET start_ns") ? 10 : -10) * LENGTH, "chess", 100);
                n_said = 0;
                err = everyday_read(observations, &list, &n);
                check_int(err, 0);
                check_int(n, 1); /* the undamaged one */
                check_int(n_said, 1);
                check(strstr(said, "1 damaged everyday observation is left out, the first with id 1;") != NULL);
                if (err || n != 1)
                        fprintf(stderr, "in: %s\n", texts[i]);
                everyday_free(list, n);
                observations_close(observations);
                remove_database();
        }
}

static void hostile_tables(void)
{
        static const char *const texts[] = {
                "DROP TABLE everyday_use; CREATE TABLE everyday_use (x)",
                "DROP TABLE everyday; CREATE TABLE everyday (id INTEGER PRIMARY KEY, end_ns)",
                "DROP TABLE everyday_app",
        };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                struct observations *observations = open_database(true);
                struct everyday *list = NULL;
                size_t n = 0;

                append_one(observations, START, "browser", 100);
                observations_close(observations);
                run_sql(texts[i]);
                observations = open_database(false);
                n_said = 0;
                check_int(everyday_read(observations, &list, &n), -EINVAL);
                check_int(n_said, 1);
                observations_close(observations);
                remove_database();
        }
}

/* One that a clock years ahead dated; a device whose time goes on past the clock is another matter. */
static void ahead_of_the_clock(void)
{
        struct everyday list[] = { { .start_ns = START, .end_ns = START + LENGTH },
                                   { .start_ns = START + 2 * DAY, .end_ns = START + 2 * DAY + LENGTH },
                                   { .start_ns = START + 4000 * DAY, .end_ns = START + 4000 * DAY + LENGTH } };
        size_t n = 3;

        everyday_drop_ahead(list, &n, START + 5000 * DAY);
        check_int(n, 3);
        everyday_drop_ahead(list, &n, START + DAY);
        check_int(n, 2);
        everyday_drop_ahead(list, &n, START + DAY);
        check_int(n, 2);
        everyday_drop_ahead(list, &n, START - DAY);
        check_int(n, 2);
        n = 0;
        everyday_drop_ahead(list, &n, START);
        check_int(n, 0);
}

/* Names are read back printable; words that this version does not know are from other versions. */
static void strange_words(void)
{
        struct observations *observations = open_database(true);
        struct everyday *list = NULL;
        size_t n = 0;

        append_one(observations, START, "browser", 100);
        observations_close(observations);
        run_sql("UPDATE everyday_app SET app = char(27) || '[31m' || app;"
                "UPDATE everyday_key SET word = 'warp_ns' WHERE word = 'read_bytes'");
        observations = open_database(false);
        check_int(everyday_read(observations, &list, &n), 0);
        check_int(n, 1);
        if (n == 1)
                check_int(use_of(&list[0], "?[31mdaemon")->usage.have, USAGE_DISK);
        everyday_free(list, n);
        observations_close(observations);
        remove_database();
}

int main(void)
{
        check(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/observations.db", folder);
        round_trip();
        thins_by_kind();
        thins_by_bytes();
        hostile();
        hostile_tables();
        strange_words();
        ahead_of_the_clock();
        check_int(rmdir(folder), 0);
        return check_result();
}
