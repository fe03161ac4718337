/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lead-table.h"
#include "util/util.h"

bool lead_same_name(const char *name, const char *text)
{
        const char *end = text + strlen(text);

        if (*name == '*') { /* no pattern has two '*' */
                size_t length = strcspn(++name, " ");

                while (end > text && strchr("0123456789.", end[-1]))
                        end--;
                return length <= (size_t)(end - text) && strncasecmp(end - length, name, length) == 0;
        }
        for (;;) {
                name += strspn(name, "-_");
                text += strspn(text, "-_ ");
                if (*name == '*')
                        return true;
                if (*name <= ' ' || !*text)
                        break;
                if (tolower((unsigned char)*name++) != tolower((unsigned char)*text++))
                        return false;
        }
        return *name <= ' ' && text + strspn(text, "0123456789.") == end;
}

static const char *next_name(const char *at)
{
        at += strcspn(at, " ");
        return at + (*at == ' ');
}

static const struct lead_line *find(const char *name, bool cut)
{
        for (size_t i = 0; *name && i < lead_table_length; i++)
                for (const char *at = lead_table[i].names; *at; at = next_name(at))
                        if (lead_same_name(at, name) || (cut && strcspn(at, " ") > COMM_LENGTH &&
                                                    strncmp(at, name, COMM_LENGTH) == 0))
                                return &lead_table[i];
        return NULL;
}

const struct lead_line *lead_find(const char *name)
{
        return find(name, false);
}

const struct lead_line *lead_find_comm(const char *comm)
{
        return find(comm, strlen(comm) == COMM_LENGTH);
}

const struct lead_line *lead_find_unit(const char *id)
{
        const char *colon = strchr(id, ':'), *dot, *name = colon ? colon + 1 : id;
        char plain[128];
        const struct lead_line *line;

        snprintf(plain, sizeof(plain), "%.*s", (int)MIN(strcspn(name, "@"), sizeof(plain) - 1), name);
        line = find(plain, false);
        dot = strrchr(plain, '.');
        return line || !dot ? line : find(dot + 1, false);
}

/* Finds the place after a word in a list with blanks; one of @marks may follow each word. NULL: it is not listed. */
static const char *behind(const char *list, const char *word, const char *marks)
{
        size_t length = strlen(word);

        for (const char *at = list; at && *at; at += strcspn(at, " "), at += *at == ' ')
                if (strncmp(at, word, length) == 0 && at[length + strspn(at + length, marks)] <= ' ')
                        return at + length;
        return NULL;
}

int lead_values(const struct lead_line *line, const char *option)
{
        const char *end = behind(line->values, option, "2");

        return !end ? 0 : *end == '2' ? 2 : 1;
}

bool lead_needs_word(const struct lead_line *line)
{
        return line->words && strchr(line->words, '!');
}

bool lead_has_word(const struct lead_line *line, const char *word)
{
        return behind(line->words, word, "!");
}
