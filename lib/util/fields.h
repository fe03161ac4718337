/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Members of a struct as keys of JSON and columns of SQL, by one table that both the writer and the reader walk: a new
 * key is a row. Unknown is null in JSON. What is read may be hostile: a wrong type, a text that does not fit, a list
 * that is too long and a number beyond 1e18 (integers: 2^63) are errors.
 */

#include <stddef.h>
#include <stdint.h>

struct cJSON;

enum field_kind {
        FIELD_END, /* behind the last row of a table */
        FIELD_U32,
        FIELD_U64,    /* or size_t */
        FIELD_I64,    /* a decimal string in JSON: realtime in ns is beyond 2^53 */
        FIELD_REAL,   /* double; NaN is null. In JSON with all digits, so that it comes back as it was */
        FIELD_NUMBER, /* double; likewise, with as many digits as cJSON prints */
        FIELD_BOOL,
        FIELD_KNOWN,  /* int: 1 is true, 0 false, below 0 null */
        FIELD_TEXT,   /* char[], printable; null is read as "" */
        FIELD_STRING, /* char *, as TEXT; reading allocates it */
        FIELD_WORD,   /* an enum, by its words */
        FIELD_TIME,   /* int64_t: realtime in ns; in JSON ISO 8601 in whole seconds; INT64_MIN is null */
        FIELD_VALUE,  /* double[3] as {"value", "low", "high"}; NaN is null */
        FIELD_REALS,  /* double[] as an object with words as keys; NaN is null */
        FIELD_LIST,   /* pointer to structs that another table describes, and their count; reading allocates it */
        FIELD_ARRAY,  /* likewise, an array inside of the struct */
        FIELD_FIXED,  /* @number, which is written and not read */
};

/*
 * For a reader; without it a missing or null REAL, NUMBER, TEXT, STRING, TIME or KNOWN is unknown, and a list is empty.
 * VALUE and REALS may always be missing, other kinds never.
 */
#define FIELD_MUST 1u   /* must be there; TEXT: and not be "" */
#define FIELD_AMOUNT 3u /* a number that must be there, and not below 0 */
#define FIELD_CUT 4u    /* TEXT: a longer one is cut, as it is words for people */
/* For a writer. */
#define FIELD_EMPTY 8u  /* TEXT: "" is null */
#define FIELD_SHORT 16u /* NUMBER: 9 digits, so that results which differ in the last bits only look the same */
#define FIELD_SOME 32u  /* LIST: an empty one is left out */

struct field {
        const char *key;  /* a path through objects of JSON, "base.parts_j.idle"; "": the element of a list itself */
        size_t offset, size;
        enum field_kind kind;
        unsigned flags;
        double number;             /* NUMBER, U64: the member divided by this is in JSON; 0: the member itself */
        const char *const *words;  /* WORD, REALS */
        size_t n_words;
        const struct field *of;    /* LIST, ARRAY: the table of an element */
        size_t element, count;     /* its size; offset of the count */
        size_t max;                /* LIST: greatest count that is read; 0: FIELDS_LIST_MAX */
};

#define FIELDS_LIST_MAX 100000

/* A row whose key is not the member's name: FIELD_AS(cost, "to", to_ns, FIELD_TIME). */
#define FIELD_AS(type, key_, member, ...)                                                                              \
        { key_, offsetof(struct type, member), sizeof(((struct type *)0)->member), __VA_ARGS__ }
#define FIELD(type, member, ...) FIELD_AS(type, #member, member, FIELD_##__VA_ARGS__)
#define FIELD_WORD_OF(type, key, member, list)                                                                         \
        FIELD_AS(type, key, member, FIELD_WORD, .words = list, .n_words = ARRAY_SIZE(list))
/* Elements of both are as @table describes them; @n: the member with their count. */
#define FIELD_LIST_OF(type, key, member, n, table, ...)                                                                \
        FIELD_AS(type, key, member, FIELD_LIST, __VA_ARGS__, .of = table,                                              \
                 .element = sizeof(*((struct type *)0)->member), .count = offsetof(struct type, n))
#define FIELD_ARRAY_OF(type, key, member, n, table)                                                                    \
        FIELD_AS(type, key, member, FIELD_ARRAY, .of = table,                                                          \
                 .element = sizeof(*((struct type *)0)->member), .count = offsetof(struct type, n))
#define FIELDS_END { .kind = FIELD_END }

/* Adds the keys of @fields to the object @to. Without memory something is missing (model/json-print.h). */
void fields_to_json(const struct field *fields, const void *from, struct cJSON *to);
/*
 * 0; -EBADMSG; -ENOMEM. Pointers and counts of @to must be 0 before. After an error it has what was read before that;
 * free it as after success.
 */
int fields_from_json(const struct field *fields, const struct cJSON *json, void *to);

/* Single values, as rows of these kinds have them. NULL without memory. */
struct cJSON *fields_text(const char *text); /* NULL: null */
struct cJSON *fields_time(int64_t time_ns);
struct cJSON *fields_value(const double value[3]);
struct cJSON *fields_short(double value); /* as FIELD_SHORT */

extern const struct field fields_strings[]; /* elements of a list of char * */

/* An integer as it is: cJSON prints 15 digits. */
struct cJSON *fields_integer(uint64_t value);
/* A whole number from 0 to @max. 0; -EINVAL. */
int fields_read_integer(const struct cJSON *json, double max, double *ret);

/* Readers get integers as doubles: beyond 2^53 (104 days in ns, 9 PB) they are rounded, by less than 1e-15 of them. */
#define FIELDS_INTEGER_MAX 9223372036854774784.0 /* below 2^63 */
