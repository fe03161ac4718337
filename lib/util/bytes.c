/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bytes.h"

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
        const unsigned char *at = reader->at;
        size_t n = 0;

        for (; reader->end - at >= 8; at += 8) /* the product's highest byte is the sum of its bytes */
                n += ((~bytes_eight(at) & BYTES_HIGH_BITS) >> 7) * UINT64_C(0x0101010101010101) >> 56;
        for (; at < reader->end; at++)
                n += !(*at & 0x80);
        return n;
}
