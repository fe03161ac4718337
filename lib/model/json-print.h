/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The text of JSON that cJSON builds. Without memory cJSON leaves a value out and goes on, so its allocator is ours,
 * which remembers that one failed: JSON that lacks something is not printed.
 */

#include <stdbool.h>

struct cJSON;

enum json_style {
        JSON_LINE,
        JSON_INDENTED,
};

/*
 * Version of the answers' keys (docs/json.md): in another version some key has another meaning, or is gone.
 * json_add_schema() adds it to an object, and leaves an array as it is.
 */
#define JSON_SCHEMA 1
void json_add_schema(struct cJSON *json);

/* Frees @json. Text to free(); NULL: an allocation failed since the last text was made. */
char *json_print(struct cJSON *json, enum json_style style);

/* Did json_print() ever fail, so that a line is missing in output printed line by line? */
bool json_lost(void);

/* Did an allocation by cJSON fail since the last call of this, or since a text was made? */
bool json_failed(void);
