/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "observation/observation.h"
#include "util/util.h"

static char folder[] = "/tmp/joulecast-observations-XXXXXX";
static char path[128];

static void fill(struct observation *observation)
{
        *observation = (struct observation){
                .run = 7,
                .sequence = 3,
                .pass = 1,
                .mode = "cpu.0.1026000.one",
                .kind = "cpu",
                .method = METHOD_GAUGE,
                .start_realtime_ns = INT64_C(1764000000123456789),
                .elapsed_ns = 20000000001,
                .percent = 83.5,
                .steps = NAN,
                .charge_full_uah = 3950000,
                .voltage_mv = 3987.25,
                .power_mw = 1.0 / 3,
                .gauge_updates = 6,
                .refresh_s = 3.5,
                .drawn_j = 812.5,
                .counted_j = NAN,
                .temperature_c = NAN,
                .wifi_signal_dbm = -61.5,
                .cellular_signal_percent = NAN,
                .held_back = true,
                .rejected = "",
        };
        observation->usage.have = USAGE_CPU | USAGE_DISPLAY | USAGE_WIFI;
        observation->usage.time_ns = 20000000001;
        observation->usage.wifi_rx_bytes = (UINT64_C(1) << 53) - 1;
        observation->usage.wifi_wakes = 12;
        check_int(usage_add_cpu(&observation->usage, 0, 1026000, 19999999999, 19999999998), 0);
        check_int(usage_add_cpu(&observation->usage, 4, KHZ_UNKNOWN, 5, 4), 0);
        check_int(usage_add_screen(&observation->usage, 178, 20000000000), 0);
        check_int(usage_add_screen(&observation->usage, BRIGHTNESS_UNKNOWN, 1), 0);
        for (uint32_t i = 0; i < 5; i++) /* policy 4 counts no cache event */
                check_int(usage_points_add(&observation->usage.counted, &(struct point){
                                  .policy = i / 3 * 4, .key = i % 3, .amount = 1000 + i }), 0);
}

static void check_same(const struct observation *got, const struct observation *want)
{
        check_int(got->run, want->run);
        check_int(got->sequence, want->sequence);
        check_int(got->pass, want->pass);
        check_text(got->mode, want->mode);
        check_text(got->kind, want->kind);
        check_int(got->method, want->method);
        check_int(got->start_realtime_ns, want->start_realtime_ns);
        check_int(got->elapsed_ns, want->elapsed_ns);
        check(got->percent == want->percent);
        check(isnan(got->steps) && isnan(want->steps));
        check(got->charge_full_uah == want->charge_full_uah);
        check(got->voltage_mv == want->voltage_mv);
        check(got->power_mw == want->power_mw);
        check_int(got->gauge_updates, want->gauge_updates);
        check(got->refresh_s == want->refresh_s);
        check(got->drawn_j == want->drawn_j || (isnan(got->drawn_j) && isnan(want->drawn_j)));
        check(isnan(got->counted_j));
        check(isnan(got->temperature_c));
        check(got->wifi_signal_dbm == want->wifi_signal_dbm ||
              (isnan(got->wifi_signal_dbm) && isnan(want->wifi_signal_dbm)));
        check(isnan(got->cellular_signal_percent));
        check_int(got->burn, want->burn);
        check_int(got->held_back, want->held_back);
        check_text(got->rejected, want->rejected);
        check_int(got->usage.have, want->usage.have);
        check_int(got->usage.time_ns, want->usage.time_ns);
        check_int(got->usage.wifi_rx_bytes, want->usage.wifi_rx_bytes);
        check_int(got->usage.wifi_wakes, want->usage.wifi_wakes);
        check_int(got->usage.cpu.n, want->usage.cpu.n);
        check(!memcmp(got->usage.cpu.list, want->usage.cpu.list, want->usage.cpu.n * sizeof(*want->usage.cpu.list)));
        check_int(got->usage.counted.n, 5);
        for (size_t i = 0; i < got->usage.counted.n; i++) {
                check_int(usage_point_compare(&got->usage.counted.list[i], &want->usage.counted.list[i]), 0);
                check_int(got->usage.counted.list[i].amount, 1000 + i);
        }
        check_int(got->usage.screen.n, want->usage.screen.n);
        check_int(got->usage.screen.list[0].brightness, want->usage.screen.list[0].brightness);
        check_int(got->usage.screen.list[0].on_ns, want->usage.screen.list[0].on_ns);
        check_int(got->usage.screen.list[1].brightness, BRIGHTNESS_UNKNOWN);
}

static void json_round_trip(void)
{
        struct observation want, got = { 0 };
        cJSON *json, *again;
        char *text;

        fill(&want);
        json = observation_to_json(&want);
        text = cJSON_PrintUnformatted(json);
        again = cJSON_Parse(text);
        check_int(observation_from_json(again, &got), 0);
        check_same(&got, &want);
        free(text);
        cJSON_Delete(json);
        want.usage.have &= ~(uint32_t)USAGE_DISPLAY; /* not counted is null, and not nothing */
        json = usage_to_json(&want.usage);
        check(cJSON_IsNull(cJSON_GetObjectItem(json, "screen")) && !cJSON_IsNull(cJSON_GetObjectItem(json, "cpu")));
        cJSON_Delete(json);
        cJSON_Delete(again);
        observation_clear(&got);
        observation_clear(&want);
}

static void hostile_json(void)
{
        static const char *const texts[] = {
                "{}",
                "[]",
                "1",
                "{\"time_ns\": -1, \"suspend_ns\": 0, \"other_rx_bytes\": 0, \"other_tx_bytes\": 0}",
                "{\"time_ns\": 1.5, \"suspend_ns\": 0, \"other_rx_bytes\": 0, \"other_tx_bytes\": 0}",
                "{\"time_ns\": 1e30, \"suspend_ns\": 0, \"other_rx_bytes\": 0, \"other_tx_bytes\": 0}",
                "{\"time_ns\": 1, \"suspend_ns\": 0, \"other_rx_bytes\": 0, \"other_tx_bytes\": 0, \"cpu\": 3}",
                "{\"time_ns\": 1, \"suspend_ns\": 0, \"other_rx_bytes\": 0, \"other_tx_bytes\": 0, \"cpu\": [{}]}",
                ("{\"time_ns\": 1, \"suspend_ns\": 0, \"other_rx_bytes\": 0, \"other_tx_bytes\": 0, "
                 "\"screen\": [{\"brightness\": -3, \"on_ns\": 1}]}"),
        };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                struct usage usage;
                cJSON *json = cJSON_Parse(texts[i]);

                check_int(usage_from_json(json, &usage), -EINVAL);
                cJSON_Delete(json);
        }
        check_int(usage_from_json(NULL, NULL), -EINVAL);
        check_int(observation_from_json(NULL, NULL), -EINVAL);
}

static void database_round_trip(void)
{
        struct observation_run run = { .device = "nexus", .method = "gauge", .plan = "", .seed = UINT64_MAX,
                                       .start_realtime_ns = 5, .energy_full_mwh = NAN, .max_brightness = 255 };
        struct observations *observations = NULL, *second = NULL;
        struct observation want, *list = NULL;
        struct observation_run *runs = NULL;
        char description[] = "{\"policies\": []}", wal[sizeof(path) + 8];
        struct stat status;
        size_t n = 0;

        run.description = description;
        check_int(observations_open(path, true, NULL, &observations), 0);
        check_int(observations_open(path, true, NULL, &second), -EBUSY);
        check_int(observations_start(observations, &run), 0);
        check_int(run.id, 1);
        fill(&want);
        want.run = run.id;
        check_int(observations_append(observations, &want), 0);
        snprintf(wal, sizeof(wal), "%s-wal", path);
        check(access(wal, F_OK) == 0); /* a row is in the log before it is in the file: a power cut spares it */
        check_int(observations_append(observations, &want), -EINVAL); /* the same sequence twice */
        want.sequence = 2;
        check_int(observations_append(observations, &want), 0);
        check_int(want.id, 2);
        check_int(observations_open(path, false, NULL, &second), 0); /* the fit reads at the same time */
        check_int(observations_read(second, run.id, &list, &n), 0);
        check_int(n, 2);
        if (n == 2) {
                check_int(list[0].sequence, 2);
                check_same(&list[0], &want);
        }
        check_int(observations_finish(observations, run.id), 0);
        check_int(observations_start(observations, &run), 0); /* nothing is observed in this one */
        observations_free(list, n);
        check_int(observations_runs(second, &runs, &n), 0);
        check_int(n, 1);
        if (n == 1) {
                check_text(runs[0].device, "nexus");
                check(runs[0].seed == UINT64_MAX);
                check(isnan(runs[0].energy_full_mwh));
                check(runs[0].finished);
                check_text(runs[0].description, description);
        }
        observations_free_runs(runs, n);
        observations_close(second);
        observations_close(observations);
        check(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600);
        observation_clear(&want);
}

static void refuses(void)
{
        struct observations *observations = NULL;
        struct observation *list = NULL;
        sqlite3 *db = NULL;
        size_t n = 0;

        check_int(observations_open("/nonexistent/observations.db", false, NULL, &observations), -ENOENT);
        check_int(util_write_file(path, "this is not a database, but long enough to be taken for one..............."
                                        "..................................................", 120, 0600), 0);
        check_int(observations_open(path, false, NULL, &observations), -EINVAL);
        check_int(observations_open(path, true, NULL, &observations), -EINVAL);
        unlink(path);
        check_int(util_write_file(path, "", 0, 0600), 0);
        check_int(observations_open(path, false, NULL, &observations), -ENODATA);
        check_int(observations_open(path, true, NULL, &observations), 0);
        observations_close(observations);

        check_int(sqlite3_open(path, &db), SQLITE_OK);
        check_int(
                sqlite3_exec(
                        db,
                        "INSERT INTO run VALUES (1, 'd', 'm', '', 0, 0, NULL, 0, NULL, 0);"
                        "INSERT INTO observation VALUES (1, 1, 0, 0, char(27) || 'mode', 'k', 'gauge', 0, 0,"
                        "NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, '{broken', 0, 0, '', NULL, "
                        "NULL, NULL, NULL, NULL, NULL, NULL);",
                        NULL, NULL, NULL),
                SQLITE_OK);
        check_int(observations_open(path, false, NULL, &observations), 0);
        check_int(observations_read(observations, 1, &list, &n), -EINVAL);
        observations_close(observations);
        check_int(sqlite3_exec(db, "PRAGMA user_version = 9", NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        check_int(observations_open(path, false, NULL, &observations), -EINVAL);
}

static void run_sql(sqlite3 *db, const char *sql)
{
        check_int(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* Appends an observation while another connection has the file open for @sql. */
static void write_beside(const char *sql)
{
        struct observations *observations = NULL;
        struct observation_run run = { .device = "a", .method = "percent", .description = (char *)"{}" };
        struct observation observation;
        sqlite3 *reader;

        check_int(observations_open(path, true, NULL, &observations), 0);
        check_int(observations_start(observations, &run), 0);
        check_int(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
        run_sql(reader, "SELECT * FROM run");
        fill(&observation);
        observation.run = run.id;
        check_int(observations_append(observations, &observation), 0);
        observation_clear(&observation);
        check_int(observations_finish(observations, run.id), 0);
        run_sql(reader, sql);
        observations_close(observations);
        sqlite3_close(reader);
}

/* Only the file itself is copied, and no file beside it. */
static void is_one_file_at_the_end(void)
{
        static const char *const readers[] = { "SELECT 1", "SELECT * FROM run", "BEGIN; SELECT * FROM run" };

        for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
                struct observation_run *runs = NULL;
                struct observations *observations = NULL;
                char copy[160], command[600];
                size_t n = 0;

                write_beside(readers[i]);
                snprintf(copy, sizeof(copy), "%s/copy.db", folder);
                snprintf(command, sizeof(command), "cp '%s' '%s'", path, copy);
                check_int(system(command), 0);
                check_int(observations_open(copy, false, NULL, &observations), 0);
                check_int(observations_runs(observations, &runs, &n), 0);
                check(n == i + 1 && runs[i].finished);
                observations_free_runs(runs, n);
                observations_close(observations);
                snprintf(command, sizeof(command), "rm -f '%s' '%s-wal' '%s-shm'", copy, copy, copy);
                check_int(system(command), 0);
        }
}

static void remove_files(void)
{
        static const char *const names[] = { "", "-wal", "-shm" };
        char name[160];

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                snprintf(name, sizeof(name), "%s%s", path, names[i]);
                unlink(name);
        }
}

static void write_one(struct observation *observation)
{
        struct observations *observations = NULL;
        struct observation_run run = { .device = "a", .method = "gauge", .description = (char *)"{}" };

        check_int(observations_open(path, true, NULL, &observations), 0);
        check_int(observations_start(observations, &run), 0);
        observation->run = run.id;
        check_int(observations_append(observations, observation), 0);
        observations_close(observations);
}

static void read_one(const struct observation *wanted)
{
        struct observations *observations = NULL;
        struct observation *list = NULL;
        size_t n = 0;

        check_int(observations_open(path, false, NULL, &observations), 0);
        check_int(observations_read(observations, wanted->run, &list, &n), 0);
        check_int(n, 1);
        if (n == 1)
                check_same(&list[0], wanted);
        for (size_t i = 0; i < n; i++)
                observation_clear(&list[i]);
        free(list);
        observations_close(observations);
}

/* Versions 1 to 3 of the file lacked these columns: it can be read unchanged, and a run converts it. */
static void earlier_versions_are_converted(void)
{
        static const char drop_3[] = "ALTER TABLE observation DROP COLUMN gauge_begin_mw;"
                                     "ALTER TABLE observation DROP COLUMN gauge_end_mw;"
                                     "ALTER TABLE observation DROP COLUMN gauge_kind;"
                                     "ALTER TABLE observation DROP COLUMN gauge_kernel_s;"
                                     "ALTER TABLE observation DROP COLUMN gauge_delay_s;";
        static const char drop_4[] = "ALTER TABLE observation DROP COLUMN drawn_j;"
                                     "ALTER TABLE observation DROP COLUMN counted_j;";
        static const char drop_2[] = "ALTER TABLE observation DROP COLUMN wifi_signal_dbm;"
                                     "ALTER TABLE observation DROP COLUMN cellular_signal_percent;";

        for (int version = 1; version <= 3; version++) {
                struct observation observation, another;
                char pragma[40];
                sqlite3 *db;

                fill(&observation);
                fill(&another);
                write_one(&observation);
                check_int(sqlite3_open(path, &db), SQLITE_OK);
                run_sql(db, drop_4);
                if (version < 3)
                        run_sql(db, drop_3);
                if (version < 2)
                        run_sql(db, drop_2);
                snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", version);
                run_sql(db, pragma);
                sqlite3_close(db);
                observation.drawn_j = NAN;
                if (version < 2)
                        observation.wifi_signal_dbm = NAN;
                read_one(&observation);
                write_one(&another);
                read_one(&observation);
                read_one(&another);
                observation_clear(&observation);
                observation_clear(&another);
                remove_files();
        }
}

int main(void)
{
        check(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/observations.db", folder);
        json_round_trip();
        hostile_json();
        database_round_trip();
        remove_files();
        refuses();
        remove_files();
        is_one_file_at_the_end();
        remove_files();
        earlier_versions_are_converted();
        check_int(rmdir(folder), 0);
        return check_result();
}
