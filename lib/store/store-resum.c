/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A writer that is killed leaves its -wal. Any program that may write and opens the database then, even to read,
 * writes the -wal's pages to it without our checksums when it closes, as SQLite does. Such a database is whole.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store-checksum.h"
#include "store-private.h"
#include "util/util.h"

#define PAGE_MAX 65536

/* 0: no database with checksums. */
static int page_size(int fd)
{
        unsigned char header[STORE_HEADER_BYTES];
        int size;

        if (pread(fd, header, sizeof(header), 0) != sizeof(header) || !store_has_sums(header))
                return 0;
        size = header[16] << 8 | header[17];
        return size == 1 ? PAGE_MAX : size;
}

/* Returns how many pages have another checksum than theirs, or a negative errno; @mend writes theirs. */
static int sum_pages(int fd, int size, bool mend)
{
        unsigned char page[PAGE_MAX], sum[STORE_SUM_BYTES];
        int wrong = 0;

        for (off_t at = 0; pread(fd, page, (size_t)size, at) == size; at += size) {
                store_sum_page(page, size, sum);
                if (memcmp(page + size - STORE_SUM_BYTES, sum, sizeof(sum)) == 0)
                        continue;
                wrong++;
                if (mend && pwrite(fd, sum, sizeof(sum), at + size - STORE_SUM_BYTES) != sizeof(sum))
                        return -EIO;
        }
        return mend && fdatasync(fd) < 0 ? -errno : wrong;
}

static int take_answer(void *whole, int n, char **values, char **names)
{
        *(bool *)whole = n == 1 && values[0] && strcmp(values[0], "ok") == 0;
        return 0;
}

/* As SQLite without our checksums finds it. */
static bool is_whole(const char *path)
{
        sqlite3 *db = NULL;
        bool whole = false;

        if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, NULL) == SQLITE_OK)
                sqlite3_exec(db, "PRAGMA integrity_check(1)", take_answer, &whole, NULL);
        sqlite3_close(db);
        return whole;
}

int store_resum(const struct store *store)
{
        _cleanup_close_ int fd = open(store->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        int size, wrong;

        if (fd < 0)
                return errno == ENOENT ? 0 : -errno;
        size = page_size(fd);
        wrong = size >= 512 ? sum_pages(fd, size, false) : 0;
        if (wrong <= 0 || !is_whole(store->path))
                return wrong < 0 ? wrong : 0;
        wrong = sum_pages(fd, size, true);
        if (wrong > 0)
                log_warning(store->log,
                            "another program wrote the last rows of a killed joulecast to %s; it is complete, and its "
                            "checksums are computed anew", store->path);
        return wrong < 0 ? wrong : 0;
}
