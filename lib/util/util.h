/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Cleanup attributes and small helpers. Errors are negative errno; foreign
 * codes are turned into it at their border by one errno_from_x() each.
 * A result is written only on success.
 */

#include <dirent.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* Each argument is evaluated once. */
#define MIN(a, b)                                                                                            \
        __extension__({                                                                                      \
                __auto_type min_a_ = (a);                                                                    \
                __auto_type min_b_ = (b);                                                                    \
                min_a_ < min_b_ ? min_a_ : min_b_;                                                           \
        })
#define MAX(a, b)                                                                                            \
        __extension__({                                                                                      \
                __auto_type max_a_ = (a);                                                                    \
                __auto_type max_b_ = (b);                                                                    \
                max_a_ > max_b_ ? max_a_ : max_b_;                                                           \
        })

/* For atomic access to shared memory: 32-bit x86 otherwise aligns these to 4 bytes. */
typedef int64_t atomic_i64 __attribute__((aligned(8)));
typedef uint64_t atomic_u64 __attribute__((aligned(8)));

/* The export mark is only in the .c file, so that the public header stays clean. */
#define JOULECAST_EXPORT __attribute__((visibility("default")))

static inline void freep(void *p)
{
        free(*(void **)p);
}

static inline void closep(int *fd)
{
        if (*fd >= 0)
                close(*fd);
}

static inline void fclosep(FILE **file)
{
        if (*file)
                fclose(*file);
}

static inline void closedirp(DIR **dir)
{
        if (*dir)
                closedir(*dir);
}

/* Defines NAMEp() for _cleanup_(): calls NAME(), which accepts NULL. */
#define DEFINE_CLEANUP(type, name)                                                                           \
        static inline void name##p(type **at)                                                                \
        {                                                                                                    \
                name(*at);                                                                                   \
        }

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)

/* Takes the pointer out of a variable that a cleanup would otherwise free. */
#define TAKE_PTR(p)                                                                                          \
        __extension__({                                                                                      \
                __auto_type taken_ = (p);                                                                    \
                (p) = NULL;                                                                                  \
                taken_;                                                                                      \
        })

static inline int take_fd(int *fd)
{
        int taken = *fd;

        *fd = -1;
        return taken;
}

/* The part of a path after its last '/'. */
const char *util_base_name(const char *path);

/**
 * util_grow() - make room for more elements
 * @array:    address of the array's pointer, which is replaced
 * @capacity: allocated number of elements; updated
 * @needed:   required number of elements
 * @size:     size of one element
 *
 * Return: 0; -ENOMEM, and the array is unchanged.
 */
int util_grow(void *array, size_t *capacity, size_t needed, size_t size);

/* As for bsearch(): compares @key with an element. */
typedef int (*util_compare)(const void *key, const void *element);
/* Index of the first of @n ascending elements that is not before @key; @n: all are before it. */
size_t util_lower_bound(const void *key, const void *list, size_t n, size_t size, util_compare compare);

/* Frees an emptied array if at most an eighth of it was used: it grew for a burst. True: it did. */
bool util_shrink(void *array, size_t *capacity, size_t used);

/**
 * util_read_at() - read a whole small file of the kernel
 * @dir_fd: folder to which @path is relative
 * @buf:    gets the text and a NUL
 * @size:   size of @buf; -EFBIG if the file is longer
 *
 * Return: length without the NUL; a negative errno.
 */
ssize_t util_read_at(int dir_fd, const char *path, char *buf, size_t size);

/* The entries of a folder, for readdir(); dirfd() is relative to them. NULL and errno: it cannot be read. */
DIR *util_opendir_at(int dir_fd, const char *path);

bool util_is_procfs(int fd); /* the kernel's /proc, and not the copy in a machine tree */

/* Does a folder have an entry whose name begins so? */
bool util_has_entry(int dir_fd, const char *path, const char *prefix);

uint64_t util_clock_ns(clockid_t clock); /* the time of a clock of clock_gettime(2) */
uint64_t util_boottime_ns(void);         /* the time of CLOCK_BOOTTIME */

/* Text for a negative errno; for EMFILE and ENOLINK with advice. */
const char *util_reason(int err);

/*
 * For a main(): opens stdin, stdout and stderr if they are closed, so that no other file gets their descriptors and
 * the output is not written into it.
 */
void util_hold_standard_fds(void);

/*
 * For a main(): if a mapped file becomes shorter (the -shm beside a database, a program that is read), the program ends
 * with a sentence and exit code 1 instead of SIGBUS. Only a program may do so: signals belong to it, not to a library.
 */
void util_end_on_shorter_files(void);

/* Whole-string numbers in the C locale, blanks at either end allowed. 0; -EINVAL; -ERANGE. */
int util_parse_u64(const char *text, uint64_t *ret);
/* Does @text consist of ASCII letters, digits and characters of @others only? True for an empty one. */
bool util_only_has(const char *text, const char *others);
/* Is @text one of @words, which are separated by single blanks? */
bool util_is_word(const char *words, const char *text);
int util_parse_i64(const char *text, int64_t *ret);
int util_parse_double(const char *text, double *ret); /* finite only; independent of the locale */

/* Shortest decimal text that reads back as the same double, in the C locale. Returns @buf of >= 32 bytes. */
char *util_print_double(double value, char *buf, size_t size);
/* This thread writes and reads numbers with a decimal point, whatever an app's locale is, until it leaves. */
locale_t util_enter_c_locale(void);
void util_leave_c_locale(locale_t before);

/*
 * Writes a file completely or not at all: a new file beside it, fsync, rename, fsync of the folder. Other things than
 * files (a terminal, /dev/null, a descriptor of ours as /dev/stdout) are written to directly; a link is replaced.
 * Leftovers of an earlier write that was killed are removed. -ENOLINK: another user can change the folder
 * (safe-folder.h).
 */
int util_write_file(const char *path, const char *text, size_t length, unsigned mode);
/* Would util_write_file() work? Makes and removes the new file. */
int util_try_write_file(const char *path);

/* mkdir -p of the folder that holds @path. 0; -ENOLINK: another user can change one of them; another errno. */
int util_make_parent(const char *path, unsigned mode);

/*
 * A copy of @text that is safe to print: valid UTF-8 stays, control characters and invalid sequences become "?".
 * @size >= 1; always ends in NUL. Returns @buf.
 */
char *util_printable(const char *text, char *buf, size_t size);
