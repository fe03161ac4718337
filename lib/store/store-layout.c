/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which amounts the columns of table usage have: all of this version's, or fewer in a database of an older one. */

#include <errno.h>
#include <string.h>

#include "store-private.h"

void store_layout_fill(struct layout *layout)
{
        layout->n_amounts = AMOUNT_COUNT;
        for (int i = 0; i < AMOUNT_COUNT; i++)
                layout->amounts[i] = i;
        layout->n_keyed = KEYED_COUNT;
        for (int k = 0; k < KEYED_COUNT; k++)
                layout->keyed[k] = k;
}

bool store_layout_is_full(const struct layout *layout)
{
        bool full = layout->n_amounts == AMOUNT_COUNT && layout->n_keyed == KEYED_COUNT;

        for (size_t i = 0; full && i < AMOUNT_COUNT; i++)
                full = layout->amounts[i] == i;
        for (size_t k = 0; full && k < KEYED_COUNT; k++)
                full = layout->keyed[k] == k;
        return full;
}

bool store_layout_has_amount(const struct layout *layout, enum amount amount)
{
        for (size_t i = 0; i < layout->n_amounts; i++)
                if (layout->amounts[i] == amount)
                        return true;
        return false;
}

bool store_layout_has_keyed(const struct layout *layout, enum keyed keyed)
{
        for (size_t i = 0; i < layout->n_keyed; i++)
                if (layout->keyed[i] == keyed)
                        return true;
        return false;
}

/* A column by its name; the sum of a keyed amount goes with its points. -EBADMSG: unknown, or there twice. */
static int add_column(struct layout *layout, const char *name)
{
        for (int i = 0; i < AMOUNT_COUNT; i++)
                if (strcmp(amount_kinds[i].word, name) == 0) {
                        if (store_layout_has_amount(layout, i))
                                return -EBADMSG;
                        layout->amounts[layout->n_amounts++] = i;
                        return 0;
                }
        for (int k = 0; k < KEYED_COUNT; k++) {
                size_t length = strlen(keyed_kinds[k].word);

                if (strncmp(keyed_kinds[k].word, name, length) != 0)
                        continue;
                if (name[length] == '_' && strcmp(name + length + 1, keyed_kinds[k].ns) == 0)
                        return 0;
                if (name[length])
                        continue;
                if (store_layout_has_keyed(layout, k))
                        return -EBADMSG;
                layout->keyed[layout->n_keyed++] = k;
                return 0;
        }
        return -EBADMSG;
}

static int read_columns(struct store *store, sqlite3_stmt *columns, struct layout *ret)
{
        int more, err = 0;

        while (!err && (more = store_step(store, columns)) == 1) {
                const char *name = (const char *)sqlite3_column_text(columns, 0);

                err = name ? add_column(ret, name) : -ENOMEM;
        }
        return err ? err : more;
}

int store_layout_read(struct store *store, struct layout *ret)
{
        /* After id, interval, app, state, active_ns and have. */
        static const char text[] = "SELECT name FROM pragma_table_info('usage') WHERE cid >= 6 ORDER BY cid";
        struct layout layout = { 0 };
        sqlite3_stmt *columns;
        int code = sqlite3_prepare_v2(store->db, text, -1, &columns, NULL);
        int err = code == SQLITE_OK ? read_columns(store, columns, &layout) : errno_from_sqlite(store, code);

        sqlite3_finalize(columns);
        if (err)
                return store_told(store, err);
        *ret = layout;
        return 0;
}
