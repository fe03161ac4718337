/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Texts in columns of a terminal: wide characters, marks that take none, and where a cut may be. */

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check.h"
#include "util/table.h"
#include "util/text.h"
#include "util/util.h"

static const struct {
        const char *text;
        size_t width;
        const char *cut;
        size_t columns; /* width of the cut text */
} cases[] = {
        { "firefox", 7, "firefox", 7 },
        { "firefox", 6, "firef\u2026", 6 },
        { "\u4f60\u597d", 4, "\u4f60\u597d", 4 },       /* two columns each */
        { "\u4f60\u597d", 3, "\u4f60\u2026", 3 },
        { "\u4f60\u597d", 2, "\u2026", 1 },             /* a character does not fit beside the ellipsis */
        { "e\u0301t\u00e9", 3, "e\u0301t\u00e9", 3 },   /* a combining accent has no width */
        { "\u00e9\u00e9\u00e9", 2, "\u00e9\u2026", 2 }, /* a character is never cut */
        { "\ua4cf", 2, "\ua4cf", 2 },                   /* the last of a block, and the first after it */
        { "\ua4d0", 1, "\ua4d0", 1 },
        { "\ud7a3\u036f", 2, "\ud7a3\u036f", 2 },
        { "", 3, "", 0 },
};

/* Columns without content are left out, and so are blanks at the end of a line; a lone name is printed. */
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
        /* Looks like one. */
        table_texts(table, TABLE_PLAIN, "a-name-000000000000\u20260000000000-its-end~3", "3", NULL);
        printed = print(table);
        check_text(printed, "a-name-0000000000000\u202600000000000-its-end  1\n"
                            "a-name-000000000000\u20260000000000-its-end~2  1\n"
                            "a-name-000000000000\u20260000000000-its-end~4  1\n"
                            "a-name-000000000000\u20260000000000-its-end~5  1\n"
                            "a-name-000000000000\u20260000000000-its-end~5  2\n"
                            "a-name-000000000000\u20260000000000-its-end~3  3\n");
        free(printed);
}

/* Prints as on a terminal of so many columns. */
static char *print_within(struct table *table, unsigned short columns)
{
        const struct winsize size = { .ws_row = 24, .ws_col = columns };
        int ours, terminal, before = dup(STDOUT_FILENO);
        char *printed;

        if (before < 0 || openpty(&ours, &terminal, NULL, NULL, &size) < 0 || dup2(terminal, STDOUT_FILENO) < 0)
                abort();
        printed = print(table);
        dup2(before, STDOUT_FILENO);
        close(before);
        close(terminal);
        close(ours);
        return printed;
}

/* The begin of the first line, which has the heads. */
static void check_heads(unsigned short columns, const char *heads)
{
        struct table *table = table_new("nlrrrrrrrrrr");
        char *printed;

        table_spare(table, "B8725A");
        table_texts(table, TABLE_HEAD, "App", "State", "CPU", "Disk", "", "Bursts", "Empty", "GPU", "Screen",
                    "Never", "Sound", "Radio", NULL);
        table_texts(table, TABLE_PLAIN, "firefox", "foreground", "1 min", "", "", "12", "", "?", "3 min", "",
                    "1 s", "-", NULL);
        table_texts(table, TABLE_PLAIN, "base", "", "3 s", "1 MB", "", "", "", "?", "", "", "2 s", "-", NULL);
        printed = print_within(table, columns);
        check(strstr(printed, "\n") != NULL);
        *strchr(printed, '\n') = '\0';
        check_text(printed, heads);
        free(printed);
}

/*
 * Nothing below the head: never shown. No value: the first to go. Then in the order of the table, by
 * numbers and letters.
 */
static void columns(void)
{
        struct table *table = table_new("lr");
        char *printed;

        check_heads(0, "App      State         CPU  Disk  Bursts  GPU  Screen  Sound  Radio");
        check_heads(66, "App      State         CPU  Disk  Bursts  GPU  Screen  Sound");
        check_heads(59, "App      State         CPU  Disk  Bursts  Screen  Sound");
        check_heads(50, "App      State         CPU  Disk  Bursts  Sound");
        check_heads(46, "App      State       Disk  Bursts  Sound");
        check_heads(38, "App      State       Disk  Sound");
        check_heads(30, "App      State       Disk");
        table_texts(table, TABLE_HEAD, "App", "Rate", NULL);
        printed = print(table);
        check_text(printed, "App  Rate\n"); /* all heads if there are no rows */
        free(printed);
}

/* Paragraphs of help, and columns of letters that have several bytes. */
static void texts(void)
{
        struct text_kept kept;
        FILE *stream = text_open(&kept);
        char *text;

        text_paragraphs(stream, "one two\nthree f\u00fcnf at 95 %\n\n  list  as it is\n"
                                "  that is long and wraps\n\nprobably 4 h 2 min.\n\nall of these 95 words", 16);
        text_column(stream, "\u00fc", 3, false);
        text_column(stream, "\u00fc", 3, true);
        text_column(stream, "longer", 3, true);
        text = text_close(stream, &kept);
        check_text(text, "one two three\nf\u00fcnf at 95 %\n\n  list  as it is\n  that is long\n  and wraps\n"
                         "\nprobably 4 h\n2 min.\n\nall of these 95\nwords\n\u00fc    \u00fclonger");
        free(text);
}

#define LINE_4 "\u2500\u2500\u2500\u2500"
#define LINE_16 LINE_4 LINE_4 LINE_4 LINE_4

/*
 * Numbers that add up are not left out: columns that do not fit are printed below, with the names and under their
 * heads.
 */
static void parts(void)
{
        struct table *table = table_new("nlrrrr");
        char *printed;

        table_spare(table, "1");
        table_texts(table, TABLE_HEAD, "App", "State", "CPU", "Display", "", "Sum", NULL);
        table_texts(table, TABLE_PLAIN, "a-browser-of-files", "background", "1.5", "2.25", "", "3.75", NULL);
        table_texts(table, TABLE_SUM, "Sum", "", "1.5", "2.25", "", "3.75", NULL);
        printed = print_within(table, 22);
        check_text(printed, "App          CPU\n"
                            "a-bro\u2026files  1.5\n"
                            LINE_16 "\n"
                            "Sum          1.5\n"
                            "\n"
                            "App          Display\n"
                            "a-bro\u2026files     2.25\n"
                            LINE_16 LINE_4 "\n"
                            "Sum             2.25\n"
                            "\n"
                            "App           Sum\n"
                            "a-bro\u2026files  3.75\n"
                            LINE_16 "\u2500\n"
                            "Sum          3.75\n");
        free(printed);
}

int main(void)
{
        setenv("NO_COLOR", "1", 1);
        texts();
        rows();
        names();
        columns();
        parts();
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
