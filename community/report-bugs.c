/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An app's own energy, by the model of each device, on one client against others. Battery drop alone cannot tell this:
 * of what it called bugs, 1 to 8 of 100 were some (docs/community.md).
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report.h"
#include "util/util.h"

#define OWN_SAMPLES_MIN 5     /* of an app on a client */
#define BUG_CLIENTS_MIN 5     /* others that have it */
#define BUG_RATIO 2.0         /* times the median of all */
#define BUG_DEVIATIONS 4.5    /* of the logarithms, by their median absolute deviation */
#define DEVIATION_MIN 0.05    /* of a logarithm: devices differ by more than they happen to */
#define MAD_TO_SIGMA 1.4826
#define WATTS_MIN 1e-3

struct own {
        int64_t client, x;
        double watts, ms;
};

struct own_list {
        int64_t app;
        struct own *list;
        double *logs;
        size_t n, capacity, logs_capacity;
};

static void free_list(struct own_list *own)
{
        free(own->list);
        free(own->logs);
}

static int compare_doubles(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return x < y ? -1 : x > y;
}

static double median(double *list, size_t n)
{
        qsort(list, n, sizeof(*list), compare_doubles);
        return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

static int add_bug(struct report *report, const struct own_list *own, const struct own *one, double others)
{
        struct bug_report *bugs = reallocarray(report->bugs, report->n_bugs + 1, sizeof(*bugs));

        if (!bugs)
                return -ENOMEM;
        report->bugs = bugs;
        bugs[report->n_bugs++] = (struct bug_report){ .app = own->app, .client = one->client, .watts = one->watts,
                                                      .others_watts = others, .own_ms = one->ms, .clients = own->n - 1 };
        return 0;
}

/* All clients of one app. A hog is no bug, too. */
static int judge_app(struct report *report, struct own_list *own)
{
        const struct app_report *app = report_app(report, own->app);
        double middle, deviation;
        int err = 0;

        if (own->n <= BUG_CLIENTS_MIN || !app || app->drop.hog)
                return 0;
        report->own_pairs += own->n;
        err = util_grow(&own->logs, &own->logs_capacity, own->n, sizeof(*own->logs));
        if (err < 0)
                return err;
        for (size_t i = 0; i < own->n; i++)
                own->logs[i] = log(MAX(own->list[i].watts, WATTS_MIN));
        middle = median(own->logs, own->n);
        for (size_t i = 0; i < own->n; i++)
                own->logs[i] = fabs(own->logs[i] - middle);
        deviation = MAX(MAD_TO_SIGMA * median(own->logs, own->n), DEVIATION_MIN);
        for (size_t i = 0; !err && i < own->n; i++) {
                double above = log(MAX(own->list[i].watts, WATTS_MIN)) - middle;

                if (above > log(BUG_RATIO) && above > BUG_DEVIATIONS * deviation && own->list[i].x >= 0)
                        err = add_bug(report, own, &own->list[i], exp(middle));
        }
        return err;
}

static void add_time(struct report *report, int64_t id, double ms)
{
        const struct app_report *app = report_app(report, id);

        if (app)
                report->apps[app - report->apps].own_ms += ms;
}

static int read_own(struct database *database, int64_t limit, struct report *report, struct own_list *own)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = report_select(database, "SELECT a.app, a.client, a.own_n, a.own_ms, a.own_mj, a.x FROM client_app a"
                                         " JOIN client c ON c.id = a.client WHERE c.quarantined = 0 AND c.s1 <= $1 * c.n AND a.own_ms > 0"
                                         " ORDER BY a.app, a.client",
                               "SELECT app, client, own_n, own_ms, own_mj, x FROM shard_own ORDER BY app, client", limit, &select);

        if (rc < 0)
                return rc;
        while ((rc = select->ops->step(select)) == 1) {
                int64_t app = select->ops->get_int(select, 0);

                add_time(report, app, (double)select->ops->get_int(select, 3));
                if (select->ops->get_int(select, 2) < OWN_SAMPLES_MIN)
                        continue;
                if (own->n && app != own->app) {
                        rc = judge_app(report, own);
                        own->n = 0;
                }
                own->app = app;
                if (rc >= 0)
                        rc = util_grow(&own->list, &own->capacity, own->n + 1, sizeof(*own->list));
                if (rc < 0)
                        return rc;
                own->list[own->n++] = (struct own){ select->ops->get_int(select, 1), select->ops->get_int(select, 5),
                        (double)select->ops->get_int(select, 4) / (double)select->ops->get_int(select, 3),
                        (double)select->ops->get_int(select, 3) };
        }
        return rc < 0 ? rc : judge_app(report, own);
}

static int name_bugs(struct database *database, struct report *report)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(database, "SELECT hex FROM client WHERE id = $1", &select);

        for (size_t i = 0; rc >= 0 && i < report->n_bugs; i++) {
                struct bug_report *bug = &report->bugs[i];

                select->ops->set_int(select, 1, bug->client);
                rc = select->ops->step(select);
                if (rc < 0)
                        break;
                bug->app_name = strdup(report_app(report, bug->app)->name);
                bug->client_hex = strdup(rc == 1 ? select->ops->get_text(select, 0) : "");
                select->ops->reset(select);
                if (!bug->app_name || !bug->client_hex)
                        rc = -ENOMEM;
        }
        return rc < 0 ? rc : 0;
}

static int compare_bugs(const void *a, const void *b)
{
        const struct bug_report *x = a, *y = b;
        int order = strcmp(x->app_name, y->app_name);

        return order ? order : strcmp(x->client_hex, y->client_hex);
}

int report_bugs(struct database *database, int64_t limit, struct report *report)
{
        _cleanup_(free_list) struct own_list own = { .n = 0 };
        int err = read_own(database, limit, report, &own);

        if (!err)
                err = name_bugs(database, report);
        if (!err && report->n_bugs)
                qsort(report->bugs, report->n_bugs, sizeof(*report->bugs), compare_bugs);
        return err;
}
