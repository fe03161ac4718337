/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A writer of JSON, value by value, without a tree in memory: an answer has up to a million tasks.
 * The text is the one that cJSON makes of the same values, on one line.
 *
 *     json_write_begin(&json, "task", '{');
 *     json_write_number(&json, "value", 12.5);
 *     json_write_end(&json, '}');
 *
 * @key: a key of joulecast, which needs no escapes; NULL in an array, and at the top.
 */

#include <stdbool.h>
#include <stdio.h>

struct json_writer {
        FILE *file;
        bool comma; /* the next value needs a comma before it */
};

void json_write_begin(struct json_writer *json, const char *key, char open); /* '{' or '[' */
void json_write_end(struct json_writer *json, char close);
void json_write_text(struct json_writer *json, const char *key, const char *text);
void json_write_number(struct json_writer *json, const char *key, double value); /* null if it is not finite */
void json_write_bool(struct json_writer *json, const char *key, bool value);
