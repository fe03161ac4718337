/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "match.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "util.h"

#define LONGEST 64
#define TYPOS 2 /* most letters that may be wrong, swapped, missing or too many */

enum match match_app(const char *asked, const char *id, const char *name)
{
        if (!*asked)
                return MATCH_NONE;
        if (strcmp(asked, id) == 0)
                return MATCH_ID;
        if (strcasecmp(asked, name) == 0)
                return MATCH_NAME;
        return strcasestr(id, asked) || strcasestr(name, asked) ? MATCH_PART : MATCH_NONE;
}

void match_add(struct match_best *best, enum match how, size_t index)
{
        if (how == MATCH_NONE || how < best->how)
                return;
        if (how > best->how)
                *best = (struct match_best){ .how = how };
        best->index = index;
        best->n++;
}

/* Optimal string alignment: Levenshtein's distance, row by row, in which a swap of two neighbours is one step, too. */
size_t match_distance(const char *a, const char *b)
{
        size_t rows[3][LONGEST + 1], n = strlen(b);
        size_t *before = rows[0], *row = rows[1], *next = rows[2];

        if (n > LONGEST || strlen(a) > LONGEST)
                return SIZE_MAX;
        for (size_t j = 0; j <= n; j++)
                row[j] = j;
        for (size_t i = 0; a[i]; i++) {
                size_t *free_row = before;

                next[0] = i + 1;
                for (size_t j = 1; j <= n; j++) {
                        size_t replaced = row[j - 1] + (a[i] != b[j - 1]), inserted = MIN(row[j], next[j - 1]) + 1;

                        next[j] = MIN(replaced, inserted);
                        if (i > 0 && j > 1 && a[i] == b[j - 2] && a[i - 1] == b[j - 1])
                                next[j] = MIN(next[j], before[j - 2] + 1);
                }
                before = row;
                row = next;
                next = free_row;
        }
        return row[n];
}

size_t match_typos(const char *asked)
{
        return MIN((size_t)TYPOS, (strlen(asked) + 1) / 3);
}

void match_near_add(struct match_near *near, const char *name, const char *found)
{
        size_t away = match_distance(near->asked, name);

        if (near->found ? away >= near->away : away > match_typos(near->asked))
                return;
        near->found = found;
        near->away = away;
}
