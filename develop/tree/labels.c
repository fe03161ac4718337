/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define POOL_MAX ((size_t)256 << 20)

void labels_clear(struct labels *labels)
{
        free(labels->pool);
        free(labels->at);
        free(labels->slots);
        *labels = (struct labels){ 0 };
}

/* Up to seven bytes; texts of the same length differ in it. */
static uint64_t last_word(const char *text, size_t length)
{
        uint32_t first, last;

        if (length < 4)
                return length == 0 ? 0 :
                                     (uint64_t)(unsigned char)text[0] |
                                             (uint64_t)(unsigned char)text[length / 2] << 8 |
                                             (uint64_t)(unsigned char)text[length - 1] << 16;
        memcpy(&first, text, 4);
        memcpy(&last, text + length - 4, 4);
        return first | (uint64_t)last << 32;
}

static uint32_t hash_text(const char *text, size_t length)
{
        uint64_t hash = 0x9e3779b97f4a7c15ULL ^ length, word;

        for (; length >= 8; length -= 8, text += 8) {
                memcpy(&word, text, 8);
                hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
                hash ^= hash >> 32;
        }
        hash = (hash ^ last_word(text, length)) * 0xff51afd7ed558ccdULL;
        hash = (hash ^ hash >> 32) * 0xc4ceb9fe1a85ec53ULL; /* else the last letters never reach the lowest bits */
        return (uint32_t)(hash ^ hash >> 32);
}

static size_t length_of(const struct labels *labels, int32_t label)
{
        size_t end = (size_t)label + 1 < labels->n ? labels->at[label + 1] : labels->pool_length;

        return end - labels->at[label] - 1;
}

/* The slot for a text that is not there yet. */
static size_t free_slot(const struct labels_slot *slots, size_t n, uint32_t hash)
{
        size_t at = hash & (n - 1);

        while (slots[at].label >= 0)
                at = (at + 1) & (n - 1);
        return at;
}

static int grow_slots(struct labels *labels)
{
        size_t n = labels->n_slots ? labels->n_slots * 2 : 1024;
        struct labels_slot *slots = malloc(n * sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        memset(slots, 0xff, n * sizeof(*slots));
        for (size_t i = 0; i < labels->n_slots; i++)
                if (labels->slots[i].label >= 0)
                        slots[free_slot(slots, n, labels->slots[i].hash)] = labels->slots[i];
        free(labels->slots);
        labels->slots = slots;
        labels->n_slots = n;
        return 0;
}

static int append(struct labels *labels, const char *text, size_t length)
{
        if (labels->pool_length + length + 1 > POOL_MAX)
                return -E2BIG;
        if (util_grow(&labels->pool, &labels->pool_capacity, labels->pool_length + length + 1, 1) < 0 ||
            util_grow(&labels->at, &labels->capacity, labels->n + 1, sizeof(*labels->at)) < 0)
                return -ENOMEM;
        labels->at[labels->n] = (uint32_t)labels->pool_length;
        memcpy(labels->pool + labels->pool_length, text, length);
        labels->pool[labels->pool_length + length] = '\0';
        labels->pool_length += length + 1;
        labels->n++;
        return 0;
}

/* The slot of a text, or where it would go. */
static struct labels_slot *find_slot(const struct labels *labels, const char *text, size_t length, uint32_t hash)
{
        size_t at = hash & (labels->n_slots - 1);

        for (; labels->slots[at].label >= 0; at = (at + 1) & (labels->n_slots - 1))
                if (labels->slots[at].hash == hash && length_of(labels, labels->slots[at].label) == length &&
                    memcmp(labels_text(labels, labels->slots[at].label), text, length) == 0)
                        break;
        return &labels->slots[at];
}

int32_t labels_find(const struct labels *labels, const char *text, size_t length)
{
        return labels->n_slots ? find_slot(labels, text, length, hash_text(text, length))->label : -1;
}

int32_t labels_add(struct labels *labels, const char *text, size_t length)
{
        uint32_t hash = hash_text(text, length);
        struct labels_slot *slot;
        int err;

        if (labels->n * 2 >= labels->n_slots && grow_slots(labels) < 0)
                return -ENOMEM;
        slot = find_slot(labels, text, length, hash);
        if (slot->label >= 0)
                return slot->label;
        err = append(labels, text, length);
        if (err < 0)
                return err;
        *slot = (struct labels_slot){ (int32_t)labels->n - 1, hash };
        return slot->label;
}

static int compare_texts(const void *a, const void *b, void *labels)
{
        return strcmp(labels_text(labels, *(const int32_t *)a), labels_text(labels, *(const int32_t *)b));
}

int labels_rank(const struct labels *labels, int32_t **ret)
{
        _cleanup_free_ int32_t *order = calloc(labels->n + 1, sizeof(*order)),
                               *rank = calloc(labels->n + 1, sizeof(*rank));

        if (!order || !rank)
                return -ENOMEM;
        for (size_t i = 0; i < labels->n; i++)
                order[i] = (int32_t)i;
        qsort_r(order, labels->n, sizeof(*order), compare_texts, (void *)labels);
        for (size_t i = 0; i < labels->n; i++)
                rank[order[i]] = (int32_t)i;
        *ret = TAKE_PTR(rank);
        return 0;
}
