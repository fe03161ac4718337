/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Numbers as LEB128: seven bits per byte, low bits first; the high bit is set if more bytes follow. */

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A buffer that grows at its end and keeps its memory. */
struct bytes {
        unsigned char *data;
        size_t n;
        size_t capacity;
};

struct bytes_reader {
        const unsigned char *at;
        const unsigned char *end;
};

void bytes_clear(struct bytes *bytes);
int bytes_put(struct bytes *bytes, uint64_t number);         /* 0; -ENOMEM */
int bytes_put_raw(struct bytes *bytes, const unsigned char *data, size_t n); /* adds bytes unchanged; 0; -ENOMEM */
size_t bytes_count(const struct bytes_reader *reader); /* number of numbers that follow */

/* The high bits of eight bytes. */
#define BYTES_HIGH_BITS UINT64_C(0x8080808080808080)

static inline uint64_t bytes_eight(const unsigned char *at)
{
        uint64_t eight;

        memcpy(&eight, at, sizeof(eight));
        return le64toh(eight);
}

/* Joins the low seven bits of each of eight bytes to a number; the lowest byte has the lowest bits. */
static inline uint64_t bytes_join(uint64_t eight)
{
        eight = (eight & UINT64_C(0x007f007f007f007f)) | (eight & UINT64_C(0x7f007f007f007f00)) >> 1;
        eight = (eight & UINT64_C(0x00003fff00003fff)) | (eight & UINT64_C(0x3fff00003fff0000)) >> 2;
        return (eight & UINT64_C(0x000000000fffffff)) | (eight & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* As bytes_get(), byte by byte. */
static inline int bytes_get_slowly(struct bytes_reader *reader, uint64_t *ret)
{
        const unsigned char *at = reader->at;
        unsigned shift = 0;
        uint64_t number = 0;

        do {
                if (at == reader->end || shift > 63)
                        return -EBADMSG;
                number |= (uint64_t)(*at & 0x7f) << shift;
                shift += 7;
        } while (*at++ & 0x80);
        if (shift > 7 && (at[-1] == 0 || (shift > 63 && at[-1] > 1)))
                return -EBADMSG;
        *ret = number;
        reader->at = at;
        return 0;
}

/* Reads a number. 0; -EBADMSG, also if it has too many bytes. Inline, as a year of history has a million numbers. */
static inline int bytes_get(struct bytes_reader *reader, uint64_t *ret)
{
        const unsigned char *at = reader->at;
        uint64_t eight, last;

        if (at < reader->end && *at < 0x80) {
                *ret = *at;
                reader->at++;
                return 0;
        }
        if (reader->end - at < (ptrdiff_t)sizeof(eight))
                return bytes_get_slowly(reader, ret);
        eight = bytes_eight(at);
        last = ~eight & BYTES_HIGH_BITS; /* its lowest bit marks the last byte of the number */
        if (last == 0)
                return bytes_get_slowly(reader, ret);
        at += __builtin_ctzll(last) / 8;
        if (*at == 0)
                return -EBADMSG;
        *ret = bytes_join(eight & (last ^ (last - 1)));
        reader->at = at + 1;
        return 0;
}
