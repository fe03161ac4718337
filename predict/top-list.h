/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The list of `joulecast top` and its keys: the selected row, and the page that is shown. */

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
        char message[512];      /* shown in place of the description of the rows until the next key */
};

/* NULL: there is no row. */
const struct top_row *top_list_selected(const struct top_list *list);
/* Scrolls for @room rows. Once the user has selected an app, it stays selected when the order changes. */
void top_list_follow(struct top_list *list, size_t room);
/* Handles @key, a character or an enum top_key; the caller arranges the table afterwards. True: the user quits. */
bool top_list_press(struct top_list *list, unsigned key, size_t room);
