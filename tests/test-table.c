/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Texts in columns of a terminal: wide characters, marks that take none, and where a cut may be. */

#include <stdlib.h>

#include "check.h"
#include "util/table.h"
#include "util/text.h"
#include "util/util.h"

static const struct {
        const char *text;
        size_t width;
        const char *cut;
        size_t columns; /* what the cut text takes */
} cases[] = {
        { "firefox", 7, "firefox", 7 },
        { "firefox", 6, "firef\u2026", 6 },
        { "\u4f60\u597d", 4, "\u4f60\u597d", 4 },       /* two columns each */
        { "\u4f60\u597d", 3, "\u4f60\u2026", 3 },
        { "\u4f60\u597d", 2, "\u2026", 1 },             /* one more does not fit beside the ellipsis */
        { "e\u0301t\u00e9", 3, "e\u0301t\u00e9", 3 },   /* an accent stands on its letter */
        { "\u00e9\u00e9\u00e9", 2, "\u00e9\u2026", 2 }, /* never within a character */
        { "\ua4cf", 2, "\ua4cf", 2 },                   /* the last of a block, and the first after it */
        { "\ua4d0", 1, "\ua4d0", 1 },
        { "\ud7a3\u036f", 2, "\ud7a3\u036f", 2 },
        { "", 3, "", 0 },
};

/* Columns without content are left out, and so are blanks at the end of a line; a name alone is printed. */
static void rows(void)
{
        struct table *table = table_new("llr");
        FILE *terminal = stdout;
        char *printed = NULL;
        size_t size;

        table_texts(table, TABLE_HEAD, "App", "", "Rate", NULL);
        table_texts(table, TABLE_PLAIN, "firefox", "", "12", NULL);
        table_texts(table, TABLE_PLAIN, "base", "", "", NULL);
        table_texts(table, TABLE_SUM, "all\033[31m", "", "1", NULL);
        stdout = open_memstream(&printed, &size);
        table_print(table);
        fclose(stdout);
        stdout = terminal;
        check_text(printed, "App       Rate\nfirefox     12\nbase\n"
                            "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\n"
                            "all?[31m     1\n");
        free(printed);
        table_free(table);
}

static char *print(struct table *table)
{
        FILE *terminal = stdout;
        char *printed = NULL;
        size_t size;

        stdout = open_memstream(&printed, &size);
        table_print(table);
        fclose(stdout);
        stdout = terminal;
        table_free(table);
        return printed;
}

/* Cut in the middle; and where that makes two names one, by a number. */
static void names(void)
{
        static const char *const middles[] = { "of", "OF", "0f", "Of" };
        struct table *table = table_new("nr");
        char name[128], *printed;

        for (size_t i = 0; i < ARRAY_SIZE(middles); i++) {
                snprintf(name, sizeof(name), "a-name-%0*d-%s-%0*d-its-end", 45, 0, middles[i], 45, 0);
                table_texts(table, TABLE_PLAIN, name, "1", NULL);
        }
        table_texts(table, TABLE_PLAIN, name, "2", NULL); /* once more the same */
        table_texts(table, TABLE_PLAIN, "a-name-000000000000\u20260000000000-its-end~3", "3", NULL); /* looks like one */
        printed = print(table);
        check_text(printed, "a-name-0000000000000\u202600000000000-its-end  1\n"
                            "a-name-000000000000\u20260000000000-its-end~2  1\n"
                            "a-name-000000000000\u20260000000000-its-end~4  1\n"
                            "a-name-000000000000\u20260000000000-its-end~5  1\n"
                            "a-name-000000000000\u20260000000000-its-end~5  2\n"
                            "a-name-000000000000\u20260000000000-its-end~3  3\n");
        free(printed);
}

/* Paragraphs of help, and columns of letters that have several bytes. */
static void texts(void)
{
        struct text_kept kept;
        FILE *stream = text_open(&kept);
        char *text;

        text_paragraphs(stream, "one two\nthree f\u00fcnf at 95 %\n\n  list  as it is\n  that is long and wraps\nend", 16);
        text_column(stream, "\u00fc", 3, false);
        text_column(stream, "\u00fc", 3, true);
        text_column(stream, "longer", 3, true);
        text = text_close(stream, &kept);
        check_text(text, "one two three\nf\u00fcnf at 95 %\n\n  list  as it is\n  that is long\n  and wraps\nend\n\u00fc    \u00fclonger");
        free(text);
}

int main(void)
{
        texts();
        rows();
        names();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                FILE *terminal = stdout;
                char *printed = NULL;
                size_t size, columns;

                stdout = open_memstream(&printed, &size);
                columns = table_print_cut(cases[i].text, cases[i].width);
                fclose(stdout);
                stdout = terminal;
                check_text(printed, cases[i].cut);
                check_int(columns, cases[i].columns);
                free(printed);
        }
        return check_result();
}
