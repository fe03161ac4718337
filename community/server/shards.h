/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One community on several PostgreSQL databases.
 *
 * The coordinator has partitioned tables whose partitions are foreign tables on the shards (postgres_fdw).
 * Each shard has the clients whose numbers are in its range. PostgreSQL distributes the work; this file adds
 * the check that no shard is missing.
 */

#include "database.h"

#define SHARDS_MAX 64

/**
 * shards_make() - make an empty database the coordinator, and other databases its shards
 * @coordinator: its URL
 * @shards:      URLs, as the coordinator's server reaches them
 *
 * Return: 0; a negative errno. The log has a sentence.
 */
int shards_make(const char *coordinator, const char *const *shards, size_t n, const struct log *log);

/*
 * Checks that all shards are there and match the coordinator's list. Call it within the transaction of a
 * report.
 */
int shards_check(struct database *database);
