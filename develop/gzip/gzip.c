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
        FILE *file;
        z_stream stream;
        bool ended; /* a member of the file ended, and nothing was read since */
        unsigned char in[1 << 16];
};

/* Unpacks up to stream->avail_out bytes; fewer at the end of the file. 0; a positive errno. */
static int unpack(struct gzip *gzip)
{
        z_stream *stream = &gzip->stream;

        while (stream->avail_out > 0) {
                int code;

                if (stream->avail_in == 0) {
                        stream->next_in = gzip->in;
                        stream->avail_in = (unsigned)fread(gzip->in, 1, sizeof(gzip->in), gzip->file);
                        if (stream->avail_in == 0)
                                return ferror(gzip->file) ? errno : gzip->ended ? 0 : EBADMSG;
                }
                if (gzip->ended && inflateReset(stream) != Z_OK) /* members may follow each other */
                        return EBADMSG;
                gzip->ended = false;
                code = inflate(stream, Z_NO_FLUSH);
                if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
                        return code == Z_MEM_ERROR ? ENOMEM : EBADMSG;
                gzip->ended = code == Z_STREAM_END;
        }
        return 0;
}

/* Gives the bytes in front of an error first; the next call fails again. */
static ssize_t read_cookie(void *cookie, char *buf, size_t size)
{
        struct gzip *gzip = cookie;
        int err;

        gzip->stream.next_out = (unsigned char *)buf;
        gzip->stream.avail_out = (unsigned)MIN(size, (size_t)INT_MAX);
        err = unpack(gzip);
        if (err == 0 || (char *)gzip->stream.next_out > buf)
                return (char *)gzip->stream.next_out - buf;
        errno = err;
        return -1;
}

static int close_cookie(void *cookie)
{
        struct gzip *gzip = cookie;
        FILE *file = gzip->file;

        inflateEnd(&gzip->stream);
        free(gzip);
        return fclose(file);
}

int gzip_stream(FILE *file, FILE **ret)
{
        const cookie_io_functions_t functions = { .read = read_cookie, .close = close_cookie };
        struct gzip *gzip = calloc(1, sizeof(*gzip));
        FILE *made = NULL;

        if (!gzip)
                return -ENOMEM;
        gzip->file = file;
        if (inflateInit2(&gzip->stream, GZIP_BITS) == Z_OK)
                made = fopencookie(gzip, "r", functions);
        if (!made) {
                inflateEnd(&gzip->stream);
                free(gzip);
                return -ENOMEM;
        }
        *ret = made;
        return 0;
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
