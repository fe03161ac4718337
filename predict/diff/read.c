/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/util.h"
#include "util/words.h"

#define CHUNK ((size_t)2 << 20) /* more than the longest line */

int read_damaged(const struct read *read, size_t line, const char *what)
{
        if (line > 0)
                log_error(read->log, "%s, line %zu: %s", read->name, line, _(what));
        else
                log_error(read->log, "%s: %s", read->name, _(what));
        return -EBADMSG;
}

int read_failed(const struct read *read, int err)
{
        if (err == -E2BIG)
                log_error(read->log, "%s: more than 16 million different stacks, or 1 GiB of names; use shorter recordings",
                          read->name);
        else if (err < 0)
                log_error(read->log, "%s: %s", read->name, util_reason(err));
        return err;
}

/* Of the sequence that begins with a byte above 0x7f; 0: it is none. */
static size_t sequence(const unsigned char *text, size_t length)
{
        size_t n = *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;

        if (*text < 0xc2 || *text > 0xf4 || n > length)
                return 0;
        for (size_t i = 1; i < n; i++)
                if ((text[i] & 0xc0) != 0x80)
                        return 0;
        if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] > 0x9f) || (*text == 0xf0 && text[1] < 0x90) ||
            (*text == 0xf4 && text[1] > 0x8f))
                return 0;
        return n;
}

bool read_is_text(const char *text, size_t length)
{
        const unsigned char *at = (const unsigned char *)text, *end = at + length;
        const uint64_t ones = 0x0101010101010101ULL, high = ones << 7;
        uint64_t word;
        size_t n;

        while (at < end) {
                if (end - at >= 8) {
                        memcpy(&word, at, 8);
                        if (!((word | (word - ones)) & high)) { /* neither above 0x7f nor 0 */
                                at += 8;
                                continue;
                        }
                }
                n = *at < 0x80 ? *at != 0 : sequence(at, (size_t)(end - at));
                if (n == 0)
                        return false;
                at += n;
        }
        return true;
}

/* Up to @size bytes; fewer at the end of the file. */
static ssize_t read_full(int fd, char *buf, size_t size)
{
        size_t n = 0;
        ssize_t got;

        while (n < size) {
                got = read(fd, buf + n, size - n);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return -errno;
                if (got == 0)
                        break;
                n += (size_t)got;
        }
        return (ssize_t)n;
}

/* By chunks that end where a line does. @n: bytes that are in @buf already. */
static int read_folded(struct read *read, int fd, char *buf, size_t n)
{
        _cleanup_(folded_freep) struct folded *folded = NULL;
        int err = folded_new(&folded);
        ssize_t got;

        while (err == 0) {
                const char *line = n < CHUNK ? NULL : memrchr(buf, '\n', n);
                size_t whole = line ? (size_t)(line + 1 - buf) : n;

                err = folded_parse(read, folded, buf, whole);
                if (err < 0 || n < CHUNK)
                        return err;
                memmove(buf, buf + whole, n - whole);
                got = read_full(fd, buf + n - whole, CHUNK - (n - whole));
                if (got < 0)
                        return read_failed(read, (int)got);
                n = n - whole + (size_t)got;
        }
        return read_failed(read, err);
}

static int read_open(struct read *read, int fd)
{
        _cleanup_free_ char *buf = malloc(CHUNK + 1);
        ssize_t n;

        if (!buf)
                return read_failed(read, -ENOMEM);
        n = read_full(fd, buf, CHUNK);
        if (n < 0)
                return read_failed(read, (int)n);
        buf[n] = '\0';
        if (n >= 2 && (memcmp(buf, "\xff\xfe", 2) == 0 || memcmp(buf, "\xfe\xff", 2) == 0))
                return read_damaged(read, 0, "it is UTF-16; convert it with iconv -f UTF-16 -t UTF-8");
        return read_folded(read, fd, buf, (size_t)n);
}

int read_file(struct read *read, const char *path)
{
        _cleanup_close_ int own = -1;
        int fd = STDIN_FILENO, err = stacks_begin(read->stacks);

        if (err < 0)
                return read_failed(read, err);
        if (strcmp(path, "-") != 0)
                fd = own = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return read_failed(read, -errno);
        err = read_open(read, fd);
        if (err == 0 && !(read->stacks->runs[read->stacks->n_runs - 1].total > 0))
                return read_damaged(read, 0, "it has no stacks with a count above 0");
        return err;
}
