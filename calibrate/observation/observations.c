/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observations-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "util/own-folder.h"
#include "util/safe-folder.h"
#include "util/util.h"

#define SCHEMA_VERSION 4
#define SCHEMA_FIRST 1
#define BUSY_MS 5000 /* joulecast-fit reads while a run is written; commits take milliseconds */

static const char schema[] =
        "BEGIN IMMEDIATE;"
        "CREATE TABLE run ("
        " id INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT NOT NULL, method TEXT NOT NULL,"
        " plan TEXT NOT NULL, seed INTEGER NOT NULL, start_realtime_ns INTEGER NOT NULL,"
        " energy_full_mwh REAL, max_brightness INTEGER NOT NULL, description TEXT,"
        " finished INTEGER NOT NULL DEFAULT 0);"
        "CREATE TABLE observation ("
        " id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL REFERENCES run(id),"
        " sequence INTEGER NOT NULL, pass INTEGER NOT NULL, mode TEXT NOT NULL, kind TEXT NOT NULL,"
        " method TEXT NOT NULL, start_realtime_ns INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,"
        " percent REAL, steps REAL, charge_full_uah REAL, voltage_mv REAL, power_mw REAL,"
        " gauge_updates INTEGER NOT NULL, refresh_s REAL, temperature_c REAL,"
        " wifi_signal_dbm REAL, cellular_signal_percent REAL, usage TEXT NOT NULL,"
        " burn INTEGER NOT NULL, held_back INTEGER NOT NULL, rejected TEXT NOT NULL,"
        " gauge_begin_mw REAL, gauge_end_mw REAL, gauge_kind TEXT, gauge_kernel_s REAL, gauge_delay_s REAL,"
        " drawn_j REAL, counted_j REAL,"
        " UNIQUE (run, sequence));"
        "PRAGMA user_version = 4;"
        "COMMIT;";

/* Columns that came after the first version. Rows of before have NULL, unknown. */
static const struct {
        int since;
        const char *name;
        const char *type;
} later[] = {
        { 2, "wifi_signal_dbm", "REAL" }, { 2, "cellular_signal_percent", "REAL" },
        { 3, "gauge_begin_mw", "REAL" },  { 3, "gauge_end_mw", "REAL" },
        { 3, "gauge_kind", "TEXT" },      { 3, "gauge_kernel_s", "REAL" },
        { 3, "gauge_delay_s", "REAL" },   { 4, "drawn_j", "REAL" },
        { 4, "counted_j", "REAL" },
};

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

void observations_finalizep(sqlite3_stmt **statement)
{
        sqlite3_finalize(*statement);
}

int observations_complain(struct observations *observations, int code, const char *what)
{
        if (errno_from_sqlite(code) == 0)
                return 0;
        log_error(observations->log, "%s: cannot %s: %s", observations->path, what,
                  sqlite3_errmsg(observations->db));
        return errno_from_sqlite(code);
}

int observations_prepare(struct observations *observations, const char *sql, sqlite3_stmt **ret)
{
        return observations_complain(observations, sqlite3_prepare_v2(observations->db, sql, -1, ret, NULL),
                                     "read its tables");
}

static int read_version(struct observations *observations, int *ret)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        int err = observations_prepare(observations, "PRAGMA user_version", &statement);

        if (err)
                return err;
        if (sqlite3_step(statement) != SQLITE_ROW)
                return observations_complain(observations, sqlite3_errcode(observations->db),
                                             "read its version");
        *ret = sqlite3_column_int(statement, 0);
        return 0;
}

static bool has_tables(struct observations *observations)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;

        return sqlite3_prepare_v2(observations->db, "SELECT 1 FROM sqlite_master", -1, &statement, NULL) ||
               sqlite3_step(statement) == SQLITE_ROW;
}

bool observations_lack(const struct observations *observations, const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(later); i++)
                if (observations->version < later[i].since && strcmp(later[i].name, name) == 0)
                        return true;
        return false;
}

/* Converts in one transaction: after an error, closing leaves the database unchanged. */
static int convert(struct observations *observations)
{
        int code = sqlite3_exec(observations->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
        char text[120];

        for (size_t i = 0; code == SQLITE_OK && i < ARRAY_SIZE(later); i++) {
                if (observations->version >= later[i].since)
                        continue;
                snprintf(text, sizeof(text), "ALTER TABLE observation ADD COLUMN %s %s", later[i].name, later[i].type);
                code = sqlite3_exec(observations->db, text, NULL, NULL, NULL);
        }
        snprintf(text, sizeof(text), "PRAGMA user_version = %d; COMMIT", SCHEMA_VERSION);
        if (code == SQLITE_OK)
                code = sqlite3_exec(observations->db, text, NULL, NULL, NULL);
        if (code == SQLITE_OK)
                observations->version = SCHEMA_VERSION;
        return observations_complain(observations, code, "convert its tables");
}

static int check_schema(struct observations *observations, bool write)
{
        int version = 0, err = read_version(observations, &version);

        if (err)
                return err;
        observations->version = version;
        if (version >= SCHEMA_FIRST && version <= SCHEMA_VERSION)
                return write && version < SCHEMA_VERSION ? convert(observations) : 0;
        if (version || has_tables(observations)) {
                log_error(observations->log, "%s: not a database of observations that this version can read "
                          "(its schema is %d, wanted %d); name another file", observations->path, version,
                          SCHEMA_VERSION);
                return -EINVAL;
        }
        if (!write) {
                log_error(observations->log, "%s: has no observations yet; run joulecast calibrate first",
                          observations->path);
                return -ENODATA;
        }
        observations->version = SCHEMA_VERSION;
        return observations_complain(observations, sqlite3_exec(observations->db, schema, NULL, NULL, NULL),
                                     "make its tables");
}

/* One writer at a time; the file is readable by its owner only. @path becomes the one without links. */
static int take_lock(char **path_of, const struct log *log, int *ret)
{
        _cleanup_close_ int fd = -1;
        _cleanup_free_ char *path = TAKE_PTR(*path_of);
        int err = own_folder_make(path, 0700);

        if (!err)
                err = safe_folder_database(path, path_of);
        if (!err) {
                fd = open(*path_of, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
                err = fd < 0 ? -errno : 0;
        }
        if (err) {
                log_error(log, "%s: cannot be written: %s", path, own_folder_why(err));
                return err;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                log_error(log,
                          "%s: another calibration is writing to it; wait for its end or name another file "
                          "with --observations",
                          path);
                return -EBUSY;
        }
        *ret = take_fd(&fd);
        return 0;
}

static int open_database(struct observations *observations, bool write)
{
        int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW : SQLITE_OPEN_READONLY;
        int err, code;

        if (!write && access(observations->path, R_OK) < 0) {
                err = -errno;
                log_error(observations->log, "%s: cannot be read: %s", observations->path, strerror(-err));
                return err;
        }
        code = sqlite3_open_v2(observations->path, &observations->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
        err = observations_complain(observations, code, "be opened as a database");
        if (err)
                return err;
        sqlite3_extended_result_codes(observations->db, 1);
        sqlite3_busy_timeout(observations->db, BUSY_MS);
        /* A row must survive the power cut when the battery is empty. */
        if (write) {
                code = sqlite3_exec(observations->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
                                    NULL, NULL, NULL);
                err = observations_complain(observations, code, "be written as a database");
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
                err = take_lock(&observations->path, log, &observations->lock_fd);
        if (!err)
                err = open_database(observations, write);
        if (err) {
                observations_close(observations);
                return err;
        }
        observations->writes = write;
        *ret = observations;
        return 0;
}

/*
 * Merge the WAL into the file, which people copy. SQLite does so on close only if no other process has the
 * file open, and does not report that it did not. Readers neither block this nor wait for it.
 */
static void make_whole(struct observations *observations)
{
        int n_log = 0, n_done = 0;
        int code = sqlite3_wal_checkpoint_v2(observations->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &n_log,
                                             &n_done);

        if (code != SQLITE_OK)
                log_warning(observations->log, "%s: a part of it stays in %s-wal: %s", observations->path,
                            observations->path, sqlite3_errmsg(observations->db));
        else if (n_done < n_log)
                log_warning(observations->log,
                            "%s: a part of it stays in %s-wal, for another program is reading it",
                            observations->path, observations->path);
}

/* The lock's descriptor closes last: closing any descriptor of a file drops SQLite's locks on it. */
void observations_close(struct observations *observations)
{
        if (!observations)
                return;
        if (observations->writes)
                make_whole(observations);
        if (sqlite3_close(observations->db) != SQLITE_OK)
                log_warning(observations->log, "%s: cannot be closed: %s", observations->path,
                            sqlite3_errmsg(observations->db));
        if (observations->lock_fd >= 0)
                close(observations->lock_fd);
        free(observations->path);
        free(observations);
}
