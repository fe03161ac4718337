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
