/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* CSV columns that hold amounts of a usage, in usage tables (usage-table.h) and in traces (measured/measured.h). */

#include <stdbool.h>

#include "model/usage.h"

#define USAGE_COLUMN_MOST 1e18 /* in whatever unit: far above all that a machine does in a year, below 2^63 */
#define POLICY_UNKNOWN UINT32_MAX /* policy of CPU time whose column names only a frequency */

enum usage_column_kind {
        COLUMN_NAME,
        COLUMN_STATE,
        COLUMN_TIME,
        COLUMN_DISPLAY,
        COLUMN_AMOUNT,  /* by @amount, times @scale */
        COLUMN_KHZ,     /* @key, in 1/100 s */
        COLUMN_CPU,     /* @group, @key */
        COLUMN_SHARED,
        COLUMN_IDLE,    /* idle.POLICY.KHZ, ns */
        COLUMN_SIGNAL,  /* signal.DB, bytes at so many dB below 1 mW */
        COLUMN_SCREEN,  /* @key */
        COLUMN_CPU_SUM, /* it and the next one are for people: other columns have it, or it has no price */
        COLUMN_CELLULAR,
        COLUMN_COUNTED, /* cycles.POLICY and the like; @key: enum counted_event */
};

struct usage_column {
        enum usage_column_kind kind;
        size_t amount;
        double scale;
        uint32_t group, key;
};

/* False: no column of ours has that name. */
bool usage_column_parse(const char *name, struct usage_column *ret);
bool usage_column_is_same(const struct usage_column *a, const struct usage_column *b);
/* Name of the column of a kind that has only one. */
const char *usage_column_name(enum usage_column_kind kind);
/* The USAGE_* that was not counted if the column's field is empty; 0: none. */
uint32_t usage_column_have(const struct usage_column *column);
/*
 * Adds the amount in a field to @usage; nothing where the column holds no amount. display_ms is screen time at a
 * brightness that is not known. 0; -ERANGE; -EOVERFLOW; -ENOMEM.
 */
int usage_column_add(const struct usage_column *column, double amount, struct usage *usage);
