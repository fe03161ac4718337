/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "store/store-checksum.h"
#include "store/store.h"
#include "util/util.h"

/*
 * A usage.db that another program wrote, with valid checksums, as invalid ones would be refused at once: every query
 * ends with rows or an error.
 */

static char folder[64], path[96];

static void clean_up(void)
{
        static const char *const endings[] = { "", "-wal", "-shm", "-journal", "-lock" };
        char name[128];

        for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
                snprintf(name, sizeof(name), "%s%s", path, endings[i]);
                unlink(name);
        }
}

static void remove_folder(void)
{
        clean_up();
        rmdir(folder);
}

static void write_database(const uint8_t *data, size_t size)
{
        _cleanup_close_ int fd = -1;
        size_t page_size;

        if (!*path) {
                fuzz_place(folder, "store");
                fuzz_assert(mkdtemp(folder));
                snprintf(path, sizeof(path), "%s/usage.db", folder);
                atexit(remove_folder);
        }
        clean_up();
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        fuzz_assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
        if (size < 100)
                return;
        page_size = (size_t)data[16] << 8 | data[17];
        for (size_t at = 0; page_size >= 512 && data[20] == STORE_SUM_BYTES && at + page_size <= size;
             at += page_size) {
                unsigned char sum[STORE_SUM_BYTES];

                store_sum_page(data + at, (int)page_size, sum);
                fuzz_assert(pwrite(fd, sum, sizeof(sum), (off_t)(at + page_size - sizeof(sum))) == sizeof(sum));
        }
}

static int look_at(void *data, const struct store_row *row)
{
        unsigned *n = data;
        size_t length = strlen(row->app) + (row->name ? strlen(row->name) : 0);

        for (size_t i = 0; i < row->usage->cpu.n; i++)
                length += row->usage->cpu.list[i].busy_ns > 0;
        return ++*n >= 1000 || length > 100000;
}

static int look_at_poll(void *data, const struct store_poll *poll)
{
        for (size_t i = 0; i < poll->n_rows; i++)
                if (look_at(data, &poll->rows[i]))
                        return 1;
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(store_closep) struct store *store = NULL;
        struct store_battery battery;
        unsigned n_polled = 0;

        write_database(data, size);
        if (store_open(path, STORE_READ, NULL, &store) < 0)
                return 0;
        for (enum store_grain grain = STORE_RAW; grain <= STORE_BEST; grain++) {
                struct store_query query = { INT64_MIN, INT64_MAX, grain, NULL, -1 };
                unsigned n = 0;

                store_rows(store, &query, look_at, &n);
        }
        store_battery(store, INT64_MIN, INT64_MAX, &battery);
        store_polls(store, INT64_MIN, INT64_MAX, look_at_poll, &n_polled);
        return 0;
}
