/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "causes.h"
#include "space.h"
#include "util/util.h"
#include "words.h"

#define WORD sizeof(uint32_t)

struct causes {
        struct words *stacks;
        struct words *list; /* a cause is the number of: the one above it, then its frames */
};

int causes_new(struct words *stacks, struct causes **ret)
{
        struct causes *causes = calloc(1, sizeof(*causes));

        if (!causes)
                return -ENOMEM;
        causes->stacks = stacks;
        causes->list = words_new();
        if (!causes->list) {
                free(causes);
                return -ENOMEM;
        }
        *ret = causes;
        return 0;
}

void causes_free(struct causes *causes)
{
        if (!causes)
                return;
        words_free(causes->list);
        free(causes);
}

static uint32_t number_at(const char *bytes) /* they are packed, and not aligned */
{
        uint32_t number;

        memcpy(&number, bytes, sizeof(number));
        return number;
}

/* @frames: of @cause alone. Returns the cause above it. */
static uint32_t look_up(const struct causes *causes, uint32_t cause, const char **frames, size_t *n)
{
        const char *bytes = words_bytes(causes->list, cause, n);

        *frames = bytes + WORD;
        *n = *n / WORD - 1;
        return number_at(bytes);
}

int causes_add(struct causes *causes, uint32_t above, const uint32_t *frames, size_t n, uint32_t *ret)
{
        uint32_t key[1 + SPACE_FRAMES_MAX + 1] = { above };
        size_t deep = 0, all = n;
        int64_t number;

        for (uint32_t cause = above; cause != CAUSE_NONE; deep++) {
                const char *own;
                size_t n_own;
                uint32_t next = look_up(causes, cause, &own, &n_own);

                if (n_own == n && memcmp(own, frames, n * WORD) == 0) {
                        *ret = cause;
                        return 0;
                }
                all += n_own;
                cause = next;
        }
        if (deep >= CAUSES_DEEP_MAX || all > CAUSES_FRAMES_MAX || n >= ARRAY_SIZE(key)) {
                *ret = above;
                return 0;
        }
        memcpy(key + 1, frames, n * WORD);
        number = words_number(causes->list, key, (1 + n) * WORD);
        if (number < 0)
                return (int)number;
        *ret = (uint32_t)number;
        return 0;
}

int causes_stack(struct causes *causes, uint32_t above, const uint32_t *frames, size_t n, uint32_t *ret)
{
        uint32_t stack[CAUSES_FRAMES_MAX + SPACE_FRAMES_MAX + 1];
        size_t at = ARRAY_SIZE(stack) - MIN(n, (size_t)SPACE_FRAMES_MAX + 1);
        int64_t number;

        if (n > 0)
                memcpy(stack + at, frames, (ARRAY_SIZE(stack) - at) * WORD);
        for (uint32_t cause = above; cause != CAUSE_NONE;) {
                const char *own;
                size_t n_own;

                cause = look_up(causes, cause, &own, &n_own);
                at -= n_own;
                memcpy(stack + at, own, n_own * WORD);
        }
        number = words_number(causes->stacks, stack + at, (ARRAY_SIZE(stack) - at) * WORD);
        if (number < 0)
                return (int)number;
        *ret = (uint32_t)number;
        return 0;
}

uint32_t causes_root(const struct causes *causes, uint32_t cause)
{
        const char *own;
        size_t n_own;

        for (uint32_t above; (above = look_up(causes, cause, &own, &n_own)) != CAUSE_NONE;)
                cause = above;
        return n_own > 0 ? number_at(own) : CAUSE_NONE;
}
