/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "limits.h"
#include "util/hash.h"
#include "util/util.h"

#define ENTRIES_MAX 1000000 /* beyond, all that are new wait for the next hour */
#define HOUR_NS 3600000000000

struct limit_entry {
        uint64_t count;
        UT_hash_handle hh;
        char key[];
};

void limits_init(struct limits *limits)
{
        *limits = (struct limits){ .hour = 0 };
        pthread_mutex_init(&limits->mutex, NULL);
}

void limits_clear(struct limits *limits)
{
        HASH_FREE(limits->entries);
        pthread_mutex_destroy(&limits->mutex);
}

static struct limit_entry *find_or_add(struct limits *limits, const char *key)
{
        struct limit_entry *entry;
        size_t length = strlen(key);

        HASH_FIND(hh, limits->entries, key, length, entry);
        if (entry || HASH_COUNT(limits->entries) >= ENTRIES_MAX)
                return entry;
        entry = calloc(1, sizeof(*entry) + length + 1);
        if (!entry)
                return NULL;
        memcpy(entry->key, key, length);
        HASH_ADD_KEYPTR(hh, limits->entries, entry->key, length, entry);
        if (HASH_HAS(entry))
                return entry;
        free(entry);
        return NULL;
}

bool limits_take(struct limits *limits, const char *key, uint64_t most)
{
        struct limit_entry *entry;
        uint64_t hour = util_boottime_ns() / HOUR_NS;
        bool fine;

        pthread_mutex_lock(&limits->mutex);
        if (hour != limits->hour)
                HASH_FREE(limits->entries);
        limits->hour = hour;
        entry = find_or_add(limits, key);
        fine = entry && ++entry->count <= most;
        pthread_mutex_unlock(&limits->mutex);
        return fine;
}
