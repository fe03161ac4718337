/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A usage table as CSV. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/radio-usage.h"
#include "usage-table.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"

/* Amounts that have the name and the unit of older tables; the others have their word. */
static const struct {
        size_t amount;
        const char *name;
        double scale;
} older[] = {
        { AMOUNT_write_bytes, "write_kb", 1e3 },
        { AMOUNT_wifi_rx_bytes, "rx_kb", 1e3 },
        { AMOUNT_wifi_tx_bytes, "tx_kb", 1e3 },
};

static double scale_of(size_t amount, const char **name)
{
        *name = amount_kinds[amount].word;
        for (size_t i = 0; i < ARRAY_SIZE(older); i++)
                if (older[i].amount == amount) {
                        *name = older[i].name;
                        return older[i].scale;
                }
        return 1;
}

static void print_name(FILE *file, const char *name)
{
        if (!strpbrk(name, ",\"\n\r")) {
                fputs(name, file);
                return;
        }
        fputc('"', file);
        for (; *name; name++)
                fprintf(file, *name == '"' ? "\"\"" : "%c", *name);
        fputc('"', file);
}

static void print_key(FILE *file, const char *word, const struct keyed_kind *kind, const struct point *point)
{
        char key[16] = "unknown";

        if (point->key != kind->unknown_key)
                snprintf(key, sizeof(key), "%u", point->key);
        if (kind->group)
                fprintf(file, ",%s.%u.%s", word, point->group, key);
        else
                fprintf(file, ",%s.%s", word, key);
}

/* The columns of a trace (lib/measured/). */
static void print_point_name(FILE *file, enum keyed keyed, const struct point *point)
{
        const struct keyed_kind *kind = &keyed_kinds[keyed];

        if (keyed == KEYED_COUNTED && point->key < COUNTED_COUNT) {
                fprintf(file, ",%s.%u", counted_words[point->key], point->policy);
                return;
        }
        print_key(file, kind->word, kind, point);
        if (kind->any_ns)
                print_key(file, "shared", kind, point);
}

static void print_head(FILE *file, const struct usage *all)
{
        const char *name;

        fputs("name,state,time_ms,display_ms", file);
        for (size_t i = 0; i < AMOUNT_COUNT; i++) {
                scale_of(i, &name);
                fprintf(file, ",%s", name);
        }
        fputs(",cpu_busy_ns,cellular_bytes", file);
        for (size_t k = 0; k < KEYED_COUNT; k++)
                for (size_t i = 0; i < all->keyed[k].n; i++)
                        print_point_name(file, k, &all->keyed[k].list[i]);
        fputc('\n', file);
}

static const struct point *find(const struct points *points, const struct point *key)
{
        for (size_t i = 0; i < points->n; i++)
                if (points->list[i].group == key->group && points->list[i].key == key->key)
                        return &points->list[i];
        return NULL;
}

/* If an owner lacks a point, it had no time there (0), but its counted events are unknown (empty). */
static void print_point(FILE *file, enum keyed keyed, const struct point *point)
{
        if (point || keyed != KEYED_COUNTED)
                fprintf(file, ",%llu", point ? (unsigned long long)point->ns : 0);
        else
                fputc(',', file);
        if (keyed_kinds[keyed].any_ns)
                fprintf(file, ",%llu", point ? (unsigned long long)point->any_ns : 0);
}

/* As in the model: an amount that was counted for only a part of the time is unknown. */
static bool is_known(const struct usage *usage, uint32_t have)
{
        return (usage->have & have) == have;
}

static void print_row(FILE *file, const struct usage_table_row *row, const struct usage *all)
{
        static const char *const states[] = { [STATE_BACKGROUND] = "background", [STATE_FOREGROUND] = "foreground" };
        const struct usage *usage = &row->usage;

        print_name(file, row->name);
        fprintf(file, ",%s,%.6f,", row->base ? "base" : states[row->state], row->time_ms);
        if (is_known(usage, USAGE_DISPLAY))
                fprintf(file, "%.6f", row->display_ms);
        for (size_t i = 0; i < AMOUNT_COUNT; i++) {
                const char *name;
                double scale = scale_of(i, &name);

                fputc(',', file);
                if (!is_known(usage, amount_kinds[i].have))
                        continue;
                if (scale > 1)
                        fprintf(file, "%.3f", (double)usage->amount[i] / scale);
                else
                        fprintf(file, "%llu", (unsigned long long)usage->amount[i]);
        }
        fputc(',', file);
        if (is_known(usage, USAGE_CPU))
                fprintf(file, "%llu", (unsigned long long)usage_busy_ns(usage));
        fputc(',', file);
        if (is_known(usage, USAGE_RADIO))
                fprintf(file, "%llu", (unsigned long long)radio_usage_bytes(usage, AIR_CELLULAR));
        for (size_t k = 0; k < KEYED_COUNT; k++)
                for (size_t i = 0; i < all->keyed[k].n; i++)
                        print_point(file, k, find(&usage->keyed[k], &all->keyed[k].list[i]));
        fputc('\n', file);
}

/* The points that any row has; but for those of radios, which are a thousand columns of numbers that nobody reads. */
static int list_points(const struct usage_table *table, struct usage *all)
{
        int err = 0;

        for (size_t r = 0; r < table->n_rows; r++)
                for (size_t k = 0; k < KEYED_RADIO; k++)
                        for (size_t i = 0; !err && i < table->rows[r].usage.keyed[k].n; i++) {
                                struct point key = table->rows[r].usage.keyed[k].list[i];

                                key.ns = key.any_ns = 0;
                                err = usage_add_point(all, k, &key);
                        }
        return err;
}

int usage_table_print(const struct usage_table *table, char **ret)
{
        _cleanup_(usage_clear) struct usage all = { 0 };
        struct text_kept kept;
        char *text;
        FILE *file;
        int err = list_points(table, &all);

        if (err)
                return err;
        file = text_open(&kept);
        if (!file)
                return -ENOMEM;
        print_head(file, &all);
        for (size_t i = 0; i < table->n_rows; i++)
                print_row(file, &table->rows[i], &all);
        text = text_close(file, &kept);
        if (!text)
                return -ENOMEM;
        *ret = text;
        return 0;
}
