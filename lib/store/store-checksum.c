/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A checksum at the end of each page of the database, in the format of SQLite's own cksumvfs (in the bytes that the
 * header reserves), which distributions do not build: a byte that changed on the disk makes a page unreadable instead
 * of an answer different. All goes through SQLite's own file system; pages are summed when they are written to the
 * database and checked when they are read from it. Those that are still in the -wal have SQLite's sums of it.
 */

#include "store-checksum.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

struct summed_file {
        sqlite3_file base;
        bool sums; /* the header reserves the bytes for them */
        /* SQLite's own follows */
};

static sqlite3_vfs vfs; /* as SQLite's own, but for where it opens the database */

static sqlite3_file *inner(sqlite3_file *file)
{
        return (sqlite3_file *)((struct summed_file *)file + 1);
}

static uint32_t word(const unsigned char *at)
{
        return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void store_sum_page(const unsigned char *page, int size, unsigned char ret[STORE_SUM_BYTES])
{
        uint32_t sums[2] = { 0, 0 };

        for (int i = 0; i < size - STORE_SUM_BYTES; i += 8) {
                sums[0] += word(page + i) + sums[1];
                sums[1] += word(page + i + 4) + sums[0];
        }
        for (int i = 0; i < STORE_SUM_BYTES; i++)
                ret[i] = (unsigned char)(sums[i / 4] >> i % 4 * 8);
}

/* Sizes of pages are powers of two from 512 on; the header is read by itself, too. */
static bool is_page(int amount)
{
        return amount >= 512 && (amount & (amount - 1)) == 0;
}

bool store_has_sums(const unsigned char *header)
{
        return memcmp(header, "SQLite format 3", 16) == 0 && header[20] == STORE_SUM_BYTES;
}

static void look_at_header(struct summed_file *self, const unsigned char *data, int amount, sqlite3_int64 offset)
{
        if (offset == 0 && amount >= STORE_HEADER_BYTES)
                self->sums = store_has_sums(data);
}

static int file_read(sqlite3_file *file, void *data, int amount, sqlite3_int64 offset)
{
        struct summed_file *self = (struct summed_file *)file;
        unsigned char sum[STORE_SUM_BYTES];
        int code = inner(file)->pMethods->xRead(inner(file), data, amount, offset);

        if (code != SQLITE_OK)
                return code;
        look_at_header(self, data, amount, offset);
        if (!self->sums || !is_page(amount))
                return SQLITE_OK;
        store_sum_page(data, amount, sum);
        return memcmp(sum, (unsigned char *)data + amount - STORE_SUM_BYTES, STORE_SUM_BYTES) == 0 ? SQLITE_OK :
                                                                                                   SQLITE_IOERR_DATA;
}

/* SQLite gives a page of its own memory, and does not use these bytes of it. */
static int file_write(sqlite3_file *file, const void *data, int amount, sqlite3_int64 offset)
{
        struct summed_file *self = (struct summed_file *)file;

        look_at_header(self, data, amount, offset);
        if (self->sums && is_page(amount))
                store_sum_page(data, amount, (unsigned char *)data + amount - STORE_SUM_BYTES);
        return inner(file)->pMethods->xWrite(inner(file), data, amount, offset);
}

static int file_control(sqlite3_file *file, int operation, void *argument)
{
        if (operation == STORE_HAS_SUMS) {
                *(int *)argument = ((struct summed_file *)file)->sums;
                return SQLITE_OK;
        }
        return inner(file)->pMethods->xFileControl(inner(file), operation, argument);
}

#define PASS(name, method, parameters, arguments)                                                              \
        static int name parameters                                                                             \
        {                                                                                                      \
                return inner(file)->pMethods->method arguments;                                                \
        }

PASS(file_close, xClose, (sqlite3_file *file), (inner(file)))
PASS(file_truncate, xTruncate, (sqlite3_file *file, sqlite3_int64 size), (inner(file), size))
PASS(file_sync, xSync, (sqlite3_file *file, int flags), (inner(file), flags))
PASS(file_size, xFileSize, (sqlite3_file *file, sqlite3_int64 *size), (inner(file), size))
PASS(file_lock, xLock, (sqlite3_file *file, int how), (inner(file), how))
PASS(file_unlock, xUnlock, (sqlite3_file *file, int how), (inner(file), how))
PASS(file_is_reserved, xCheckReservedLock, (sqlite3_file *file, int *ret), (inner(file), ret))
PASS(file_sector, xSectorSize, (sqlite3_file *file), (inner(file)))
PASS(file_traits, xDeviceCharacteristics, (sqlite3_file *file), (inner(file)))
PASS(file_map, xShmMap, (sqlite3_file *file, int region, int size, int extend, void volatile **ret),
     (inner(file), region, size, extend, ret))
PASS(file_map_lock, xShmLock, (sqlite3_file *file, int offset, int n, int flags), (inner(file), offset, n, flags))
PASS(file_unmap, xShmUnmap, (sqlite3_file *file, int remove), (inner(file), remove))

static void file_barrier(sqlite3_file *file)
{
        inner(file)->pMethods->xShmBarrier(inner(file));
}

static const sqlite3_io_methods methods = {
        2, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock,
        file_is_reserved, file_control, file_sector, file_traits, file_map, file_map_lock, file_barrier, file_unmap,
        NULL, NULL, /* no mapping of pages, which would be read unseen */
};

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *ret)
{
        sqlite3_vfs *plain = self->pAppData;
        int code;

        if (!(flags & SQLITE_OPEN_MAIN_DB))
                return plain->xOpen(plain, name, file, flags, ret);
        *(struct summed_file *)file = (struct summed_file){ .base = { NULL } };
        code = plain->xOpen(plain, name, inner(file), flags, ret);
        if (inner(file)->pMethods)
                file->pMethods = &methods;
        return code;
}

static void register_vfs(void)
{
        sqlite3_vfs *plain = sqlite3_vfs_find(NULL);

        if (!plain)
                return;
        vfs = *plain;
        vfs.pNext = NULL;
        vfs.zName = STORE_VFS;
        vfs.szOsFile += (int)sizeof(struct summed_file);
        vfs.pAppData = plain;
        vfs.xOpen = open_file;
        sqlite3_vfs_register(&vfs, 0);
}

int store_register_vfs(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        int code = sqlite3_initialize(); /* from here on nothing can fail */

        if (code == SQLITE_OK)
                pthread_once(&once, register_vfs);
        return code;
}

/* SQLite outlives the library where that is unloaded. */
__attribute__((destructor)) static void unregister_vfs(void)
{
        if (vfs.zName)
                sqlite3_vfs_unregister(&vfs);
}
