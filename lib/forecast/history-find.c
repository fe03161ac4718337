/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Apps by what people call them. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "history.h"
#include "util/match.h"
#include "util/util.h"

static bool is_hidden(const struct history *history, size_t i)
{
        return history->others && strcmp(history->apps[i].app, STORE_OTHERS) == 0;
}

ssize_t history_find(const struct history *history, const char *app)
{
        struct match_best best = { 0 };

        for (size_t i = 1; i < history->n_apps; i++)
                if (!is_hidden(history, i))
                        match_add(&best, match_app(app, history->apps[i].app, history->apps[i].name), i);
        return best.n == 1 ? (ssize_t)best.index : best.n == 0 ? -ENOENT : -EEXIST;
}

static void append_name(const struct history_app *app, const char *between, char *buf, size_t size)
{
        size_t length = strlen(buf);

        if (length + 1 < size)
                snprintf(buf + length, size - length, "%s%s", length ? between : "", app->app);
}

char *history_offer(const struct history *history, const char *app, char *buf, size_t size)
{
        struct match_best best = { 0 };
        struct match_near near = { .asked = app };

        buf[0] = '\0';
        for (size_t i = 1; i < history->n_apps; i++)
                if (!is_hidden(history, i))
                        match_add(&best, match_app(app, history->apps[i].app, history->apps[i].name), i);
        for (size_t i = 1; i < history->n_apps && best.n > 0; i++)
                if (!is_hidden(history, i) && match_app(app, history->apps[i].app, history->apps[i].name) == best.how)
                        append_name(&history->apps[i], ", ", buf, size);
        for (size_t i = 1; i < history->n_apps && best.n == 0; i++) {
                if (is_hidden(history, i))
                        continue;
                match_near_add(&near, history->apps[i].app, history->apps[i].app);
                match_near_add(&near, history->apps[i].name, history->apps[i].app);
        }
        if (near.found)
                snprintf(buf, size, "%s", near.found);
        return buf;
}
