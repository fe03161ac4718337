/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A usage as JSON. Each amount under its word, and each keyed
 * amount as a list, as "cpu": [{"policy", "khz", "busy_ns", "any_ns"}]; a key that is unknown is null. An amount that
 * was not counted is null as a whole.
 */

#include "usage.h"

struct cJSON;

/* NULL without memory. */
struct cJSON *usage_to_json(const struct usage *usage);
/* 0; -EINVAL; -ENOMEM. */
int usage_from_json(const struct cJSON *json, struct usage *ret);
