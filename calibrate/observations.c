/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observation.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/file.h>

#include "util.h"

#define SCHEMA_VERSION 1
#define BUSY_MS 5000 /* joulecast-fit reads while a night is written: commits take milliseconds */

struct observations {
        sqlite3 *db;
        int lock_fd; /* of the database file; two nights into one file would mix. -1 while only reading */
        const struct log *log;
        char *path;
};

static const char schema[] =
        "BEGIN IMMEDIATE;"
        "CREATE TABLE run ("
        " id INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT NOT NULL, method TEXT NOT NULL, plan TEXT NOT NULL,"
        " seed INTEGER NOT NULL, start_realtime_ns INTEGER NOT NULL, energy_full_mwh REAL,"
        " max_brightness INTEGER NOT NULL, description TEXT, finished INTEGER NOT NULL DEFAULT 0);"
        "CREATE TABLE observation ("
        " id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL REFERENCES run(id), sequence INTEGER NOT NULL,"
        " pass INTEGER NOT NULL, mode TEXT NOT NULL, kind TEXT NOT NULL, method TEXT NOT NULL,"
        " start_realtime_ns INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL, percent REAL, steps REAL,"
        " charge_full_uah REAL, voltage_mv REAL, power_mw REAL, gauge_updates INTEGER NOT NULL, refresh_s REAL,"
        " temperature_c REAL, usage TEXT NOT NULL, burn INTEGER NOT NULL, held_back INTEGER NOT NULL,"
        " rejected TEXT NOT NULL, UNIQUE (run, sequence));"
        "PRAGMA user_version = 1;"
        "COMMIT;";

static int errno_from_sqlite(int code)
{
        switch (code & 0xff) {
        case SQLITE_OK:
        case SQLITE_DONE:
        case SQLITE_ROW:
                return 0;
        case SQLITE_NOMEM:
                return -ENOMEM;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
                return -EBUSY;
        case SQLITE_FULL:
                return -ENOSPC;
        case SQLITE_PERM:
        case SQLITE_AUTH:
                return -EACCES;
        case SQLITE_READONLY:
                return -EROFS;
        case SQLITE_CANTOPEN:
                return -ENOENT;
        case SQLITE_NOTADB:
        case SQLITE_CORRUPT:
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH:
        case SQLITE_ERROR:
                return -EINVAL;
        default:
                return -EIO;
        }
}

static void finalizep(sqlite3_stmt **statement)
{
        sqlite3_finalize(*statement);
}

/* Says what SQLite said, once, and returns it as an errno. */
static int complain(struct observations *observations, int code, const char *what)
{
        if (errno_from_sqlite(code) == 0)
                return 0;
        log_error(observations->log, "%s: cannot %s: %s", observations->path, what, sqlite3_errmsg(observations->db));
        return errno_from_sqlite(code);
}

static int prepare(struct observations *observations, const char *sql, sqlite3_stmt **ret)
{
        return complain(observations, sqlite3_prepare_v2(observations->db, sql, -1, ret, NULL), "read its tables");
}

static int read_version(struct observations *observations, int *ret)
{
        _cleanup_(finalizep) sqlite3_stmt *statement = NULL;
        int err = prepare(observations, "PRAGMA user_version", &statement);

        if (err)
                return err;
        if (sqlite3_step(statement) != SQLITE_ROW)
                return complain(observations, sqlite3_errcode(observations->db), "read its version");
        *ret = sqlite3_column_int(statement, 0);
        return 0;
}

static bool has_tables(struct observations *observations)
{
        _cleanup_(finalizep) sqlite3_stmt *statement = NULL;

        return sqlite3_prepare_v2(observations->db, "SELECT 1 FROM sqlite_master", -1, &statement, NULL) ||
               sqlite3_step(statement) == SQLITE_ROW;
}

static int check_schema(struct observations *observations, bool write)
{
        int version = 0, err = read_version(observations, &version);

        if (err)
                return err;
        if (version == SCHEMA_VERSION)
                return 0;
        if (version || has_tables(observations)) {
                log_error(observations->log, "%s: not a database of observations that this version can read "
                          "(its schema is %d, wanted %d); name another file", observations->path, version,
                          SCHEMA_VERSION);
                return -EINVAL;
        }
        if (!write) {
                log_error(observations->log, "%s: holds no observations yet; run joulecast calibrate first",
                          observations->path);
                return -ENODATA;
        }
        return complain(observations, sqlite3_exec(observations->db, schema, NULL, NULL, NULL), "make its tables");
}

/* The night's file is the user's alone, and one night at a time writes to it. */
static int take_lock(const char *path, const struct log *log, int *ret)
{
        _cleanup_close_ int fd = -1;
        int err = util_make_parent(path, 0700);

        if (!err) {
                fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
                err = fd < 0 ? -errno : 0;
        }
        if (err) {
                log_error(log, "%s: cannot be written: %s", path, strerror(-err));
                return err;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                log_error(log, "%s: another calibration is writing to it; wait for its end or name another file "
                          "with --observations", path);
                return -EBUSY;
        }
        *ret = take_fd(&fd);
        return 0;
}

static int open_database(struct observations *observations, bool write)
{
        int flags = write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
        int err, code;

        if (!write && access(observations->path, R_OK) < 0) {
                err = -errno;
                log_error(observations->log, "%s: cannot be read: %s", observations->path, strerror(-err));
                return err;
        }
        code = sqlite3_open_v2(observations->path, &observations->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
        err = complain(observations, code, "be opened as a database");
        if (err)
                return err;
        sqlite3_extended_result_codes(observations->db, 1);
        sqlite3_busy_timeout(observations->db, BUSY_MS);
        /* A row must survive the power cut that a flat battery is. */
        if (write) {
                code = sqlite3_exec(observations->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", NULL,
                                    NULL, NULL);
                err = complain(observations, code, "be written as a database");
                if (err)
                        return err;
        }
        return check_schema(observations, write);
}

int observations_open(const char *path, bool write, const struct log *log, struct observations **ret)
{
        struct observations *observations = calloc(1, sizeof(*observations));
        int err;

        if (!observations)
                return -ENOMEM;
        observations->lock_fd = -1;
        observations->log = log;
        observations->path = strdup(path);
        err = observations->path ? 0 : -ENOMEM;
        if (!err && write)
                err = take_lock(path, log, &observations->lock_fd);
        if (!err)
                err = open_database(observations, write);
        if (err) {
                observations_close(observations);
                return err;
        }
        *ret = observations;
        return 0;
}

/* The lock's descriptor goes last: closing any descriptor of a file drops the locks that SQLite holds on it. */
void observations_close(struct observations *observations)
{
        if (!observations)
                return;
        sqlite3_close(observations->db);
        if (observations->lock_fd >= 0)
                close(observations->lock_fd);
        free(observations->path);
        free(observations);
}

void observations_closep(struct observations **observations)
{
        observations_close(*observations);
}

static void bind_real(sqlite3_stmt *statement, const char *name, double value)
{
        int at = sqlite3_bind_parameter_index(statement, name);

        if (isfinite(value))
                sqlite3_bind_double(statement, at, value);
        else
                sqlite3_bind_null(statement, at);
}

static void bind_integer(sqlite3_stmt *statement, const char *name, int64_t value)
{
        sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, name), value);
}

static void bind_text(sqlite3_stmt *statement, const char *name, const char *value)
{
        sqlite3_bind_text(statement, sqlite3_bind_parameter_index(statement, name), value, -1, SQLITE_STATIC);
}

int observations_start(struct observations *observations, struct observation_run *run)
{
        _cleanup_(finalizep) sqlite3_stmt *statement = NULL;
        int err = prepare(observations,
                "INSERT INTO run (device, method, plan, seed, start_realtime_ns, energy_full_mwh, max_brightness,"
                " description) VALUES (:device, :method, :plan, :seed, :start, :energy, :brightness, :description)",
                &statement);

        if (err)
                return err;
        bind_text(statement, ":device", run->device);
        bind_text(statement, ":method", run->method);
        bind_text(statement, ":plan", run->plan);
        bind_integer(statement, ":seed", (int64_t)run->seed);
        bind_integer(statement, ":start", run->start_realtime_ns);
        bind_real(statement, ":energy", run->energy_full_mwh);
        bind_integer(statement, ":brightness", run->max_brightness);
        bind_text(statement, ":description", run->description);
        err = complain(observations, sqlite3_step(statement), "be written");
        if (err)
                return err;
        run->id = sqlite3_last_insert_rowid(observations->db);
        return 0;
}

static void bind_observation(sqlite3_stmt *statement, const struct observation *observation)
{
        bind_integer(statement, ":run", observation->run);
        bind_integer(statement, ":sequence", observation->sequence);
        bind_integer(statement, ":pass", observation->pass);
        bind_text(statement, ":mode", observation->mode);
        bind_text(statement, ":kind", observation->kind);
        bind_text(statement, ":method", observation_method_names[observation->method]);
        bind_integer(statement, ":start", observation->start_realtime_ns);
        bind_integer(statement, ":elapsed", (int64_t)observation->elapsed_ns);
        bind_real(statement, ":percent", observation->percent);
        bind_real(statement, ":steps", observation->steps);
        bind_real(statement, ":charge_full", observation->charge_full_uah);
        bind_real(statement, ":voltage", observation->voltage_mv);
        bind_real(statement, ":power", observation->power_mw);
        bind_integer(statement, ":gauge_updates", observation->gauge_updates);
        bind_real(statement, ":refresh", observation->refresh_s);
        bind_real(statement, ":temperature", observation->temperature_c);
        bind_integer(statement, ":burn", observation->burn);
        bind_integer(statement, ":held_back", observation->held_back);
        bind_text(statement, ":rejected", observation->rejected);
}

int observations_append(struct observations *observations, struct observation *observation)
{
        _cleanup_(finalizep) sqlite3_stmt *statement = NULL;
        cJSON *json = usage_to_json(&observation->usage);
        _cleanup_free_ char *usage = cJSON_PrintUnformatted(json);
        int err = usage ? 0 : -ENOMEM;

        cJSON_Delete(json);
        if (!err)
                err = prepare(observations,
                        "INSERT INTO observation (run, sequence, pass, mode, kind, method, start_realtime_ns,"
                        " elapsed_ns, percent, steps, charge_full_uah, voltage_mv, power_mw, gauge_updates,"
                        " refresh_s, temperature_c, usage, burn, held_back, rejected) VALUES (:run, :sequence,"
                        " :pass, :mode, :kind, :method, :start, :elapsed, :percent, :steps, :charge_full, :voltage,"
                        " :power, :gauge_updates, :refresh, :temperature, :usage, :burn, :held_back, :rejected)",
                        &statement);
        if (err)
                return err;
        bind_observation(statement, observation);
        bind_text(statement, ":usage", usage);
        err = complain(observations, sqlite3_step(statement), "be written");
        if (err)
                return err;
        observation->id = sqlite3_last_insert_rowid(observations->db);
        return 0;
}

int observations_finish(struct observations *observations, int64_t run)
{
        _cleanup_(finalizep) sqlite3_stmt *statement = NULL;
        int err = prepare(observations, "UPDATE run SET finished = 1 WHERE id = :run", &statement);

        if (err)
                return err;
        bind_integer(statement, ":run", run);
        return complain(observations, sqlite3_step(statement), "be written");
}

/* What stands in a file is as hostile as what comes from a network: cut and cleaned. */
static void column_text(sqlite3_stmt *statement, int column, char *buf, size_t size)
{
        const char *text = (const char *)sqlite3_column_text(statement, column);

        util_printable(text ? text : "", buf, size);
}

static double column_real(sqlite3_stmt *statement, int column)
{
        return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
}

static uint32_t column_u32(sqlite3_stmt *statement, int column)
{
        int64_t value = sqlite3_column_int64(statement, column);

        return value < 0 || value > UINT32_MAX ? 0 : (uint32_t)value;
}

static int read_run(sqlite3_stmt *statement, struct observation_run *run)
{
        const char *description = (const char *)sqlite3_column_text(statement, 8);

        run->id = sqlite3_column_int64(statement, 0);
        column_text(statement, 1, run->device, sizeof(run->device));
        column_text(statement, 2, run->method, sizeof(run->method));
        column_text(statement, 3, run->plan, sizeof(run->plan));
        run->seed = (uint64_t)sqlite3_column_int64(statement, 4);
        run->start_realtime_ns = sqlite3_column_int64(statement, 5);
        run->energy_full_mwh = column_real(statement, 6);
        run->max_brightness = column_u32(statement, 7);
        run->finished = sqlite3_column_int(statement, 9) != 0;
        run->description = strdup(description ? description : "");
        return run->description ? 0 : -ENOMEM;
}

void observations_free_runs(struct observation_run *runs, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(runs[i].description);
        free(runs);
}

int observations_runs(struct observations *observations, struct observation_run **ret, size_t *n)
{
        _cleanup_(finalizep) sqlite3_stmt *statement = NULL;
        struct observation_run *runs = NULL;
        size_t n_runs = 0, capacity = 0;
        int code, err = prepare(observations,
                "SELECT id, device, method, plan, seed, start_realtime_ns, energy_full_mwh, max_brightness,"
                " description, finished FROM run ORDER BY id", &statement);

        if (err)
                return err;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
                err = util_grow(&runs, &capacity, n_runs + 1, sizeof(*runs));
                if (!err)
                        err = read_run(statement, &runs[n_runs]);
                if (err)
                        break;
                n_runs++;
        }
        if (!err)
                err = complain(observations, code, "be read");
        if (err) {
                observations_free_runs(runs, n_runs);
                return err;
        }
        *ret = runs;
        *n = n_runs;
        return 0;
}

static int read_observation(sqlite3_stmt *statement, struct observation *observation)
{
        const char *usage = (const char *)sqlite3_column_text(statement, 17);
        cJSON *json = cJSON_Parse(usage ? usage : "");
        char method[16];
        int err;

        *observation = (struct observation){ 0 };
        err = usage_from_json(json, &observation->usage);
        cJSON_Delete(json);
        column_text(statement, 6, method, sizeof(method));
        if (!err)
                err = observation_method_from_name(method, &observation->method);
        observation->id = sqlite3_column_int64(statement, 0);
        observation->run = sqlite3_column_int64(statement, 1);
        observation->sequence = column_u32(statement, 2);
        observation->pass = column_u32(statement, 3);
        column_text(statement, 4, observation->mode, sizeof(observation->mode));
        column_text(statement, 5, observation->kind, sizeof(observation->kind));
        observation->start_realtime_ns = sqlite3_column_int64(statement, 7);
        observation->elapsed_ns = (uint64_t)MAX(sqlite3_column_int64(statement, 8), 0);
        observation->percent = column_real(statement, 9);
        observation->steps = column_real(statement, 10);
        observation->charge_full_uah = column_real(statement, 11);
        observation->voltage_mv = column_real(statement, 12);
        observation->power_mw = column_real(statement, 13);
        observation->gauge_updates = column_u32(statement, 14);
        observation->refresh_s = column_real(statement, 15);
        observation->temperature_c = column_real(statement, 16);
        observation->burn = sqlite3_column_int(statement, 18) != 0;
        observation->held_back = sqlite3_column_int(statement, 19) != 0;
        column_text(statement, 20, observation->rejected, sizeof(observation->rejected));
        return err;
}

void observations_free(struct observation *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                observation_clear(&list[i]);
        free(list);
}

int observations_read(struct observations *observations, int64_t run, struct observation **ret, size_t *n)
{
        _cleanup_(finalizep) sqlite3_stmt *statement = NULL;
        struct observation *list = NULL;
        size_t n_list = 0, capacity = 0;
        int code, err = prepare(observations,
                "SELECT id, run, sequence, pass, mode, kind, method, start_realtime_ns, elapsed_ns, percent, steps,"
                " charge_full_uah, voltage_mv, power_mw, gauge_updates, refresh_s, temperature_c, usage, burn,"
                " held_back, rejected FROM observation WHERE run = :run ORDER BY sequence", &statement);

        if (err)
                return err;
        bind_integer(statement, ":run", run);
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
                err = util_grow(&list, &capacity, n_list + 1, sizeof(*list));
                if (err)
                        break;
                err = read_observation(statement, &list[n_list++]);
                if (err == -EINVAL)
                        log_error(observations->log, "%s: observation %lld is damaged; name another file, or delete "
                                  "that row with sqlite3", observations->path,
                                  (long long)sqlite3_column_int64(statement, 0));
                if (err)
                        break;
        }
        if (!err)
                err = complain(observations, code, "be read");
        if (err) {
                observations_free(list, n_list);
                return err;
        }
        *ret = list;
        *n = n_list;
        return 0;
}
