/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A set of node numbers in four levels: the next or the last member is found in a few steps, whatever the gaps. */

#include <stdint.h>

#define BITMAP_LEVELS 4

struct bitmap {
        uint64_t *words[BITMAP_LEVELS]; /* a bit tells that a word of the level below is not 0; level 0: members */
};

int bitmap_make(struct bitmap *bitmap, int32_t n); /* 0; -ENOMEM */
void bitmap_clear(struct bitmap *bitmap);
int32_t bitmap_next_word(const struct bitmap *bitmap, int32_t from);
int32_t bitmap_last_word(const struct bitmap *bitmap, int32_t from);

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

/* The first member from @from on; -1: none. Mostly it is in the same word. */
static inline int32_t bitmap_next(const struct bitmap *bitmap, int32_t from)
{
        uint64_t bits = bitmap->words[0][(uint32_t)from >> 6] & (~(uint64_t)0 << (from & 63));

        return bits ? (from & ~63) | __builtin_ctzll(bits) : bitmap_next_word(bitmap, from);
}

/* The last member up to @from, which may be -1; -1: none. */
static inline int32_t bitmap_last(const struct bitmap *bitmap, int32_t from)
{
        uint64_t bits = from < 0 ? 0 : bitmap->words[0][(uint32_t)from >> 6] & (~(uint64_t)0 >> (63 - (from & 63)));

        return bits ? (from | 63) - __builtin_clzll(bits) : bitmap_last_word(bitmap, from);
}
