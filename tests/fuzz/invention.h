/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A fuzzer's input, which says byte by byte what to do next; behind its end all bytes are 0. */

#include <stddef.h>
#include <stdint.h>

struct invention {
        const uint8_t *bytes;
        size_t size, at;
};

static inline uint8_t take(struct invention *from)
{
        return from->at < from->size ? from->bytes[from->at++] : 0;
}
