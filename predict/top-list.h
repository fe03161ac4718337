/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The list of `joulecast top` under the user's hands: what is selected, which page is shown, and what each key does. */

#include <stdbool.h>
#include <stddef.h>

#include "top-table.h"

enum top_page {
        TOP_PAGE_LIST,
        TOP_PAGE_HISTORY,
        TOP_PAGE_GAIN,
};

struct top_list {
        struct top_table table;
        enum top_page page;
        bool filtering;         /* the filter is being typed */
        bool has_full;          /* use since the last full charge is known */
        struct top_id selected;
        size_t at, first;       /* rows: the selected one, and the first on the screen */
        char message[512];      /* in place of what the rows are; until the next key */
};

/* NULL: there is no row. */
const struct top_row *top_list_selected(const struct top_list *list);
/* For @room rows on the screen. The same app stays selected where the order changes, once the user has moved to one. */
void top_list_follow(struct top_list *list, size_t room);
/* @key is of top-screen.h; the table is to be arranged after it. True: the user quits. */
bool top_list_press(struct top_list *list, unsigned key, size_t room);
