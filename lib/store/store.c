/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Opening: one writer, any number of readers. */

#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "store-checksum.h"
#include "store-private.h"
#include "util/own-folder.h"
#include "util/safe-folder.h"
#include "util/tuning.h"
#include "util/util.h"

/* A reader waits so long for a writer's commit, ms. */
#define BUSY_MS 2000

/*
 * One writer: a lock file beside the database, since SQLite's own locks last no longer than a transaction. It
 * goes away with the writer; whoever then holds the old file starts over. One that nobody holds is of a writer
 * that was killed.
 */
static int lock_once(const char *path, int *ret, bool *left_behind)
{
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        struct stat held, there;

        *left_behind = fd < 0 && errno == EEXIST;
        if (*left_behind)
                fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return errno == EWOULDBLOCK ? -EBUSY : -errno;
        if (fstat(fd, &held) < 0)
                return -errno;
        if (stat(path, &there) < 0 || there.st_ino != held.st_ino || there.st_dev != held.st_dev)
                return -EAGAIN;
        *ret = take_fd(&fd);
        return 0;
}

static char *lock_path(const struct store *store)
{
        char *path;

        return asprintf(&path, "%s-lock", store->path) < 0 ? NULL : path;
}

static int lock(struct store *store, bool *left_behind)
{
        _cleanup_free_ char *path = lock_path(store);
        int err;

        if (!path)
                return -ENOMEM;
        do
                err = lock_once(path, &store->lock_fd, left_behind);
        while (err == -EAGAIN);
        if (err == -EBUSY)
                log_error(store->log, "another joulecast program is writing to %s; stop it first, or name "
                                      "another database",
                          store->path);
        else if (err)
                log_error(store->log, "cannot write to %s: %s", store->path, own_folder_why(err));
        return err;
}

static bool has_wal(const struct store *store)
{
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s-wal", store->path) < 0) {
                path = NULL;
                return true;
        }
        return access(path, F_OK) == 0;
}

/* Where another program has the database open, its -wal stays, and the lock file as a sign of that. */
static void unlock(struct store *store)
{
        _cleanup_free_ char *path = lock_path(store);

        if (store->lock_fd < 0)
                return;
        if (path && !has_wal(store))
                unlink(path);
        close(take_fd(&store->lock_fd));
}

bool store_is_gone(struct store *store)
{
        int moved = 0;

        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
        return moved;
}

void store_close(struct store *store)
{
        if (!store)
                return;
        /* SQLite would leave what is still in the -wal to whoever opens a database of the old name. */
        if (store->mode == STORE_WRITE && store->db && store_is_gone(store))
                sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        for (size_t i = 0; i < SQL_COUNT; i++)
                sqlite3_finalize(store->statements[i]);
        sqlite3_close(store->db);
        unlock(store);
        names_clear(store);
        totals_clear(&store->totals);
        bytes_clear(&store->bytes);
        bytes_clear(&store->alive);
        free(store->apps);
        free(store->app_slots);
        free(store->users);
        free(store->keys);
        free(store->ids);
        free(store->path);
        free(store);
}

static int connect_database(struct store *store, int flags, const char *name)
{
        int code = store_register_vfs();

        if (code == SQLITE_OK)
                code = sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, STORE_VFS);
        if (code == SQLITE_OK) {
                sqlite3_extended_result_codes(store->db, 1);
                sqlite3_busy_timeout(store->db, BUSY_MS);
                sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
                sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
                sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
                sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
                sqlite3_exec(store->db, "PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL", NULL,
                             NULL, NULL);
                /*
                 * KiB: a writer appends, and the service is small; a reader reads most pages once, and to read a
                 * few again is cheaper than new memory for all.
                 */
                sqlite3_exec(store->db, "PRAGMA cache_size = -400", NULL, NULL, NULL);
                /*
                 * Some builds of SQLite write zeros over every page that is dropped; the folder is its owner's
                 * alone, and the battery pays.
                 */
                if (store->mode != STORE_READ)
                        sqlite3_exec(store->db, "PRAGMA secure_delete = FAST", NULL, NULL, NULL);
                /* The first read shows whether it can be read at all. */
                code = sqlite3_exec(store->db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
        }
        return code;
}

/*
 * A database of another user whose folder we may not write to: SQLite cannot make the shared memory that WAL
 * needs. Where no writer is (no -wal file) the file does not change, and SQLite may take it as it is.
 */
static int connect_immutable(struct store *store, int code)
{
        char *name;

        if (has_wal(store))
                return code;
        name = sqlite3_mprintf("file:%s?immutable=1", store->path);
        if (!name || strpbrk(store->path, "?#%")) {
                sqlite3_free(name);
                return code;
        }
        sqlite3_close(store->db);
        store->db = NULL;
        code = connect_database(store, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, name);
        sqlite3_free(name);
        return code;
}

/* A folder, a pipe or a device is no place for a database. What is not there yet is no matter. */
static int refuse_strange_file(const struct store *store)
{
        struct stat info;

        if (!*store->path) {
                log_error(store->log, "the database has no name");
                return -EINVAL;
        }
        if (stat(store->path, &info) < 0 || S_ISREG(info.st_mode))
                return 0;
        log_error(store->log, "%s is no file; name a file for the database", store->path);
        return -EINVAL;
}

static int connect_reader(struct store *store)
{
        int code;

        if (access(store->path, R_OK) < 0) {
                int err = -errno;

                if (err != -ENOENT)
                        log_error(store->log, "cannot read %s: %s", store->path, strerror(-err));
                return err;
        }
        code = connect_database(store, SQLITE_OPEN_READONLY, store->path);
        if ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY)
                code = connect_immutable(store, code);
        return code == SQLITE_OK ? store_prepare_database(store) : errno_from_sqlite(store, code);
}

static int open_for_writing(struct store *store)
{
        int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW;
        int code = connect_database(store, flags, store->path);

        return code == SQLITE_OK ? store_prepare_database(store) : errno_from_sqlite(store, code);
}

/* No other user may exchange the database, or what SQLite keeps beside it, for a link. */
static int find_place(struct store *store)
{
        char *path;
        int err = safe_folder_database(store->path, &path);

        if (err) {
                log_error(store->log, "cannot write to %s: %s", store->path, own_folder_why(err));
                return err;
        }
        free(store->path);
        store->path = path;
        return 0;
}

static int connect_writer(struct store *store)
{
        bool left_behind = false;
        int err = own_folder_make(store->path, 0755);

        if (err) {
                log_error(store->log, "cannot make the folder of %s: %s", store->path, own_folder_why(err));
                return err;
        }
        err = find_place(store);
        if (!err)
                err = lock(store, &left_behind);
        if (!err && left_behind && !has_wal(store))
                err = store_resum(store);
        if (err)
                return err;
        err = open_for_writing(store);
        if (err != -ESTALE)
                return err;
        sqlite3_close(store->db);
        store->db = NULL;
        err = store_put_aside(store->path, STORE_OLDER, store->log);
        return err ? err : open_for_writing(store);
}

int store_open(const char *path, enum store_mode mode, const struct log *log, struct store **ret)
{
        _cleanup_(store_closep) struct store *store = calloc(1, sizeof(*store));
        int err;

        if (!store)
                return -ENOMEM;
        store->lock_fd = -1;
        store->sync_ns = TUNING_SYNC_NS;
        store->log = log;
        store->mode = mode;
        store_layout_fill(&store->layout);
        /* SQLite takes ":memory:" for no file at all. */
        if (asprintf(&store->path, "%s%s", *path == ':' ? "./" : "", path) < 0) {
                store->path = NULL;
                return -ENOMEM;
        }
        err = refuse_strange_file(store);
        if (err)
                return err;
        err = mode == STORE_READ ? connect_reader(store) : connect_writer(store);
        if (!err && mode != STORE_READ)
                err = names_load(store);
        if (!err && mode != STORE_READ)
                err = store_marks_read(store, &store->marks);
        if (err)
                return err;
        *ret = TAKE_PTR(store);
        return 0;
}
