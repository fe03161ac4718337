/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The list of bugs: who has each, and what the database knows of it. report-bugs.c finds them. */

#include <errno.h>
#include <string.h>

#include "shared/client-rates.h"
#include "shared/order.h"
#include "report.h"
#include "util/portable.h"
#include "util/util.h"

static int compare_app(const void *key, const void *element)
{
        int64_t app = *(const int64_t *)key, other = ((const struct app_sums *)element)->app;

        return app < other ? -1 : app > other;
}

/* Adds the client's id and the components that make the difference. @rates: the client's rates. */
static int describe(const struct report *report, const char *hex, const struct client_rates *rates,
                    struct bug_report *bug)
{
        const struct app_report *app = report_app(report, bug->app);
        const struct app_sums *own = rates->n_apps ? bsearch(&bug->app, rates->apps, rates->n_apps, sizeof(*own),
                                                             compare_app) :
                                     NULL;

        bug->app_name = strdup(app->name);
        bug->client_hex = strdup(hex);
        if (!bug->app_name || !bug->client_hex)
                return -ENOMEM;
        if (own && own->own_ms)
                bug->watts = (double)own->own_mj / (double)own->own_ms;
        if (own && own->n)
                bug->rate = rates->tallies[own - rates->apps].all_s / rates->tallies[own - rates->apps].all_n;
        return own ? report_parts_of_bug(app, own, bug) : 0;
}

/* Describes the bugs of one client, which are adjacent. Returns how many, or a negative errno. */
static int describe_client(struct database *database, struct statement *select, struct report *report,
                           struct client_rates *rates, size_t first)
{
        const int64_t client = report->bugs[first].client;
        const uint8_t *bytes;
        int64_t s1, s2; /* sums over all apps are not needed */
        size_t length, end = first;
        int rc;

        select->ops->set_int(select, 1, client);
        rc = select->ops->step(select);
        if (rc < 0)
                return rc;
        bytes = rc == 1 ? select->ops->get_blob(select, 1, &length) : NULL;
        rc = client_rates_read(bytes, bytes ? length : 0, rates);
        if (rc >= 0)
                rc = client_rates_sum(rates, &s1, &s2);
        for (; rc >= 0 && end < report->n_bugs && report->bugs[end].client == client; end++)
                rc = describe(report, select->ops->get_text(select, 0), rates, &report->bugs[end]);
        select->ops->reset(select);
        if (rc == -EBADMSG) {
                log_error(database->log, "%s: the rates of a client are no such; the database is damaged",
                          database->name);
                rc = -EUCLEAN;
        }
        return rc < 0 ? rc : (int)(end - first);
}

static int compare_clients(const void *a, const void *b)
{
        const struct bug_report *x = a, *y = b;

        return ORDER_TWO(x->client, y->client, x->app, y->app);
}

static int describe_all(struct database *database, struct report *report)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        _cleanup_(client_rates_clear) struct client_rates rates = { .n = 0 };
        int rc = database_prepare(database,
                                  "SELECT c.hex, r.rates FROM client c JOIN client_rate r ON r.client = c.id WHERE"
                                  " c.id = $1", &select);

        if (report->n_bugs)
                qsort(report->bugs, report->n_bugs, sizeof(*report->bugs), compare_clients);
        for (size_t i = 0; rc >= 0 && i < report->n_bugs; i += (size_t)MAX(rc, 0))
                rc = describe_client(database, select, report, &rates, i);
        return rc < 0 ? rc : 0;
}

static int compare_pair(const void *key, const void *element)
{
        int64_t client = *(const int64_t *)key, other = ((const struct bug_pair *)element)->client;

        return client < other ? -1 : client > other;
}

bool report_has_bug(const struct report *report, int64_t client, int64_t app)
{
        size_t low = util_lower_bound(&client, report->by_client, report->n_bugs, sizeof(*report->by_client),
                                      compare_pair);

        for (; low < report->n_bugs && report->by_client[low].client == client; low++)
                if (report->by_client[low].app == app)
                        return true;
        return false;
}

/* Those that the battery confirms are first. */
static int compare_bugs(const void *a, const void *b)
{
        const struct bug_report *x = a, *y = b;
        int order = (int)y->confirmed - (int)x->confirmed;

        order = order ? order : strcmp(x->app_name, y->app_name);
        return order ? order : strcmp(x->client_hex, y->client_hex);
}

static int list_by_client(struct report *report)
{
        report->by_client = calloc(report->n_bugs + 1, sizeof(*report->by_client));
        if (!report->by_client)
                return -ENOMEM;
        for (size_t i = 0; i < report->n_bugs; i++)
                report->by_client[i] = (struct bug_pair){ report->bugs[i].client, report->bugs[i].app };
        return 0;
}

int report_bugs(struct database *database, struct report *report)
{
        int err = report_find_bugs(report);

        for (size_t i = 0; i < report->n_apps; i++) {
                free(TAKE_PTR(report->apps[i].own));
                free(TAKE_PTR(report->apps[i].uses));
        }
        portable_trim(); /* hundreds of MB: what is read next is in larger pieces */
        if (!err)
                err = describe_all(database, report);
        if (!err)
                err = list_by_client(report);
        if (!err && report->n_bugs)
                qsort(report->bugs, report->n_bugs, sizeof(*report->bugs), compare_bugs);
        return err;
}
