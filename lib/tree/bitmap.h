/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A set of node numbers in three levels: the next or the last member is found in a few steps, whatever the gaps. */

#include <stdint.h>

#define BITMAP_LEVELS 4

struct bitmap {
        uint64_t *words[BITMAP_LEVELS]; /* a bit of a level: that word of the level below is not 0 */
};

int bitmap_make(struct bitmap *bitmap, int32_t n); /* 0; -ENOMEM */
void bitmap_clear(struct bitmap *bitmap);
int32_t bitmap_next(const struct bitmap *bitmap, int32_t from); /* the first member from @from on; -1: none */
int32_t bitmap_last(const struct bitmap *bitmap, int32_t from); /* the last member up to @from, which may be -1; -1: none */

static inline void bitmap_set(struct bitmap *bitmap, int32_t node)
{
        uint32_t at = (uint32_t)node;

        for (int i = 0; i < BITMAP_LEVELS; i++, at >>= 6) {
                uint64_t *word = &bitmap->words[i][at >> 6], old = *word;

                *word = old | (uint64_t)1 << (at & 63);
                if (old)
                        return;
        }
}

static inline void bitmap_unset(struct bitmap *bitmap, int32_t node)
{
        uint32_t at = (uint32_t)node;

        for (int i = 0; i < BITMAP_LEVELS; i++, at >>= 6) {
                bitmap->words[i][at >> 6] &= ~((uint64_t)1 << (at & 63));
                if (bitmap->words[i][at >> 6])
                        return;
        }
}
