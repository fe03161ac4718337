/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Numbers as LEB128: seven bits a byte, low ones first, the high bit says that more follow. */

#include <stddef.h>
#include <stdint.h>

/* Grows at its end; room is kept. */
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
int bytes_put_raw(struct bytes *bytes, const unsigned char *data, size_t n); /* as they are; likewise */
size_t bytes_count(const struct bytes_reader *reader); /* how many numbers follow */
int bytes_get(struct bytes_reader *reader, uint64_t *ret);   /* 0; -EBADMSG, also if it has more bytes than it needs */
