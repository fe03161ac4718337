/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A reader of JSON that works in place, value by value, without a tree in memory: profiles are hundreds of
 * megabytes of numbers. A function that finds something other than it expects sets @failed, and goes to the end
 * of the text. A value that was skipped may be entered later: the ends of long values are kept, so that the
 * text is not read again.
 *
 *     for (bool more = json_begin(&json, '['); more; more = json_more(&json, ']'))
 *             sum += json_number(&json);
 */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Where long objects and arrays of a text end. */
struct json_ends {
        struct json_end {
                const char *from, *end; /* at the opening bracket; after the closing one */
        } *list; /* sorted by @from */
        size_t n, capacity;
};

struct json_text {
        const char *at, *end;
        bool failed;
        struct json_ends *ends; /* shared by the whole text; NULL: not kept */
};

void json_ends_clear(struct json_ends *ends);

/* The first byte of the next value: '{', '[', '"', 't', 'f', 'n', '-' or a digit; 0: there is none. */
char json_peek(struct json_text *json);
/* Enters an object or an array. True: it has a value, or a key. */
bool json_begin(struct json_text *json, char open);
/* After a value: is there another? False: @close was passed. */
bool json_more(struct json_text *json, char close);
/* Reads a key and its colon. The key as it is in the text, without quotes. */
const char *json_key(struct json_text *json, size_t *length);
static inline bool json_key_is(const char *key, size_t length, const char *name)
{
        return strlen(name) == length && memcmp(key, name, length) == 0;
}
void json_skip(struct json_text *json);
double json_number(struct json_text *json); /* NAN: null, or damage */
/* Copies a string to @buf without quotes and escapes, cut off if it is too long. Its length; 0 for null, too. */
size_t json_string(struct json_text *json, char *buf, size_t size);

/*
 * Finds members of the next object, and skips it. @found: the value of each name; its @at is NULL if it is not
 * there. The first of equal keys counts.
 */
void json_members(struct json_text *json, const char *const *names, size_t n, struct json_text *found);
