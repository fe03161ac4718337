/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "util/util.h"
#include "words.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <uthash.h>

struct word {
        UT_hash_handle hh;
        size_t length;
        uint32_t number;
        bool lost;
        char bytes[];
};

struct words {
        struct word *by_bytes;
        struct word **by_number;
        size_t n, capacity;
};

struct words *words_new(void)
{
        return calloc(1, sizeof(struct words));
}

void words_free(struct words *words)
{
        if (!words)
                return;
        HASH_CLEAR(hh, words->by_bytes);
        for (size_t i = 0; i < words->n; i++)
                free(words->by_number[i]);
        free(words->by_number);
        free(words);
}

int64_t words_number(struct words *words, const void *bytes, size_t length)
{
        struct word *word;

        HASH_FIND(hh, words->by_bytes, bytes, length, word);
        if (word)
                return word->number;
        if (util_grow(&words->by_number, &words->capacity, words->n + 1, sizeof(struct word *)) < 0)
                return -ENOMEM;
        word = calloc(1, sizeof(*word) + length + 1);
        if (!word)
                return -ENOMEM;
        memcpy(word->bytes, bytes, length);
        word->length = length;
        word->number = (uint32_t)words->n;
        HASH_ADD_KEYPTR(hh, words->by_bytes, word->bytes, length, word);
        if (word->lost) {
                free(word);
                return -ENOMEM;
        }
        words->by_number[words->n++] = word;
        return word->number;
}

int64_t words_look_up(const struct words *words, const void *bytes, size_t length)
{
        struct word *word;

        HASH_FIND(hh, words->by_bytes, bytes, length, word);
        return word ? (int64_t)word->number : -ENOENT;
}

const char *words_bytes(const struct words *words, uint32_t number, size_t *length)
{
        const struct word *word = words->by_number[number];

        if (length)
                *length = word->length;
        return word->bytes;
}

size_t words_count(const struct words *words)
{
        return words->n;
}
