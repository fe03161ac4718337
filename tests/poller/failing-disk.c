/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A disk that fails, for LD_PRELOAD: while the file FAILING_DISK holds a number, each call that writes to a file of
 * SQLite, or waits until it is on the disk, fails with this errno.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failure(void)
{
        const char *path = getenv("FAILING_DISK");
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        char text[8] = { 0 };

        if (fd < 0)
                return 0;
        if (read(fd, text, sizeof(text) - 1) < 0)
                text[0] = '\0';
        close(fd);
        return atoi(text);
}

/* Calls the next function of this name, if the disk works. With 64-bit offsets glibc calls it NAME64; musl does not. */
#define CALL(type, name, parameters, ...) \
        do { \
                void *found = dlsym(RTLD_NEXT, #name "64"); \
                int error = failure(); \
                type(*next) parameters; \
\
                if (!found) \
                        found = dlsym(RTLD_NEXT, #name); \
                memcpy(&next, &found, sizeof(next)); \
                errno = error; \
                return error ? -1 : next(__VA_ARGS__); \
        } while (0)

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
        CALL(ssize_t, pwrite, (int, const void *, size_t, off_t), fd, data, n, at);
}

int ftruncate(int fd, off_t length)
{
        CALL(int, ftruncate, (int, off_t), fd, length);
}

int fdatasync(int fd)
{
        CALL(int, fdatasync, (int), fd);
}

int fsync(int fd)
{
        CALL(int, fsync, (int), fd);
}
