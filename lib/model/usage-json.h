/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A usage as JSON, for programs (the library has no JSON of its own). Each amount under its word, and each keyed
 * amount as a list, as "cpu": [{"policy", "khz", "busy_ns", "any_ns"}]; a key that is unknown is null. An amount that
 * was not counted is null as a whole.
 */

#include "usage.h"

struct cJSON;

/* NULL without memory. */
struct cJSON *usage_to_json(const struct usage *usage);
/* 0; -EINVAL; -ENOMEM. */
int usage_from_json(const struct cJSON *json, struct usage *ret);

/* An integer as it is: cJSON prints 15 digits. NULL without memory. */
struct cJSON *usage_json_integer(uint64_t value);
/* A whole number from 0 to @max. 0; -EINVAL. */
int usage_json_read_integer(const struct cJSON *json, double max, double *ret);

/* Readers get integers as doubles: beyond 2^53 (104 days in ns, 9 PB) they are rounded, by less than 1e-15 of them. */
#define USAGE_JSON_INTEGER_MAX 9223372036854774784.0 /* below 2^63 */
