/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Interned texts: each is kept once, and has a number, from 0 in the order in which they came. */

#include <stddef.h>
#include <stdint.h>

struct labels {
        char *pool; /* the texts, each with a NUL */
        size_t pool_length, pool_capacity;
        uint32_t *at; /* where a text begins in the pool */
        size_t n, capacity;
        struct labels_slot {
                int32_t label; /* -1: free */
                uint32_t hash; /* hash of the label's text */
        } *slots; /* open addressing */
        size_t n_slots;
};

void labels_clear(struct labels *labels);
/* The number of a text, which is added if it is not there; -ENOMEM; -E2BIG: the texts take more than 256 MiB. */
int32_t labels_add(struct labels *labels, const char *text, size_t length);
int32_t labels_find(const struct labels *labels, const char *text, size_t length); /* -1: it is not there */
static inline const char *labels_text(const struct labels *labels, int32_t label)
{
        return labels->pool + labels->at[label];
}

/**
 * labels_rank() - the order of the texts by strcmp(), which does not depend on the order in which they came
 * @ret: for each number its place, from 0; free() it
 *
 * Return: 0; -ENOMEM.
 */
int labels_rank(const struct labels *labels, int32_t **ret);
