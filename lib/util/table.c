/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "text.h"
#include "util.h"
#include "words.h"

#define COLUMNS_MAX 24
#define NAME_COLUMNS 40
#define YIELDS_TO 8 /* columns, of a name or a text in a terminal that is too narrow */

static const char *const begin[] = {
        [TABLE_PLAIN] = "", [TABLE_HEAD] = "\033[1m", [TABLE_FAINT] = "\033[2m", [TABLE_SUM] = "\033[1m",
};

struct row {
        enum table_style style;
        char *cells[COLUMNS_MAX];
        size_t n;
};

static bool lost; /* a table could not be printed */

struct table {
        bool failed; /* a row or cell is missing */
        char alignment[COLUMNS_MAX + 1];
        const char *spare;
        struct row *rows;
        size_t n, capacity;
};

/* stdout is a terminal, and NO_COLOR is not set. */
static bool table_color(void)
{
        const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

        return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
}

struct table *table_new(const char *alignment)
{
        struct table *table = calloc(1, sizeof(*table));

        if (!table)
                return NULL;
        snprintf(table->alignment, sizeof(table->alignment), "%s", alignment);
        table->spare = "";
        return table;
}

void table_spare(struct table *table, const char *columns)
{
        if (table)
                table->spare = columns;
}

void table_free(struct table *table)
{
        if (!table)
                return;
        for (size_t i = 0; i < table->n; i++) {
                for (size_t j = 0; j < table->rows[i].n; j++)
                        free(table->rows[i].cells[j]);
        }
        free(table->rows);
        free(table);
}

void table_row(struct table *table, enum table_style style)
{
        if (!table)
                return;
        if (util_grow(&table->rows, &table->capacity, table->n + 1, sizeof(*table->rows)) == 0)
                table->rows[table->n++] = (struct row){ .style = style };
        else
                table->failed = true;
}

void table_cell(struct table *table, const char *format, ...)
{
        char raw[512], printable[512];
        struct row *row;
        va_list arguments;

        if (!table || table->n == 0)
                return;
        row = &table->rows[table->n - 1];
        if (row->n == strlen(table->alignment))
                return;
        va_start(arguments, format);
        vsnprintf(raw, sizeof(raw), format, arguments);
        va_end(arguments);
        row->cells[row->n] = strdup(util_printable(raw, printable, sizeof(printable)));
        if (row->cells[row->n])
                row->n++;
        else
                table->failed = true;
}

void table_texts(struct table *table, enum table_style style, ...)
{
        const char *text;
        va_list texts;

        table_row(table, style);
        va_start(texts, style);
        while ((text = va_arg(texts, const char *)))
                table_cell(table, "%s", text);
        va_end(texts);
}

void table_heads(struct table *table, ...)
{
        const char *text;
        va_list texts;

        table_row(table, TABLE_HEAD);
        va_start(texts, table);
        while ((text = va_arg(texts, const char *)))
                table_cell(table, "%s", words_find(text));
        va_end(texts);
}

/* Layout of a table in a terminal; in a pipe a table has all the room it needs. */
struct layout {
        size_t widths[COLUMNS_MAX];
        bool hidden[COLUMNS_MAX];
        size_t last; /* the last column that is shown */
        size_t total;
};

size_t table_columns(void)
{
        struct winsize size;

        return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static void sum_up(const struct table *table, struct layout *layout)
{
        layout->total = 0;
        for (size_t j = 0; j < strlen(table->alignment); j++) {
                if (layout->hidden[j])
                        continue;
                layout->total += layout->widths[j] + (layout->total > 0 ? 2 : 0);
                layout->last = j;
        }
}

/* The widest column of names, or else the last one if it is a text; n: none of these. */
static size_t find_yielding(const struct table *table, const struct layout *layout)
{
        size_t n = strlen(table->alignment), widest = n;

        for (size_t j = 0; j < n; j++)
                if (table->alignment[j] == 'n' && !layout->hidden[j] &&
                    (widest == n || layout->widths[j] > layout->widths[widest]))
                        widest = j;
        if (widest < n)
                return widest;
        return table->alignment[layout->last] == 'l' ? layout->last : 0;
}

/* A value, and not the mark of one that is not known. */
static bool says_something(const struct table *table, size_t column)
{
        for (size_t i = 0; i < table->n; i++) {
                const struct row *row = &table->rows[i];

                if (row->style != TABLE_HEAD && column < row->n &&
                    strspn(row->cells[column], "?-") < strlen(row->cells[column]))
                        return true;
        }
        return false;
}

static void leave_out(const struct table *table, size_t columns, bool also_with_values, struct layout *layout)
{
        for (const char *spare = table->spare; *spare && layout->total > columns; spare++) {
                size_t column = (size_t)(*spare < 'A' ? *spare - '0' : *spare - 'A' + 10);

                if (also_with_values || !says_something(table, column))
                        layout->hidden[column] = true;
                sum_up(table, layout);
        }
}

/* Spare columns go first, before all those without any value; then names are cut, or words of the last column wrap. */
static void fit_in(const struct table *table, size_t columns, struct layout *layout)
{
        size_t *yields, least;

        leave_out(table, columns, false, layout);
        leave_out(table, columns, true, layout);
        if (layout->total <= columns)
                return;
        yields = &layout->widths[find_yielding(table, layout)];
        /* In parts, half of the terminal is there for it. */
        least = layout->total - *yields + YIELDS_TO > columns ? MAX(columns / 2, (size_t)YIELDS_TO) : YIELDS_TO;
        if (*yields > least)
                *yields = MAX(*yields - MIN(layout->total - columns, *yields), least);
        sum_up(table, layout);
}

/* Nothing is below its head, and other columns have something there. */
static bool is_empty(const struct table *table, size_t column)
{
        bool any = false;

        for (size_t i = 0; i < table->n; i++) {
                const struct row *row = &table->rows[i];

                if (row->style == TABLE_HEAD)
                        continue;
                any = true;
                if (column < row->n && *row->cells[column])
                        return false;
        }
        return any;
}

static void lay_out(const struct table *table, struct layout *layout)
{
        size_t columns = table_columns();

        *layout = (struct layout){ 0 };
        for (size_t i = 0; i < table->n; i++) {
                for (size_t j = 0; j < table->rows[i].n; j++)
                        layout->widths[j] = MAX(layout->widths[j], text_width(table->rows[i].cells[j]));
        }
        for (size_t j = 0; j < strlen(table->alignment); j++) {
                layout->hidden[j] = layout->widths[j] == 0 || is_empty(table, j);
                if (table->alignment[j] == 'n')
                        layout->widths[j] = MIN(layout->widths[j], (size_t)NAME_COLUMNS);
        }
        sum_up(table, layout);
        if (columns > 0)
                fit_in(table, columns, layout);
}

static void print_line(size_t width)
{
        while (width-- > 0)
                fputs("\u2500", stdout);
        putchar('\n');
}

static size_t wrap_columns(void)
{
        size_t columns = table_columns();

        return columns > 0 ? MIN(columns, (size_t)TEXT_COLUMNS) : TEXT_COLUMNS;
}

/* Between characters. */
size_t table_print_cut(const char *text, size_t width)
{
        char cut[512];
        size_t length = strlen(text);

        if (text_width(text) <= width || length >= sizeof(cut)) {
                fputs(text, stdout);
                return text_width(text);
        }
        memcpy(cut, text, length + 1);
        while (length > 0 && text_width(cut) + 1 > width) {
                while (--length > 0 && ((unsigned char)cut[length] & 0xc0) == 0x80)
                        ;
                cut[length] = '\0';
        }
        printf("%s\u2026", cut);
        return text_width(cut) + 1;
}

/* Cuts a text to its begin and its end, in @width columns. */
static void cut_middle(const char *text, size_t width, char *cut, size_t size)
{
        const char *tail = text;
        size_t length = strlen(text), ends = (width - 1) / 2;

        snprintf(cut, size, "%s", text);
        length = MIN(length, size - 1);
        while (length > 0 && text_width(cut) > width - 1 - ends) {
                while (--length > 0 && ((unsigned char)cut[length] & 0xc0) == 0x80)
                        ;
                cut[length] = '\0';
        }
        while (*tail && text_width(tail) > ends)
                while (((unsigned char)*++tail & 0xc0) == 0x80)
                        ;
        snprintf(cut + length, size - length, "\u2026%s", tail);
}

/* Is another name already cut to the same text? Then a number distinguishes them. */
static bool is_taken(const struct table *table, size_t column, size_t row, char *const *cut, const char *name)
{
        for (size_t i = 0; i < table->n; i++) {
                const struct row *other = &table->rows[i];

                if (column < other->n && strcmp(cut[i] ? cut[i] : other->cells[column], name) == 0 &&
                    strcmp(other->cells[column], table->rows[row].cells[column]) != 0)
                        return true;
        }
        return false;
}

static char *cut_name(const struct table *table, size_t column, size_t row, size_t width, char *const *cut)
{
        char name[512], number[16] = "";

        for (unsigned n = 2;; n++) {
                cut_middle(table->rows[row].cells[column], width - strlen(number), name, sizeof(name) - sizeof(number));
                strcat(name, number);
                if (n > table->n + 2 || !is_taken(table, column, row, cut, name))
                        return strdup(name);
                snprintf(number, sizeof(number), "~%u", n % 10000);
        }
}

static void cut_names(struct table *table, size_t column, size_t width)
{
        char **cut = calloc(table->n, sizeof(*cut));

        for (size_t i = 0; cut && i < table->n; i++)
                if (column < table->rows[i].n && text_width(table->rows[i].cells[column]) > width)
                        cut[i] = cut_name(table, column, i, width, cut);
        for (size_t i = 0; cut && i < table->n; i++) {
                if (!cut[i])
                        continue;
                free(table->rows[i].cells[column]);
                table->rows[i].cells[column] = cut[i];
        }
        free(cut);
}

static void print_row(const struct row *row, const char *alignment, const struct layout *layout)
{
        bool color = row->style != TABLE_PLAIN && table_color();
        size_t at = 0, last = layout->last;

        if (color)
                fputs(begin[row->style], stdout);
        while (last > 0 && (last >= row->n || layout->hidden[last] || !*row->cells[last]))
                last--;
        for (size_t j = 0; j < row->n && j <= last; j++) {
                size_t width = layout->widths[j], wide = MIN(text_width(row->cells[j]), width);

                if (layout->hidden[j])
                        continue;
                if (alignment[j] == 'r')
                        printf("%*s%s", (int)(width - wide), "", row->cells[j]);
                else if (j == layout->last)
                        text_wrap(stdout, row->cells[j], at, at, at + width);
                else
                        wide = table_print_cut(row->cells[j], width);
                if (alignment[j] != 'r' && j != last)
                        printf("%*s", (int)(width - wide), "");
                fputs(j == last ? "" : "  ", stdout);
                at += width + 2;
        }
        puts(color ? "\033[0m" : "");
}

static void print_rows(const struct table *table, const struct layout *layout)
{
        for (size_t i = 0; i < table->n; i++) {
                if (table->rows[i].style == TABLE_SUM)
                        print_line(layout->total);
                print_row(&table->rows[i], table->alignment, layout);
        }
}

/* The first column, and those from @from on that fit beside it, one at least. Returns the next one. */
static size_t take_part(const struct table *table, const struct layout *all, size_t from, struct layout *part)
{
        size_t n = strlen(table->alignment), columns = table_columns(), next = from;

        *part = *all;
        for (size_t j = 1; j < n; j++)
                part->hidden[j] = true;
        sum_up(table, part);
        for (; next < n; next++) {
                if (all->hidden[next])
                        continue;
                if (part->last > 0 && part->total + 2 + all->widths[next] > columns)
                        break;
                part->hidden[next] = false;
                sum_up(table, part);
        }
        return next;
}

/* Columns that add up cannot be left out: those that do not fit follow in a table below. */
static void print_parts(const struct table *table, const struct layout *layout)
{
        size_t next = 1;

        while (next < strlen(table->alignment)) {
                struct layout part;

                if (next > 1)
                        putchar('\n');
                next = take_part(table, layout, next, &part);
                print_rows(table, &part);
        }
}

void table_print(struct table *table)
{
        struct layout layout;
        size_t columns = table_columns();

        if (!table || table->failed) {
                lost = true;
                return;
        }
        lay_out(table, &layout);
        for (size_t j = 0; j < strlen(table->alignment); j++)
                if (table->alignment[j] == 'n' && !layout.hidden[j])
                        cut_names(table, j, layout.widths[j]);
        if (columns > 0 && layout.total > columns)
                print_parts(table, &layout);
        else
                print_rows(table, &layout);
}

bool table_lost(void)
{
        return lost;
}

void table_text(enum table_style style, const char *format, ...)
{
        char raw[2048], text[2048];
        va_list arguments;
        bool color = style != TABLE_PLAIN && table_color();

        va_start(arguments, format);
        vsnprintf(raw, sizeof(raw), words_find(format), arguments);
        va_end(arguments);
        if (color)
                fputs(begin[style], stdout);
        text_wrap(stdout, util_printable(raw, text, sizeof(text)), 0, 0, wrap_columns());
        puts(color ? "\033[0m" : "");
}
