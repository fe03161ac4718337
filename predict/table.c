/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util.h"

#define COLUMNS_MAX 12
#define WRAP 80

struct row {
        enum table_style style;
        char *cells[COLUMNS_MAX];
        size_t n;
};

struct table {
        char alignment[COLUMNS_MAX + 1];
        struct row *rows;
        size_t n, capacity;
};

bool use_color(void)
{
        const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

        return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
}

/* Terminals draw these in two columns (Unicode's East Asian wide blocks and emoji) and those in none. */
static size_t character_width(uint32_t c)
{
        static const struct {
                uint32_t first, last;
                uint8_t width;
        } blocks[] = {
                {0x0300, 0x036f, 0}, {0x1100, 0x115f, 2}, {0x200b, 0x200f, 0},   {0x2e80, 0xa4cf, 2},
                {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},   {0xfe30, 0xfe6f, 2},
                {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
        };

        for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
                if (c >= blocks[i].first && c <= blocks[i].last)
                        return blocks[i].width;
        }
        return 1;
}

size_t text_width(const char *text)
{
        size_t width = 0;

        while (*text) {
                unsigned char c = (unsigned char)*text++;
                uint32_t point = c < 0x80 ? c : c < 0xe0 ? c & 0x1fu : c < 0xf0 ? c & 0x0fu : c & 0x07u;

                while (c >= 0xc0 && ((unsigned char)*text & 0xc0) == 0x80)
                        point = point << 6 | ((unsigned char)*text++ & 0x3fu);
                width += character_width(point);
        }
        return width;
}

struct table *table_new(const char *alignment)
{
        struct table *table = calloc(1, sizeof(*table));

        if (table)
                snprintf(table->alignment, sizeof(table->alignment), "%s", alignment);
        return table;
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

void table_freep(struct table **table)
{
        table_free(*table);
}

void table_row(struct table *table, enum table_style style)
{
        if (table && util_grow(&table->rows, &table->capacity, table->n + 1, sizeof(*table->rows)) == 0)
                table->rows[table->n++] = (struct row){ .style = style };
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
}

static void print_line(size_t width)
{
        while (width-- > 0)
                fputs("\u2500", stdout);
        putchar('\n');
}

static void print_row(const struct row *row, const char *alignment, const size_t *widths)
{
        static const char *const begin[] = {
                [TABLE_PLAIN] = "", [TABLE_HEAD] = "\033[1m", [TABLE_FAINT] = "\033[2m", [TABLE_SUM] = "\033[1m",
        };
        bool color = row->style != TABLE_PLAIN && use_color();

        if (color)
                fputs(begin[row->style], stdout);
        for (size_t j = 0; j < row->n; j++) {
                int pad = (int)(widths[j] - text_width(row->cells[j]));
                bool last = j + 1 == row->n;

                if (alignment[j] == 'r')
                        printf("%*s%s", pad, "", row->cells[j]);
                else
                        printf("%s%*s", row->cells[j], last ? 0 : pad, "");
                fputs(last ? "" : "  ", stdout);
        }
        puts(color ? "\033[0m" : "");
}

void table_print(const struct table *table)
{
        size_t widths[COLUMNS_MAX] = { 0 }, total = 0;

        if (!table)
                return;
        for (size_t i = 0; i < table->n; i++) {
                for (size_t j = 0; j < table->rows[i].n; j++)
                        widths[j] = MAX(widths[j], text_width(table->rows[i].cells[j]));
        }
        for (size_t j = 0; j < strlen(table->alignment); j++)
                total += widths[j] + (j > 0 ? 2 : 0);
        for (size_t i = 0; i < table->n; i++) {
                if (table->rows[i].style == TABLE_SUM)
                        print_line(total);
                print_row(&table->rows[i], table->alignment, widths);
        }
}

void print_note(const char *format, ...)
{
        char raw[2048], text[2048];
        va_list arguments;
        size_t column = 0;
        bool color = use_color();

        va_start(arguments, format);
        vsnprintf(raw, sizeof(raw), format, arguments);
        va_end(arguments);
        util_printable(raw, text, sizeof(text));
        if (color)
                fputs("\033[2m", stdout);
        for (char *save = NULL, *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
                size_t width = text_width(word);

                if (column > 0 && column + 1 + width > WRAP) {
                        putchar('\n');
                        column = 0;
                }
                printf("%s%s", column > 0 ? " " : "", word);
                column += width + (column > 0);
        }
        puts(color ? "\033[0m" : "");
}
