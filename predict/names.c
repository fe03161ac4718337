/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "app/app.h"
#include "app/desktop-entry.h"
#include "store/store.h"
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
        static const char *const rows[] = { N_("base"),  N_("battery"), N_("model total"), N_("unattributed"), "unexplained",
                                            "total", N_("other users"), N_("other programs") };
        size_t digits = strspn(name, "0123456789");
        char others[64];

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (strcasecmp(name, rows[i]) == 0 || strcasecmp(name, _(rows[i])) == 0)
                        return true;
        snprintf(others, sizeof(others), words_counted("%zu other", "%zu others", 2), (size_t)2);
        return strcasecmp(name, STORE_OTHERS) == 0 ||
               (digits > 0 && (strcmp(name + digits, " others") == 0 || strcmp(name + digits, others + 1) == 0));
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
