/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "util/local-socket.h"
#include "util/util.h"

/* A compositor that hangs does not accept connections, and connect() blocks while its queue is full. */
static const struct timeval patience = { .tv_usec = 500000 };

int stream_connect(struct stream *stream, const char *path)
{
        int fd = local_socket_connect(path, SOCK_STREAM, &patience);

        if (fd < 0)
                return fd;
        *stream = (struct stream){ .fd = fd };
        return 0;
}

void stream_close(struct stream *stream)
{
        closep(&stream->fd);
        free(stream->buffer);
        *stream = (struct stream)STREAM_CLOSED;
}

int stream_write(struct stream *stream, const void *bytes, size_t length)
{
        ssize_t n = send(stream->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);

        return n == (ssize_t)length ? 0 : -ECONNRESET;
}

int stream_read(struct stream *stream, int timeout_ms)
{
        struct pollfd wait = { .fd = stream->fd, .events = POLLIN };
        int ready = poll(&wait, 1, timeout_ms);
        ssize_t n;

        if (ready < 0)
                return errno == EINTR ? 0 : -errno;
        if (ready == 0)
                return -ETIMEDOUT;
        if (stream->length >= STREAM_MAX)
                return -EFBIG;
        if (util_grow(&stream->buffer, &stream->capacity, stream->length + 4096, 1) < 0)
                return -ENOMEM;
        n = recv(stream->fd, stream->buffer + stream->length, stream->capacity - stream->length - 1,
                 MSG_DONTWAIT);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        if (n == 0)
                return -ECONNRESET;
        stream->length += (size_t)n;
        stream->buffer[stream->length] = '\0';
        return 0;
}

/* A tree is large, events are small: free the memory of a tree. */
void stream_take(struct stream *stream, size_t length)
{
        stream->length -= length;
        if (stream->length > 0) {
                memmove(stream->buffer, stream->buffer + length, stream->length + 1);
        } else if (stream->capacity > 65536) {
                free(stream->buffer);
                stream->buffer = NULL;
                stream->capacity = 0;
        }
}

char *stream_line(struct stream *stream)
{
        char *end = stream->length > 0 ? memchr(stream->buffer, '\n', stream->length) : NULL;

        if (!end)
                return NULL;
        *end = '\0';
        return stream->buffer;
}

void stream_take_line(struct stream *stream)
{
        stream_take(stream, strlen(stream->buffer) + 1);
}
