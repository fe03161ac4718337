/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorded.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "api/request.h"
#include "app/app.h"
#include "ask.h"
#include "names.h"
#include "util/match.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"

/* The service answers who may not read the database: with the user's own apps, and one row for all others. */
static int ask_service(const struct joulecast_usage *usage, const struct recorded *recorded, struct usage_table **ret)
{
        _cleanup_(service_json_freep) struct cJSON *json = NULL;
        struct request request;
        int err;

        request_begin(&request, "usage", NULL);
        request_time(&request, "from", recorded->from.ns);
        request_time(&request, "to", recorded->to_ns);
        request_text(&request, "app", recorded->app);
        err = request_ask(&request, usage, &json);
        return err ? err : service_check(usage, answer_usage_from_json(json, ret));
}

static void localise(const struct recorded *recorded, struct usage_table *table)
{
        struct desktop_index *index = recorded->options.device ? NULL : desktop_index_of_user();

        for (size_t i = 0; index && i < table->n_rows; i++)
                if (strcmp(table->rows[i].label, table->rows[i].name) == 0 && !table->rows[i].base)
                        app_name(index, table->rows[i].name, table->rows[i].label, sizeof(table->rows[i].label));
        desktop_index_free(index);
}

static int read_table(const struct joulecast_usage *usage, const struct recorded *recorded, struct usage_table **ret)
{
        const struct store_query query = { .from_ns = recorded->from.ns, .to_ns = recorded->to_ns, .app = recorded->app,
                                           .uid = usage->uid, .times = recorded->times };
        int err = usage->service ? ask_service(usage, recorded, ret) : usage_table_read(usage->store, &query, ret);

        if (!err)
                localise(recorded, *ret);
        return err;
}

static bool is_first_of_app(const struct usage_table *table, size_t at)
{
        for (size_t i = 0; i < at; i++)
                if (!table->rows[i].base && strcmp(table->rows[i].name, table->rows[at].name) == 0)
                        return false;
        return !table->rows[at].base;
}

/* The nearest of @all, where that is a typo away. False: none is. */
static bool offer(const char *asked, const struct usage_table *all)
{
        struct match_near near = { .asked = asked };
        char app[128];

        for (size_t i = 0; i < all->n_rows; i++) {
                if (all->rows[i].base)
                        continue;
                match_near_add(&near, all->rows[i].name, all->rows[i].name);
                match_near_add(&near, all->rows[i].label, all->rows[i].name);
        }
        if (near.found)
                log_error(&program_log, "%s was not seen in that time; did you mean %s?",
                          util_printable(asked, app, sizeof(app)), near.found);
        return near.found;
}

/*
 * Finds an app by the user's name for it. 0: @recorded has its id now, from @all; -ENODATA: there is none; after a
 * sentence: -EEXIST: several, -ENOENT: none, but one has a similar name.
 */
static int find_app(struct recorded *recorded, const struct usage_table *all)
{
        struct match_best best = { 0 };
        char app[128], list[512] = "";
        size_t length = 0;

        for (size_t i = 0; i < all->n_rows; i++)
                if (is_first_of_app(all, i))
                        match_add(&best, match_app(recorded->app, all->rows[i].name, all->rows[i].label), i);
        if (best.n == 1)
                recorded->app = all->rows[best.index].name;
        if (best.n == 0)
                return offer(recorded->app, all) ? -ENOENT : -ENODATA;
        if (best.n == 1)
                return 0;
        for (size_t i = 0; i < all->n_rows && length < sizeof(list); i++)
                if (is_first_of_app(all, i) &&
                    match_app(recorded->app, all->rows[i].name, all->rows[i].label) == best.how)
                        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s", length ? ", " : "",
                                                   all->rows[i].name);
        log_error(&program_log, "several apps are called %s: %s; say which",
                  util_printable(recorded->app, app, sizeof(app)), list);
        return -EEXIST;
}

/* Reads the app's rows by its id; else by another name of the app. */
static int read_app(const struct joulecast_usage *usage, const struct recorded *recorded, struct usage_table **ret)
{
        _cleanup_(usage_table_freep) struct usage_table *all = NULL;
        struct recorded by_id = *recorded;
        int err = read_table(usage, recorded, ret);

        if (err != -ENODATA || !recorded->app)
                return err;
        by_id.app = NULL;
        err = read_table(usage, &by_id, &all);
        by_id.app = recorded->app;
        if (!err)
                err = find_app(&by_id, all);
        return err ? err : read_table(usage, &by_id, ret);
}

int recorded_find_app(const struct joulecast_usage *usage, const struct recorded *recorded, char *app)
{
        _cleanup_(usage_table_freep) struct usage_table *all = NULL;
        struct recorded wanted = *recorded;
        int err;

        wanted.app = NULL;
        err = read_table(usage, &wanted, &all);
        wanted.app = recorded->app;
        if (!err)
                err = find_app(&wanted, all);
        if (!err)
                snprintf(app, APP_ID_MAX, "%s", wanted.app);
        return err;
}

int recorded_read(struct recorded *recorded, struct usage_table **ret)
{
        _cleanup_(ask_close) struct ask ask = { 0 };
        int code = ask_open_usage(&recorded->options, &ask), err;

        if (code == CODE_OK)
                code = ask_moment(ask.usage, &recorded->from);
        if (code != CODE_OK)
                return code;
        err = read_app(ask.usage, recorded, ret);
        if (err == -ENODATA && recorded->app) {
                char app[128];

                log_error(&program_log, "%s was not seen in that time; joulecast apps lists what was",
                          util_printable(recorded->app, app, sizeof(app)));
        } else if (err == -ENODATA) {
                log_error(&program_log, "nothing was recorded in that time");
        } else if (err == -ENOMEM || err == -EOVERFLOW) { /* all others were logged */
                log_error(&program_log, "the recorded usage cannot be read: %s", strerror(-err));
        }
        return !err ? CODE_OK : err == -ENODATA || err == -EEXIST || err == -ENOENT ? CODE_NO_DATA : CODE_FAILED;
}

void recorded_print_span(const struct usage_table *table)
{
        double recorded_s = NAN;
        char span[128];

        for (size_t i = 0; i < table->n_rows; i++)
                if (table->rows[i].base)
                        recorded_s = (double)(table->rows[i].usage.time_ns + table->rows[i].usage.suspend_ns) / 1e9;
        table_text(TABLE_PLAIN, "%s", answer_print_span(table->from_ns, table->to_ns, recorded_s, span));
        putchar('\n');
}
