/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

void bytes_clear(struct bytes *bytes)
{
        free(bytes->data);
        *bytes = (struct bytes){ 0 };
}

int bytes_put(struct bytes *bytes, uint64_t number)
{
        if (util_grow(&bytes->data, &bytes->capacity, bytes->n + 10, 1) < 0)
                return -ENOMEM;
        for (; number >= 0x80; number >>= 7)
                bytes->data[bytes->n++] = (unsigned char)(number | 0x80);
        bytes->data[bytes->n++] = (unsigned char)number;
        return 0;
}

int bytes_put_raw(struct bytes *bytes, const unsigned char *data, size_t n)
{
        if (util_grow(&bytes->data, &bytes->capacity, bytes->n + n, 1) < 0)
                return -ENOMEM;
        if (n > 0)
                memcpy(bytes->data + bytes->n, data, n);
        bytes->n += n;
        return 0;
}

size_t bytes_count(const struct bytes_reader *reader)
{
        size_t n = 0;

        for (const unsigned char *at = reader->at; at < reader->end; at++)
                n += !(*at & 0x80);
        return n;
}

int bytes_get(struct bytes_reader *reader, uint64_t *ret)
{
        const unsigned char *at = reader->at, *end = reader->end;
        uint64_t number = 0;

        for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
                unsigned char byte = *at++;

                if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0))
                        return -EBADMSG;
                number |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80)) {
                        *ret = number;
                        reader->at = at;
                        return 0;
                }
        }
        return -EBADMSG;
}
