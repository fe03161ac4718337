/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * JSON that is read where it stands, value by value, without a tree of it in memory: profiles are hundreds of megabytes of
 * numbers. A function that meets something else than what it is asked for sets @failed, and the text is then at its end.
 * A value that is passed may be entered later: where long ones end is kept, so that this does not read the text again.
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
                const char *from, *end; /* at the bracket that opens; behind the one that closes */
        } *list; /* by @from */
        size_t n, capacity;
};

struct json_text {
        const char *at, *end;
        bool failed;
        struct json_ends *ends; /* of the whole text; NULL: not kept */
};

void json_ends_clear(struct json_ends *ends);

/* The first byte of the next value: '{', '[', '"', 't', 'f', 'n', '-' or a digit; 0: there is none. */
char json_peek(struct json_text *json);
/* Enters an object or an array. True: it has a value, or a key. */
bool json_begin(struct json_text *json, char open);
/* After a value: is there another? False: @close was passed. */
bool json_more(struct json_text *json, char close);
/* A key and its colon: as it is in the text, without quotes. */
const char *json_key(struct json_text *json, size_t *length);
static inline bool json_key_is(const char *key, size_t length, const char *name)
{
        return strlen(name) == length && memcmp(key, name, length) == 0;
}
void json_skip(struct json_text *json);
double json_number(struct json_text *json); /* NAN: null, or damage */
/* A text without quotes and escapes, in @buf; what does not fit is left out. Its length; 0 for null, too. */
size_t json_string(struct json_text *json, char *buf, size_t size);

/*
 * Finds members of the object that comes next, and passes it. @found: of each name, where its value stands; @at NULL: it is
 * not there. Of equal keys the first one counts.
 */
void json_members(struct json_text *json, const char *const *names, size_t n, struct json_text *found);
