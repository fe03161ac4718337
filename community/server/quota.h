/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How much is kept of a client that sends over HTTP and of all clients, and the limits of both. */

#include <pthread.h>
#include <stdint.h>

#include "database.h"

struct quota_counts {
        int64_t samples;
        int64_t names; /* names of apps; each counts for the client that named it first */
        int64_t bytes; /* for a client: of its unpacked uploads that brought anything new */
};

/* The limits of one client. 200000 samples are 1000 days of the most samples that count in a day. */
#define QUOTA_CLIENT ((struct quota_counts){ .samples = 200000, .names = 20000, .bytes = 64 << 20 })

/* Totals of the database. They are measured once a minute; uploads in between are added. */
struct quota {
        pthread_mutex_t mutex;
        struct quota_counts most, now;
        uint64_t measured_ns; /* 0: never */
};

void quota_init(struct quota *quota, const struct quota_counts *most);
void quota_clear(struct quota *quota);
/* Returns 0; -EDQUOT: the database has reached its limit of samples or bytes; another negative errno. */
int quota_check(struct quota *quota, struct database *database);
/* May an upload bring names that nobody sent before? To be asked only for one that does. */
bool quota_takes_names(struct quota *quota);
void quota_add(struct quota *quota, const struct quota_counts *added);
/* Is any count above its limit in @most? */
bool quota_exceeds(const struct quota_counts *counts, const struct quota_counts *most);
