/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A connection to a compositor's socket, with a buffer of what was received and not consumed yet. */

#include <stddef.h>
#include <stdint.h>

#define STREAM_MAX (4u << 20) /* a tree of a thousand windows has half of this; more is an error */

struct stream {
        int fd; /* -1: closed */
        char *buffer;
        size_t length, capacity;
};

#define STREAM_CLOSED { .fd = -1 }

int stream_connect(struct stream *stream, const char *path); /* -ETIMEDOUT: the compositor does not accept */
void stream_close(struct stream *stream);
/* For short requests. -ECONNRESET: the socket is closed, or full because the compositor does not read. */
int stream_write(struct stream *stream, const void *bytes, size_t length);
/* Reads what has arrived; waits at most @timeout_ms for it. 0; -ETIMEDOUT; -ECONNRESET at the end; -EFBIG. */
int stream_read(struct stream *stream, int timeout_ms);
void stream_take(struct stream *stream, size_t length);
/* The next line, its newline replaced by NUL; NULL: not complete yet. stream_take_line() consumes it. */
char *stream_line(struct stream *stream);
void stream_take_line(struct stream *stream);
