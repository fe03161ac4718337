/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A compositor's socket: connected, with a buffer of what came and was not taken yet. */

#include <stddef.h>
#include <stdint.h>

#define STREAM_MAX (4u << 20) /* a tree of a thousand windows has half of this; more is an error */

struct stream {
        int fd; /* -1: closed */
        char *buffer;
        size_t length, capacity;
};

#define STREAM_CLOSED { .fd = -1 }

int stream_connect(struct stream *stream, const char *path); /* -ETIMEDOUT: nobody accepts */
void stream_close(struct stream *stream);
/* A few bytes, which a socket has room for; -ECONNRESET: who leaves them unread is as good as gone. */
int stream_write(struct stream *stream, const void *bytes, size_t length);
/*
 * Reads what is there; waits at most @timeout_ms for something.
 * 0; -ETIMEDOUT; -ECONNRESET at the end; -EFBIG.
 */
int stream_read(struct stream *stream, int timeout_ms);
void stream_take(struct stream *stream, size_t length);
/*
 * The next line without its end, NUL-terminated in place;
 * NULL: not whole yet. Take it with stream_take_line().
 */
char *stream_line(struct stream *stream);
void stream_take_line(struct stream *stream);
