/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gzip.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "util/util.h"

#define GZIP_BITS (MAX_WBITS + 16) /* with a gzip header */

struct gzip {
        int fd;
        z_stream stream;
        bool ended; /* a member of the file ended, and nothing was read since */
        unsigned char in[1 << 16];
};

int gzip_open(int fd, const char *head, size_t n, struct gzip **ret)
{
        struct gzip *gzip = calloc(1, sizeof(*gzip));

        if (!gzip)
                return -ENOMEM;
        gzip->fd = fd;
        memcpy(gzip->in, head, n);
        gzip->stream.next_in = gzip->in;
        gzip->stream.avail_in = (unsigned)n;
        if (inflateInit2(&gzip->stream, GZIP_BITS) != Z_OK) {
                free(gzip);
                return -ENOMEM;
        }
        *ret = gzip;
        return 0;
}

/* Reads compressed bytes. Their number; 0: end of the file; a negative errno. */
static ssize_t fill(struct gzip *gzip)
{
        ssize_t n;

        do {
                n = read(gzip->fd, gzip->in, sizeof(gzip->in));
        } while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        gzip->stream.next_in = gzip->in;
        gzip->stream.avail_in = (unsigned)n;
        return n;
}

ssize_t gzip_read(struct gzip *gzip, char *buf, size_t size)
{
        z_stream *stream = &gzip->stream;
        ssize_t n;

        stream->next_out = (unsigned char *)buf;
        stream->avail_out = (unsigned)MIN(size, (size_t)INT_MAX);
        while (stream->avail_out > 0) {
                int code;

                if (stream->avail_in == 0) {
                        n = fill(gzip);
                        if (n < 0)
                                return n;
                        if (n == 0 && gzip->ended)
                                break;
                        if (n == 0)
                                return -EBADMSG;
                }
                if (gzip->ended && inflateReset(stream) != Z_OK) /* members may follow each other */
                        return -EBADMSG;
                gzip->ended = false;
                code = inflate(stream, Z_NO_FLUSH);
                if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
                        return code == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
                gzip->ended = code == Z_STREAM_END;
        }
        return (char *)stream->next_out - buf;
}

void gzip_close(struct gzip *gzip)
{
        if (!gzip)
                return;
        inflateEnd(&gzip->stream);
        free(gzip);
}

int gzip_pack(const char *data, size_t length, char **ret, size_t *ret_length)
{
        z_stream stream = { 0 };
        char *out;
        size_t room;
        int code;

        if (length > INT_MAX || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS, 8,
                                             Z_DEFAULT_STRATEGY) != Z_OK)
                return -ENOMEM;
        room = deflateBound(&stream, length);
        out = malloc(room);
        stream.next_in = (unsigned char *)data;
        stream.avail_in = (unsigned)length;
        stream.next_out = (unsigned char *)out;
        stream.avail_out = (unsigned)room;
        code = out ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
        *ret_length = room - stream.avail_out;
        deflateEnd(&stream);
        if (code != Z_STREAM_END) {
                free(out);
                return -ENOMEM;
        }
        *ret = out;
        return 0;
}
