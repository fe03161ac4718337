/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"
#include "server-place.h"
#include "server/folder.h"
#include "server/load.h"

/*
 * A folder that devices share: files that anybody may have put there, plain, packed or neither. An input is files,
 * each after a 0xFF and the number of its name.
 */

#define SEPARATOR 0xFF
#define ONE "0123456789abcdef0123456789abcdef"
#define TWO "fedcba9876543210fedcba9876543210"

static const char *const names[] = {
        ONE "-00000000000000000000.ndjson.gz", ONE "-00000000000000000012.ndjson", ONE "-forget.json",
        ONE "-profile.ini", TWO "-00000000000000000000.ndjson", TWO "-forget.json", "notes.txt", ".hidden",
        "." ONE "-report.json", ONE "-",
};

static void ignore(void *data, enum log_level level, const char *sentence)
{
}

static void write_files(int folder_fd, const uint8_t *data, size_t size)
{
        while (size > 1 && *data == SEPARATOR) {
                const char *name = names[data[1] % ARRAY_SIZE(names)];
                const uint8_t *end = memchr(data + 2, SEPARATOR, size - 2);
                size_t length = end ? (size_t)(end - data) - 2 : size - 2;
                _cleanup_close_ int fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

                fuzz_assert(fd >= 0 && write(fd, data + 2, length) == (ssize_t)length);
                data += length + 2;
                size -= length + 2;
        }
}

static void clear_files(int folder_fd, DIR *dir)
{
        const struct dirent *entry;

        rewinddir(dir);
        while ((entry = readdir(dir)))
                (void)unlinkat(folder_fd, entry->d_name, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct log log = { ignore, NULL };
        static struct database *database;
        static char folder[80];
        static DIR *dir;
        char *paths[] = { folder, NULL };
        struct load_counts counts;

        if (!database) {
                char path[96];

                server_place_begin(path);
                snprintf(folder, sizeof(folder), "%s/in", server_place);
                fuzz_assert(mkdir(folder, 0700) == 0 && (dir = opendir(folder)));
                fuzz_assert(database_open(path, DATABASE_MAKE, &log, &database) == 0);
                fuzz_assert(database_run(database, "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF") == 0);
        }
        write_files(dirfd(dir), data, size);
        fuzz_assert(load_paths(database, paths, true, &counts) == 0);
        fuzz_assert(counts.files <= ARRAY_SIZE(names));
        fuzz_assert(folder_answer(database, folder) == 0);
        clear_files(dirfd(dir), dir);
        server_place_empty(database);
        return 0;
}
