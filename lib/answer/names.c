/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "app/app.h"
#include "app/desktop-entry.h"
#include "store/store.h"
#include "util/match.h"
#include "util/tuning.h"
#include "util/util.h"
#include "util/words.h"

static void name_app(const struct desktop_index *index, struct cost_app *app)
{
        char name[256], *copy;

        if (strcmp(app->name, app->app) != 0)
                return; /* the name in the database is newer */
        copy = strdup(app_name(index, app->app, name, sizeof(name)));
        if (!copy)
                return;
        free(app->name);
        app->name = copy;
}

void names_localise(const struct desktop_index *index, struct cost *cost)
{
        for (size_t i = 0; index && i < cost->n_apps; i++)
                name_app(index, &cost->apps[i]);
}

/* Rows of tables that are no apps. */
static bool is_row(const char *name)
{
        static const char *const rows[] = { N_("base"),         N_("battery"),       N_("model total"),
                                            N_("unattributed"), "unexplained",       "total",
                                            N_("other users"),  N_("other programs") };
        static const char *words[ARRAY_SIZE(rows)]; /* translated once: a table has many names */
        size_t digits = strspn(name, "0123456789");
        char others[64];

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                words[i] = words[i] ? words[i] : _(rows[i]);
                if (strcasecmp(name, rows[i]) == 0 || strcasecmp(name, words[i]) == 0)
                        return true;
        }
        if (digits == 0)
                return strcasecmp(name, STORE_OTHERS) == 0;
        snprintf(others, sizeof(others), words_counted("%zu other", "%zu others", 2), (size_t)2);
        return strcmp(name + digits, " others") == 0 || strcmp(name + digits, others + 1) == 0;
}

char *names_in_table(const char *app, const char *name, char *buf, size_t size)
{
        bool own = (strcmp(app, STORE_OTHERS) == 0 && strcmp(name, STORE_OTHERS_NAME) == 0) ||
                   (strcmp(app, TUNING_OTHER_APPS) == 0 && strcmp(name, TUNING_OTHER_APPS) == 0);

        snprintf(buf, size, !own && (is_row(name) || *name == '"') ? "\"%s\"" : "%s", own ? _(name) : name);
        return buf;
}

char *names_of(const struct options *options, const char *app, char *buf, size_t size)
{
        struct desktop_index *index = options->device ? NULL : desktop_index_of_user();

        if (index)
                app_name(index, app, buf, size);
        else
                snprintf(buf, size, "%s", app);
        desktop_index_free(index);
        return buf;
}

int names_app_called(const struct cost *cost, const char *called, char ret[APP_ID_MAX])
{
        struct match_near near = { .asked = called };
        struct match_best best = { 0 };
        char printable[128], offer[128];

        for (size_t i = 0; i < cost->n_apps; i++) {
                bool again = false;

                match_near_add(&near, cost->apps[i].app, cost->apps[i].app);
                match_near_add(&near, cost->apps[i].name, cost->apps[i].app);

                for (size_t k = 0; k < i; k++)
                        again = again || strcmp(cost->apps[k].app, cost->apps[i].app) == 0;
                if (!again)
                        match_add(&best, match_app(called, cost->apps[i].app, cost->apps[i].name), i);
        }
        if (best.n == 1) {
                snprintf(ret, APP_ID_MAX, "%s", cost->apps[best.index].app);
                return CODE_OK;
        }
        util_printable(called, printable, sizeof(printable));
        if (best.n)
                log_error(&program_log, "several apps are called %s in that time; joulecast apps lists them",
                          printable);
        else if (near.found)
                log_error(&program_log, "%s was not seen in that time; did you mean %s?", printable,
                          util_printable(near.found, offer, sizeof(offer)));
        else
                log_error(&program_log, "%s was not seen in that time; joulecast apps lists what was", printable);
        return CODE_NO_DATA;
}
