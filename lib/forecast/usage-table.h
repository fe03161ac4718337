/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A usage table (CSV): what apps used, from another profiler or a paper.
 *
 *   name,state,time_ms,display_ms,384000,486000,...,read_bytes,write_kb,rx_kb[,tx_kb]
 *
 * A column whose head is a number is CPU time at that many kHz, in 1/100 s. The order of columns is free.
 * Fields may be quoted as in RFC 4180. KB is 1000 bytes, as MB is 1e6 in a profile.
 */

#include <stdbool.h>
#include <stddef.h>

#include "interval/interval.h"
#include "model/usage.h"
#include "util/log.h"

struct usage_table_row {
        char name[APP_ID_MAX];  /* verbatim; printable UTF-8 */
        enum app_state state;
        double time_ms;         /* alive in that state */
        double display_ms;      /* thereof with the screen */
        struct usage usage;     /* policy 0, brightness unknown; any_ns is busy_ns: nothing says what ran beside it */
};

struct usage_table {
        struct usage_table_row *rows; /* in the file's order; each name and state once */
        size_t n_rows;
        uint32_t *khz;                /* the frequencies that have a column, in the file's order */
        size_t n_khz;
        bool has_tx;                  /* bytes sent were counted */
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
void usage_table_free(struct usage_table *table);
void usage_table_freep(struct usage_table **table);
