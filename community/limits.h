/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How often somebody may do something in an hour. Kept in memory only, and by several threads. */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct limit_entry;

struct limits {
        pthread_mutex_t mutex;
        struct limit_entry *entries;
        uint64_t hour;
};

void limits_init(struct limits *limits);
void limits_clear(struct limits *limits);
/* Counts one more of @key in this hour. False: that is more than @most. */
bool limits_take(struct limits *limits, const char *key, uint64_t most);
