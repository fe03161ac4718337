/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bitmap.h"

#include <errno.h>
#include <stdlib.h>

#include "util/util.h"

int bitmap_make(struct bitmap *bitmap, int32_t n)
{
        _cleanup_(bitmap_clear) struct bitmap made = { 0 };
        size_t size = (size_t)n;

        for (int i = 0; i < BITMAP_LEVELS; i++) {
                size = size / 64 + 1;
                made.words[i] = calloc(size, sizeof(uint64_t));
                if (!made.words[i])
                        return -ENOMEM;
        }
        *bitmap = made;
        made = (struct bitmap){ 0 };
        return 0;
}

void bitmap_clear(struct bitmap *bitmap)
{
        for (int i = 0; i < BITMAP_LEVELS; i++)
                free(bitmap->words[i]);
        *bitmap = (struct bitmap){ 0 };
}

/* Goes down from a word of a level that has members, to the first or the last of them. */
static int32_t descend(const struct bitmap *bitmap, int level, uint32_t word, uint64_t bits, int last)
{
        for (;; level--, bits = bitmap->words[level][word]) {
                word = word << 6 | (uint32_t)(last ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits));
                if (level == 0)
                        return (int32_t)word;
        }
}

int32_t bitmap_next_word(const struct bitmap *bitmap, int32_t from)
{
        uint32_t at = (uint32_t)from;

        for (int level = 0; level < BITMAP_LEVELS; level++) {
                uint64_t bits = bitmap->words[level][at >> 6] & (~(uint64_t)0 << (at & 63));

                if (bits)
                        return descend(bitmap, level, at >> 6, bits, 0);
                at = (at >> 6) + 1;
        }
        return -1;
}

int32_t bitmap_last_word(const struct bitmap *bitmap, int32_t from)
{
        int32_t at = from;

        for (int level = 0; level < BITMAP_LEVELS && at >= 0; level++) {
                uint64_t bits = bitmap->words[level][at >> 6] & (~(uint64_t)0 >> (63 - (at & 63)));

                if (bits)
                        return descend(bitmap, level, (uint32_t)at >> 6, bits, 1);
                at = (at >> 6) - 1;
        }
        return -1;
}
