/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A usage table: what apps used, from this machine's records, another profiler or a paper. As CSV (fields may be
 * quoted as in RFC 4180, the order of columns is free) its columns are
 *
 *   name, state       the app's; state is foreground, background, or base for usage of no app
 *   time_ms           alive in that state
 *   display_ms        thereof with the screen on
 *   read_bytes ...    an amount by its word in component.h; or read_kb, write_kb, rx_kb, tx_kb (KB is 1000 bytes)
 *   384000            CPU time at that many kHz of a policy that is not named, in 1/100 s
 *   cpu.P.KHZ         CPU time of policy P at that frequency, ns; unknown for a frequency that is not known
 *   shared.P.KHZ      the app's part of the time in which any core of the policy was busy there, ns
 *   screen.LEVEL      time the screen was on at that raw brightness, ns; screen.unknown. Without such columns
 *                     display_ms counts, at a brightness that is not known
 *   cpu_busy_ns       the sum of cpu.P.KHZ
 *   cellular_bytes    over the modem, both ways; they are not priced: that would need each packet
 *
 * An empty field is an amount that was not counted. name, state, time_ms, display_ms, and bytes read, written and
 * received have to be there.
 */

#include <stdbool.h>
#include <stddef.h>

#include "interval/interval.h"
#include "model/usage.h"
#include "store/store.h"
#include "usage-column.h"
#include "util/log.h"
#include "util/util.h"

struct usage_table_row {
        char name[APP_ID_MAX];  /* verbatim; printable UTF-8 */
        char label[APP_ID_MAX]; /* as people know it */
        bool base;              /* usage of no app: the state has no meaning */
        enum app_state state;
        double time_ms;         /* alive in that state */
        struct usage_there there; /* the same, while rows are added */
        double display_ms;      /* part of that with the screen */
        int64_t first_ns, last_ns; /* realtime, if the table was recorded; else 0 */
        struct usage usage;     /* CPU time by kHz alone: policy unknown, any_ns is busy_ns */
};

struct usage_table_index; /* finds a row by its name and state */

struct usage_table {
        struct usage_table_index *index;
        struct usage_table_row *rows; /* in the file's order; each name and state once */
        size_t n_rows, capacity;
        uint32_t *khz;                /* frequencies that have a column without a policy, in the file's order */
        size_t n_khz;
        bool has_tx;                  /* bytes sent were counted */
        bool has_base;
        int64_t from_ns, to_ns;       /* realtime, if the table was recorded; else 0 */
};

/**
 * usage_table_parse() - text to rows
 * @text: the whole file; need not end in NUL
 * @name: what to call it in the sentence about an error, which tells the line
 * @ret:  free it with usage_table_free(); written only on success
 *
 * Return: 0; -EINVAL for a bad text; -ENOMEM.
 */
int usage_table_parse(const char *text, size_t length, const char *name, const struct log *log,
                      struct usage_table **ret);
int usage_table_load(const char *path, const struct log *log, struct usage_table **ret);
/*
 * Reads the stored usage of the span and apps that @query asks for; its grain and others are ignored. If its times is
 * set, only the rows' times are read. 0; -ENODATA; -errno.
 */
int usage_table_read(struct store *store, const struct store_query *query, struct usage_table **ret);
/* As CSV, with columns for all that any row has; free() it. 0; -ENOMEM. */
int usage_table_print(const struct usage_table *table, char **ret);
/* The row of a name and state, which is added where it is new (@added). NULL: no memory. */
struct usage_table_row *usage_table_row(struct usage_table *table, const char *name, bool base, enum app_state state,
                                        bool *added);
void usage_table_free(struct usage_table *table);
DEFINE_CLEANUP(struct usage_table, usage_table_free)
