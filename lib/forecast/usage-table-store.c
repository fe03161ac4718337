/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads a usage table from usage.db. */

#include <errno.h>
#include <string.h>

#include "usage-table.h"
#include "util/units.h"
#include "util/util.h"

static struct usage_table_row *row_of(struct usage_table *table, const struct store_row *from)
{
        const char *name = *from->app ? from->app : "base";
        struct usage_table_row *row;
        bool added;

        row = usage_table_row(table, name, !*from->app, from->state, &added);
        if (!row || !added)
                return row;
        row->base = !*from->app;
        row->state = from->state;
        row->first_ns = from->start_ns;
        snprintf(row->name, sizeof(row->name), "%s", name);
        return row;
}

static int add_row(void *data, const struct store_row *from)
{
        struct usage_table *table = data;
        struct usage_table_row *row = row_of(table, from);
        const char *label;

        if (!row)
                return -ENOMEM;
        label = from->name && *from->name ? from->name : row->name;
        if (strcmp(row->label, label) != 0)
                snprintf(row->label, sizeof(row->label), "%s", label);
        row->last_ns = from->end_ns;
        usage_there_add(&row->there, from->end_ns, from->awake_ns, row->base ? from->usage->time_ns : from->active_ns);
        row->time_ms = (double)row->there.ns / NS_PER_MS;
        row->display_ms += (double)usage_screen_ns(from->usage) / NS_PER_MS;
        table->from_ns = MIN(table->from_ns, from->start_ns);
        table->to_ns = MAX(table->to_ns, from->end_ns);
        table->has_base = table->has_base || row->base;
        return usage_is_empty(from->usage) ? 0 : usage_add(&row->usage, from->usage);
}

static int by_use(const void *a, const void *b)
{
        const struct usage_table_row *one = a, *other = b;
        uint64_t one_ns = usage_busy_ns(&one->usage), other_ns = usage_busy_ns(&other->usage);

        if (one->base != other->base)
                return one->base - other->base;
        if (one_ns != other_ns)
                return one_ns < other_ns ? 1 : -1;
        return strcmp(one->name, other->name);
}

int usage_table_read(struct store *store, const struct store_query *asked, struct usage_table **ret)
{
        _cleanup_(usage_table_freep) struct usage_table *table = calloc(1, sizeof(*table));
        struct store_query query = *asked;
        int err;

        query.grain = STORE_BEST;
        query.others = true;

        if (!table)
                return -ENOMEM;
        table->has_tx = true;
        table->from_ns = INT64_MAX;
        table->to_ns = INT64_MIN;
        err = store_rows(store, &query, add_row, table);
        if (err)
                return err;
        if (table->n_rows == 0)
                return -ENODATA;
        qsort(table->rows, table->n_rows, sizeof(*table->rows), by_use);
        *ret = TAKE_PTR(table);
        return 0;
}
