/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One community on several databases of PostgreSQL. The coordinator has partitioned tables whose partitions are foreign tables
 * on the shards (postgres_fdw): each shard has the clients whose numbers are in its range. PostgreSQL does the
 * distribution; here is what it lacks: that no shard is forgotten.
 */

#include "database.h"

#define SHARDS_MAX 64

/* What a shard sums up of its clients, as a view on it; @limit is as for report_clients(). */
#define SHARDS_APP_SUMS                                                                                                             \
        "count(*), sum(a.n), sum(a.s1), sum(a.s2), sum(CASE WHEN a.w > 0 THEN 1 ELSE 0 END),"                                        \
        " sum(CASE WHEN a.x > 0 THEN 1 ELSE 0 END), sum(CASE WHEN a.x < 0 THEN 1 ELSE 0 END), sum(a.w), sum(a.w * a.w),"            \
        " sum(a.wa), sum(a.wb), sum(a.wa * a.wa), sum(a.wb * a.wb), sum(a.wa * a.wb), sum(a.w * a.wa), sum(a.w * a.wb),"            \
        " sum(a.x), sum(a.x * a.x), sum(a.w * a.x), sum(a.ms)"
#define SHARDS_APP_COLUMNS 20

/**
 * shards_make() - make a coordinator of an empty database, and shards of others
 * @coordinator: URL of it
 * @shards:      URLs, as the coordinator's server reaches them
 *
 * Return: 0; a negative errno. The log has a sentence.
 */
int shards_make(const char *coordinator, const char *const *shards, size_t n, const struct log *log);

/* Are all shards there, and is each what the coordinator takes it for? Within the transaction of a report. */
int shards_check(struct database *database);
/* Tells the shards whose rates are not believed; for the views, until the transaction is rolled back. */
int shards_set_limit(struct database *database, int64_t limit);
