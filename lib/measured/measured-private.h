/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A trace while it is read. */

#include "forecast/usage-column.h"
#include "measured.h"
#include "util/csv-field.h"

#define COLUMNS_MAX 16384
#define TIME_MOST 1e12 /* s */

/* Columns of numbers that usage tables do not have. All rows have the first two; the others are only the base's. */
enum number {
        NUMBER_START,
        NUMBER_ELAPSED,
        NUMBER_POWER,
        NUMBER_ENERGY,
        NUMBER_PERCENT,
        NUMBER_CHARGE,
        NUMBER_VOLTAGE,
        NUMBER_TEMPERATURE,
        NUMBER_RED,
        NUMBER_GREEN,
        NUMBER_BLUE,
        NUMBER_COUNT
};

enum kind {
        KIND_USAGE,
        KIND_SPAN,
        KIND_NUMBER,  /* @at: index in numbers[] */
        KIND_COUNTER, /* cycles, instructions or misses (@at) of a policy */
        KIND_RAIL,    /* @at: index in the trace's rails */
};

struct column {
        enum kind kind;
        size_t at;
        uint32_t policy;
        struct usage_column usage;
        bool filled; /* at least one row has a value */
};

/* Kinds of columns with several keys, of which some may be empty. */
enum keyed_column {
        KEY_CPU,
        KEY_SHARED,
        KEY_IDLE,
        KEY_SCREEN,
        KEY_COUNT
};

struct row {
        struct measured_owner owner;
        int64_t span;
        unsigned line;
        double number[NUMBER_COUNT]; /* NaN: empty */
        double rail_j[MEASURED_RAILS_MAX];
        uint64_t amounts;            /* 1 << AMOUNT_* whose field is not empty */
        size_t keys[KEY_COUNT];      /* number of fields that are not empty */
};

struct parser {
        struct csv_reader csv;
        const char *file;
        const struct log *log;
        unsigned line;
        struct csv_reader head;       /* the first line */
        const struct column *column;  /* that is being read, so that a sentence can name it; NULL: none */
        struct measured_trace *trace;
        size_t n_columns;
        struct column columns[COLUMNS_MAX];
        bool screens; /* there are columns of brightness, so display_ms is a sum of them */
        struct row *rows;
        size_t n_rows, capacity;
        size_t keys[KEY_COUNT]; /* number of columns that have a value in at least one row */
};

/* A sentence about a line of the file; -EINVAL. */
int measured_complain(const struct parser *parser, unsigned line, const char *what, const char *detail);

/* measured-spans.c: the enum keyed_column of a column; KEY_COUNT: none. */
int measured_keyed(const struct usage_column *column);
/* Finds the first column of a kind: numbers and counters by @at, usages by @usage. NULL: there is none. */
const struct column *measured_find(const struct parser *parser, enum kind kind, size_t at,
                                   enum usage_column_kind usage);
/* measured-check.c: warns of times that are likely in another unit. 0; -EINVAL: a span cannot have one; -ENOMEM. */
int measured_check_times(const struct parser *parser);
/* Warns of powers that are likely in another unit. @full_mwh: of the battery; NaN: unknown. */
void measured_check_power(const struct measured_trace *trace, double full_mwh);
/* Makes the trace's spans from all rows, and takes their usages. 0; -EINVAL; -ENOMEM. */
int measured_make_spans(struct parser *parser);
