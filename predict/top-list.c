/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top-list.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "top-screen.h"
#include "util/util.h"
#include "util/words.h"

static bool is_selected(const struct top_list *list, const struct top_row *row)
{
        return row->key.state == list->selected.state && strcmp(row->key.app, list->selected.app) == 0;
}

static size_t last_row(const struct top_table *table)
{
        return table->n_shown > 0 ? table->n_shown - 1 : 0;
}

void top_list_follow(struct top_list *list, size_t room)
{
        const struct top_table *table = &list->table;

        for (size_t i = 0; *list->selected.app && i < table->n_shown; i++)
                if (is_selected(list, table->shown[i]))
                        list->at = i;
        list->at = MIN(list->at, last_row(table));
        if (list->at < list->first)
                list->first = list->at;
        if (room > 0 && list->at >= list->first + room)
                list->first = list->at - room + 1;
        if (list->first + room > table->n_shown)
                list->first = table->n_shown - MIN(table->n_shown, room);
}

const struct top_row *top_list_selected(const struct top_list *list)
{
        return list->at < list->table.n_shown ? list->table.shown[list->at] : NULL;
}

static void move_to(struct top_list *list, size_t at)
{
        const struct top_row *row;

        list->at = MIN(at, last_row(&list->table));
        row = top_list_selected(list);
        if (row)
                list->selected = row->key;
}

static bool move_by(struct top_list *list, unsigned key, size_t room)
{
        switch (key) {
        case TOP_KEY_UP:
        case 'k':
                move_to(list, list->at - MIN(list->at, (size_t)1));
                return true;
        case TOP_KEY_DOWN:
        case 'j':
                move_to(list, list->at + 1);
                return true;
        case TOP_KEY_PAGE_UP:
                move_to(list, list->at - MIN(list->at, room));
                return true;
        case TOP_KEY_PAGE_DOWN:
                move_to(list, list->at + room);
                return true;
        case TOP_KEY_HOME:
                list->selected = (struct top_id){ 0 };
                list->at = list->first = 0;
                return true;
        case TOP_KEY_END:
                move_to(list, SIZE_MAX);
                return true;
        default:
                return false;
        }
}

/* The last character, of whatever many bytes. */
static void rub_out(char *text)
{
        size_t length = strlen(text);

        while (length > 0 && ((unsigned char)text[--length] & 0xc0) == 0x80)
                ;
        text[length] = '\0';
}

static void type(struct top_list *list, unsigned key)
{
        char *filter = list->table.filter, character[8] = "", typed[16];
        size_t length = strlen(filter);

        if (key == TOP_KEY_ENTER || key == TOP_KEY_ESCAPE) {
                list->filtering = false;
                if (key == TOP_KEY_ESCAPE)
                        *filter = '\0';
        } else if (key == TOP_KEY_BACKSPACE) {
                rub_out(filter);
        } else if (key >= 0x20 && key < TOP_KEY_UP) {
                mbstate_t state = { 0 };

                if (wcrtomb(character, (wchar_t)key, &state) < sizeof(character) &&
                    length + strlen(character) < sizeof(list->table.filter))
                        strcat(filter, util_printable(character, typed, sizeof(typed)));
        }
}

static bool sort_by(struct top_list *list, unsigned key)
{
        static const struct {
                unsigned key;
                enum top_sort sort;
        } keys[] = {
                { 'p', TOP_BY_POWER },
                { 'u', TOP_BY_USED },
                { 'n', TOP_BY_NAME },
                { 'c', TOP_BY_COMPONENT + COMPONENT_CPU },
                { 'd', TOP_BY_COMPONENT + COMPONENT_DISPLAY },
                { 'i', TOP_BY_COMPONENT + COMPONENT_DISK },
                { 't', TOP_BY_COMPONENT + COMPONENT_WIFI },
                { 'g', TOP_BY_COMPONENT + COMPONENT_GPU },
        };

        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                if (keys[i].key != key)
                        continue;
                list->table.sort = keys[i].sort;
                list->table.reverse = false;
                return true;
        }
        return false;
}

/* The next that is a column for this device. */
static void sort_next(struct top_table *table)
{
        table->sort = (table->sort + 1) % (TOP_BY_COMPONENT + COMPONENT_GPU + 1);
        table->reverse = false;
}

bool top_list_press(struct top_list *list, unsigned key, size_t room)
{
        *list->message = '\0';
        if (list->page != TOP_PAGE_LIST) {
                list->page = TOP_PAGE_LIST;
                return false;
        }
        if (list->filtering) {
                type(list, key);
                return false;
        }
        if (move_by(list, key, room) || sort_by(list, key))
                return false;
        if (key == 's')
                sort_next(&list->table);
        else if (key == 'r')
                list->table.reverse = !list->table.reverse;
        else if (key == 'e' && list->has_full)
                list->table.since = list->table.since == TOP_SINCE_FULL ? TOP_SINCE_START : TOP_SINCE_FULL;
        else if (key == '/')
                list->filtering = true;
        else if (key == TOP_KEY_ESCAPE)
                *list->table.filter = '\0';
        else if (key == TOP_KEY_ENTER)
                list->page = TOP_PAGE_HISTORY;
        else if (key == 'w')
                list->page = TOP_PAGE_GAIN;
        else if (key == 'h' || key == '?')
                snprintf(list->message, sizeof(list->message), "%s",
                         _("sort: p power, u used, n name, c CPU, d display, i disk, t WiFi, g GPU"));
        return key == 'q';
}
