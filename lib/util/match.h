/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Matching of app names as people type them. */

#include <stddef.h>

/* From worst to best. */
enum match {
        MATCH_NONE,
        MATCH_PART, /* a part of the id or the name, in upper or lower case */
        MATCH_NAME, /* the display name, likewise */
        MATCH_ID,
};

/* How well @asked fits an app. The empty text fits none. */
enum match match_app(const char *asked, const char *id, const char *name);

/* The best match so far, and the number of equally good ones. Begin with { 0 }. */
struct match_best {
        enum match how;
        size_t index, n;
};
void match_add(struct match_best *best, enum match how, size_t index);

/*
 * Edit distance of two names of at most 64 letters, in which a swap of neighbours is one step; SIZE_MAX: one is longer.
 * A typo is at most match_typos().
 */
size_t match_distance(const char *a, const char *b);
size_t match_typos(const char *asked); /* one in two to four letters, two in more */

/* The nearest of several names, where that is a typo away. Begin with { .asked = what was asked for }. */
struct match_near {
        const char *asked;
        const char *found; /* NULL: none */
        size_t away;
};
/* @found: what the result is called if @name is the nearest one. */
void match_near_add(struct match_near *near, const char *name, const char *found);
