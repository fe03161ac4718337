/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe-values.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"
#include "words.h"

#define SHOWN_MAX 3     /* most values of an argument that are printed */
#define ALIKE 0.05      /* share of calls that may differ by chance */
#define POINTER_MIN 0x10000
#define POINTER_END 0x1000000000000ULL

struct probed {
        struct words *values[PROBE_ARGUMENTS];
        uint64_t counts[PROBE_ARGUMENTS][PROBE_VALUES_MAX + 1]; /* calls with each value */
        uint64_t calls;
};

struct probed *probe_values_new(void)
{
        struct probed *probed = calloc(1, sizeof(*probed));

        for (int i = 0; probed && i < PROBE_ARGUMENTS; i++) {
                probed->values[i] = words_new();
                if (!probed->values[i]) {
                        probe_free(probed);
                        return NULL;
                }
        }
        return probed;
}

void probe_free(struct probed *probed)
{
        for (int i = 0; probed && i < PROBE_ARGUMENTS; i++)
                words_free(probed->values[i]);
        free(probed);
}

/* Is it printable to its end? Bytes behind a pointer to numbers or code are not. */
static bool is_text(const char *text)
{
        for (const char *at = text; *at; at++)
                if ((*at < ' ' && *at != '\n' && *at != '\t') || *at == 0x7f || *at < 0)
                        return false;
        return *text != '\0';
}

const char *probe_values_name(uint64_t value, const char *text, char *buf, size_t size)
{
        char printable[2 * PROBE_TEXT_SIZE];

        if (is_text(text))
                snprintf(buf, size, "\"%s\"", util_printable(text, printable, sizeof(printable)));
        else if (value <= INT32_MAX || value > (uint64_t)-INT32_MAX)
                snprintf(buf, size, "%lld", (long long)value);
        else if (value <= UINT32_MAX) /* an int below 0 in half of a register */
                snprintf(buf, size, "%d", (int)(uint32_t)value);
        else if (value >= POINTER_MIN && value < POINTER_END)
                snprintf(buf, size, "%s", _("a pointer"));
        else
                snprintf(buf, size, "%s", _("a large number"));
        return buf;
}

int probe_values_add(struct probed *probed, int argument, uint64_t value, const char *text)
{
        char name[2 * PROBE_TEXT_SIZE + 8];
        int64_t number;

        probe_values_name(value, text, name, sizeof(name));
        if (words_count(probed->values[argument]) >= PROBE_VALUES_MAX &&
            words_look_up(probed->values[argument], name, strlen(name)) < 0)
                snprintf(name, sizeof(name), "%s", _("others"));
        number = words_number(probed->values[argument], name, strlen(name));
        if (number < 0)
                return -ENOMEM;
        probed->counts[argument][number]++;
        return 0;
}

void probe_values_end(struct probed *probed)
{
        probed->calls++;
}

uint64_t probe_values_calls(const struct probed *probed)
{
        return probed->calls;
}

static double share(const struct probed *probed, int argument, const char *value)
{
        int64_t number = probed ? words_look_up(probed->values[argument], value, strlen(value)) : -ENOENT;

        return number < 0 || probed->calls == 0 ? 0 : (double)probed->counts[argument][number] / (double)probed->calls;
}

struct row {
        const char *value;
        double a, b;
};

static int compare_rows(const void *first, const void *second)
{
        const struct row *x = first, *y = second;
        double of_x = fmax(x->a, x->b), of_y = fmax(y->a, y->b);

        return of_x != of_y ? (of_x < of_y ? 1 : -1) : strcmp(x->value, y->value);
}

/* Values of an argument of both, the most frequent first. */
static struct row *list_rows(const struct probed *a, const struct probed *b, int argument, size_t *n)
{
        const struct probed *sides[] = { a, b };
        struct row *rows = calloc(2 * PROBE_VALUES_MAX + 3, sizeof(*rows));

        *n = 0;
        for (size_t i = 0; rows && i < ARRAY_SIZE(sides) && sides[i]; i++)
                for (uint32_t j = 0; j < words_count(sides[i]->values[argument]); j++) {
                        const char *value = words_bytes(sides[i]->values[argument], j, NULL);

                        if (i == 0 || share(a, argument, value) == 0)
                                rows[(*n)++] = (struct row){ value, share(a, argument, value),
                                                             share(b, argument, value) };
                }
        if (rows)
                qsort(rows, *n, sizeof(*rows), compare_rows);
        return rows;
}

/* Share of calls whose argument is another one: 0 alike, 1 nothing in common. */
static double distance(const struct row *rows, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += fabs(rows[i].a - rows[i].b) / 2;
        return sum;
}

static void add_row(struct table *table, int argument, const struct row *row, bool both)
{
        table_row(table, TABLE_PLAIN);
        table_cell(table, "%d", argument + 1);
        table_cell(table, "%s", row->value);
        table_cell(table, "%.0f %%", 100 * row->a);
        if (both)
                table_cell(table, "%.0f %%", 100 * row->b);
}

void probe_print(const char *function, const struct probed *a, const struct probed *b)
{
        _cleanup_(table_freep) struct table *table = table_new(b ? "rlrr" : "rlr");
        char name[256];
        int shown = 0;

        util_printable(function, name, sizeof(name));
        if (b)
                table_text(TABLE_HEAD, "%s: %llu calls in A and %llu in B were looked at.", name,
                           (unsigned long long)a->calls, (unsigned long long)b->calls);
        else
                table_text(TABLE_HEAD, "%s: %llu calls were looked at.", name, (unsigned long long)a->calls);
        table_heads(table, N_("Argument"), N_("Value"), b ? "A" : N_("Calls"), b ? "B" : NULL, NULL);
        for (int i = 0; i < PROBE_ARGUMENTS; i++) {
                _cleanup_free_ struct row *rows = NULL;
                size_t n;

                rows = list_rows(a, b, i, &n);
                if (!rows || (b && distance(rows, n) <= ALIKE))
                        continue;
                for (size_t j = 0; j < n && j < SHOWN_MAX; j++)
                        add_row(table, i, &rows[j], b != NULL);
                shown++;
        }
        if (shown > 0) {
                putchar('\n');
                table_print(table);
                putchar('\n');
        } else if (b && a->calls > 0 && b->calls > 0) {
                table_text(TABLE_PLAIN, "Their arguments are alike.");
        }
        table_note("The kernel shows what is in the registers of the first six integers and pointers; a "
                   "function that takes fewer leaves in the others what was there.");
}
