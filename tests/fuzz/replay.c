/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "util/util.h"

/* replay FILE-OR-FOLDER...: feeds each file, and each of its beginnings in steps, to the fuzzer. */

#define BEGINNINGS 24

static unsigned n_files;

/* An exact copy on the heap, so that a sanitizer sees a read past the end. */
static void feed(const char *bytes, size_t size)
{
        _cleanup_free_ uint8_t *copy = malloc(size ? size : 1);

        fuzz_assert(copy);
        memcpy(copy, bytes, size);
        LLVMFuzzerTestOneInput(copy, size);
}

static void replay_file(int dir_fd, const char *name)
{
        _cleanup_close_ int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
        _cleanup_free_ char *bytes = NULL;
        struct stat status;
        ssize_t size;

        fuzz_assert(fd >= 0 && fstat(fd, &status) == 0);
        bytes = malloc((size_t)status.st_size + 1);
        fuzz_assert(bytes);
        size = read(fd, bytes, (size_t)status.st_size);
        fuzz_assert(size == status.st_size);
        for (size_t i = 0; i <= BEGINNINGS; i++)
                feed(bytes, (size_t)size * i / BEGINNINGS);
        n_files++;
}

static void replay(const char *path)
{
        DIR *dir = opendir(path);

        if (!dir) {
                replay_file(AT_FDCWD, path);
                return;
        }
        for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
                if (entry->d_name[0] != '.')
                        replay_file(dirfd(dir), entry->d_name);
        closedir(dir);
}

int main(int argc, char **argv)
{
        for (int i = 1; i < argc; i++)
                replay(argv[i]);
        printf("%u files\n", n_files);
        return n_files ? 0 : 1;
}
