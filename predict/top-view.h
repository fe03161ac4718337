/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The screen of `joulecast top` as lines of text, for a terminal of any size and for --batch. */

#include "model/profile.h"
#include "top-table.h"

enum top_style {
        TOP_PLAIN,
        TOP_TITLE,
        TOP_HEAD,
        TOP_FOREGROUND,
        TOP_SELECTED,
        TOP_SUM,
        TOP_FAINT,
};

struct top_line {
        enum top_style style;
        char *text;
};

struct top_view {
        struct top_line *lines;
        size_t n, capacity;
        bool failed;           /* a line is missing: no memory */
};

struct top_frame {
        const struct top_table *table;
        const struct profile *profile;
        size_t columns, lines; /* lines 0: as many as there are rows */
        bool ascii;
        int64_t time_ns;
        double percent;        /* charge; NaN: unknown */
        int plugged;           /* -1: unknown */
        const char *remaining; /* remaining time in a few words, or "" */
        const char *about;     /* describes the rows in a few words */
        const char *message;   /* shown in place of about; "": none */
        const char *const *hints; /* list of keys, ended by NULL; NULL: no keys */
        bool filtering;        /* the filter is being typed */
        size_t first, selected; /* rows */
};

void top_view_clear(struct top_view *view);
void top_view_add(struct top_view *view, enum top_style style, const char *text);
void top_view_make(const struct top_frame *frame, struct top_view *view);
/* Number of rows of apps that fit. */
size_t top_view_room(const struct top_frame *frame);
/* Adds a line of pieces (ended by NULL) with two blanks between them, as far as they fit; empty ones are left out. */
void top_view_pieces(struct top_view *view, enum top_style style, size_t columns, bool ascii,
                     const char *const *pieces);
