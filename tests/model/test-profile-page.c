/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* joulecast-profile(5) has each term of the model once, with its unit, and its key in the section that it is of. */

#include <fcntl.h>

#include "check.h"
#include "model/component.h"
#include "util/util.h"

static char page[64 * 1024];

/* The text of *[SECTION]*, also where two sections share it; "" without one. */
static const char *section_of(const char *section, char *buf, size_t size)
{
        const char *at = strstr(page, "\n# SECTIONS\n");
        char head[64];

        buf[0] = '\0';
        snprintf(head, sizeof(head), "*[%s", section);
        while (at && (at = strstr(at + 1, "\n*["))) {
                const char *end = strchr(at + 1, '\n'), *next;
                const char *found = strstr(at, head);

                if (!end || !found || found >= end || (found[strlen(head)] != ']' && found[strlen(head)] != ' '))
                        continue;
                next = strstr(end, "\n*[");
                snprintf(buf, size, "%.*s", next ? (int)(next - end) : (int)strlen(end), end);
                break;
        }
        return buf;
}

static size_t count(const char *text, const char *wanted)
{
        size_t n = 0;

        for (; (text = strstr(text, wanted)); text += strlen(wanted))
                n++;
        return n;
}

static void has_term(const struct term_key *term)
{
        char row[128], key[64], longer[64], text[8192];
        const char *said = section_of(term->section, text, sizeof(text));

        snprintf(row, sizeof(row), "\n|  *%s %s*\n:  %s\n:  ", term->section, term->key,
                 *term->unit ? term->unit : "part");
        snprintf(key, sizeof(key), "*%s*", term->key);
        snprintf(longer, sizeof(longer), "*%s.", term->key);
        if (count(page, row) != 1 || !strstr(said, term->by_point ? longer : key))
                fprintf(stderr, "%s %s\n", term->section, term->key);
        check_int(count(page, row), 1);
        check(strstr(said, term->by_point ? longer : key));
}

int main(int argc, char **argv)
{
        check_int(argc, 2);
        check(util_read_at(AT_FDCWD, argv[1], page, sizeof(page)) > 0);
        for (size_t i = 0; i < TERM_COUNT; i++)
                has_term(&term_keys[i]);
        check_int(count(page, "\n|  *"), TERM_COUNT); /* no other row */
        return check_result();
}
