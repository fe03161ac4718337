/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "match.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "util.h"

#define LONGEST 64
#define TYPOS 2 /* most letters that may be wrong, missing or too many */

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

/* Levenshtein distance, row by row. */
size_t match_distance(const char *a, const char *b)
{
        size_t row[LONGEST + 1], n = strlen(b);

        if (n > LONGEST || strlen(a) > LONGEST)
                return SIZE_MAX;
        for (size_t j = 0; j <= n; j++)
                row[j] = j;
        for (size_t i = 0; a[i]; i++) {
                size_t diagonal = row[0];

                row[0] = i + 1;
                for (size_t j = 1; j <= n; j++) {
                        size_t replaced = diagonal + (a[i] != b[j - 1]), inserted = MIN(row[j], row[j - 1]) + 1;

                        diagonal = row[j];
                        row[j] = MIN(replaced, inserted);
                }
        }
        return row[n];
}

size_t match_typos(const char *asked)
{
        return MIN((size_t)TYPOS, strlen(asked) / 2);
}
