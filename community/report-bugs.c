/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An app's own energy, by the model of each device, on one client against others. Battery drop alone cannot tell this:
 * of what it called bugs, 1 to 8 of 100 were some (docs/community.md).
 */

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "community/client-rates.h"
#include "report.h"
#include "threads.h"
#include "util/util.h"

#define BUG_CLIENTS_MIN 5     /* others that have it */
#define BUG_RATIO 2.0         /* times the median of all */
#define BUG_DEVIATIONS 4.5    /* of the logarithms, by their median absolute deviation */
#define DEVIATION_MIN 0.05    /* of a logarithm: devices differ by more than they happen to */
#define MAD_TO_SIGMA 1.4826
#define NORMAL_95 1.96
#define WATTS_MIN 1e-3

/* What one thread finds. */
struct finds {
        struct bug_report *bugs;
        size_t n, capacity, pairs;
        double *logs; /* of the clients of an app */
        size_t logs_capacity;
};

struct judging {
        const struct report *report;
        struct finds *finds; /* of each thread */
        atomic_size_t next;  /* app that nobody has taken */
};

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

static double log_of(const struct own_use *own)
{
        return log(MAX((double)own->watts, WATTS_MIN));
}

/* The app's power on all clients that say it, or that of one of its components. */
struct powers {
        const struct own_use *list;
        size_t n;
        double middle, deviation; /* of the logarithms */
};

/* The whole first. */
static int compare_parts(const void *a, const void *b)
{
        const struct own_use *x = a, *y = b;

        return x->part != y->part ? y->part - x->part : x->client < y->client ? -1 : x->client > y->client;
}

/* Those of the part that @list begins with. */
static int measure(struct finds *finds, const struct own_use *list, size_t n, struct powers *ret)
{
        struct powers powers = { .list = list };
        int err;

        while (powers.n < n && list[powers.n].part == list->part)
                powers.n++;
        err = util_grow(&finds->logs, &finds->logs_capacity, powers.n, sizeof(*finds->logs));
        if (err < 0)
                return err;
        for (size_t i = 0; i < powers.n; i++)
                finds->logs[i] = log_of(&list[i]);
        powers.middle = median(finds->logs, powers.n);
        for (size_t i = 0; i < powers.n; i++)
                finds->logs[i] = fabs(finds->logs[i] - powers.middle);
        powers.deviation = MAX(MAD_TO_SIGMA * median(finds->logs, powers.n), DEVIATION_MIN);
        *ret = powers;
        return 0;
}

/*
 * A component must have so much more that it alone makes the app take BUG_RATIO times what it takes elsewhere: many times a small
 * part is still little.
 */
static bool is_bug(const struct own_use *own, const struct powers *powers, const struct powers *whole)
{
        double above = log_of(own) - powers->middle;

        if (!(above > log(BUG_RATIO) && above > BUG_DEVIATIONS * powers->deviation) || own->cheaper)
                return false;
        return own->part == OWN_WHOLE || (double)own->watts - exp(powers->middle) > (BUG_RATIO - 1) * exp(whole->middle);
}

static int add_bugs(struct finds *finds, const struct app_report *app, const struct powers *powers, const struct powers *whole)
{
        for (size_t i = 0; i < powers->n; i++) {
                if (!is_bug(&powers->list[i], powers, whole))
                        continue;
                if (util_grow(&finds->bugs, &finds->capacity, finds->n + 1, sizeof(*finds->bugs)) < 0)
                        return -ENOMEM;
                finds->bugs[finds->n++] = (struct bug_report){
                        .app = app->id, .client = powers->list[i].client, .others_watts = exp(whole->middle),
                        .others_low = exp(whole->middle - NORMAL_95 * whole->deviation),
                        .others_high = exp(whole->middle + NORMAL_95 * whole->deviation), .clients = whole->n - 1,
                };
        }
        return 0;
}

static int compare_clients(const void *a, const void *b)
{
        int64_t x = ((const struct bug_report *)a)->client, y = ((const struct bug_report *)b)->client;

        return x < y ? -1 : x > y;
}

/* The whole and some of its components may have found the same. */
static void keep_once(struct finds *finds, size_t first)
{
        size_t kept = first;

        if (finds->n > first)
                qsort(finds->bugs + first, finds->n - first, sizeof(*finds->bugs), compare_clients);
        for (size_t i = first; i < finds->n; i++)
                if (kept == first || finds->bugs[kept - 1].client != finds->bugs[i].client)
                        finds->bugs[kept++] = finds->bugs[i];
        finds->n = kept;
}

/* All clients of one app. A hog is no bug, too. */
static int judge_app(struct finds *finds, const struct app_report *app)
{
        struct powers whole, part;
        size_t first = finds->n;
        int err;

        if (app->n_own <= BUG_CLIENTS_MIN || app->drop.hog)
                return 0;
        qsort(app->own, app->n_own, sizeof(*app->own), compare_parts);
        err = measure(finds, app->own, app->n_own, &whole);
        if (err < 0 || whole.n <= BUG_CLIENTS_MIN)
                return err;
        finds->pairs += whole.n;
        err = add_bugs(finds, app, &whole, &whole);
        for (size_t i = whole.n; !err && i < app->n_own; i += part.n) {
                err = measure(finds, app->own + i, app->n_own - i, &part);
                if (!err && part.n > BUG_CLIENTS_MIN)
                        err = add_bugs(finds, app, &part, &whole);
        }
        keep_once(finds, first);
        return err;
}

static int judge_apps(void *data, size_t thread)
{
        struct judging *judging = data;
        int err = 0;

        for (size_t app; !err && (app = atomic_fetch_add(&judging->next, 1)) < judging->report->n_apps;)
                err = judge_app(&judging->finds[thread], &judging->report->apps[app]);
        return err;
}

static int take_finds(struct report *report, struct finds *finds, size_t n)
{
        size_t all = 0;

        for (size_t i = 0; i < n; i++)
                all += finds[i].n;
        report->bugs = calloc(all + 1, sizeof(*report->bugs));
        if (!report->bugs)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                if (finds[i].n)
                        memcpy(report->bugs + report->n_bugs, finds[i].bugs, finds[i].n * sizeof(*report->bugs));
                report->n_bugs += finds[i].n;
                report->own_pairs += finds[i].pairs;
        }
        return 0;
}

static int find_bugs(struct report *report)
{
        size_t n = threads_count();
        struct finds *finds = calloc(n, sizeof(*finds));
        struct judging judging = { .report = report, .finds = finds };
        int err = finds ? threads_run(judge_apps, &judging, n) : -ENOMEM;

        if (!err)
                err = take_finds(report, finds, n);
        for (size_t i = 0; finds && i < n; i++) {
                free(finds[i].bugs);
                free(finds[i].logs);
        }
        free(finds);
        return err;
}

static int compare_app(const void *key, const void *element)
{
        int64_t app = *(const int64_t *)key, other = ((const struct app_sums *)element)->app;

        return app < other ? -1 : app > other;
}

/* The client's name and the parts of what is more there. @rates: the client's */
static int describe(const struct report *report, const char *hex, const struct client_rates *rates, struct bug_report *bug)
{
        const struct app_report *app = report_app(report, bug->app);
        const struct app_sums *own = rates->n_apps ? bsearch(&bug->app, rates->apps, rates->n_apps, sizeof(*own), compare_app) :
                                     NULL;

        bug->app_name = strdup(app->name);
        bug->client_hex = strdup(hex);
        if (!bug->app_name || !bug->client_hex)
                return -ENOMEM;
        if (own && own->own_ms)
                bug->watts = (double)own->own_mj / (double)own->own_ms;
        if (own && own->n)
                bug->rate = (double)own->s1 / (double)own->n;
        return own ? report_parts_of_bug(app, own, bug) : 0;
}

/* The bugs of one client, which are beside each other. How many; a negative errno. */
static int describe_client(struct database *database, struct statement *select, struct report *report, struct client_rates *rates,
                           size_t first)
{
        const int64_t client = report->bugs[first].client;
        const uint8_t *bytes;
        int64_t s1, s2; /* of all apps: not asked for */
        size_t length, end = first;
        int rc;

        select->ops->set_int(select, 1, client);
        rc = select->ops->step(select);
        if (rc < 0)
                return rc;
        bytes = rc == 1 ? select->ops->get_blob(select, 1, &length) : NULL;
        rc = client_rates_read(bytes, bytes ? length : 0, rates);
        if (rc >= 0)
                client_rates_sum(rates, &s1, &s2);
        for (; rc >= 0 && end < report->n_bugs && report->bugs[end].client == client; end++)
                rc = describe(report, select->ops->get_text(select, 0), rates, &report->bugs[end]);
        select->ops->reset(select);
        if (rc == -EBADMSG) {
                log_error(database->log, "%s: the rates of a client are no such; the database is damaged", database->name);
                rc = -EUCLEAN;
        }
        return rc < 0 ? rc : (int)(end - first);
}

static int describe_all(struct database *database, struct report *report)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        _cleanup_(client_rates_clear) struct client_rates rates = { .n = 0 };
        int rc = database_prepare(database,
                                  "SELECT c.hex, r.rates FROM client c JOIN client_rate r ON r.client = c.id WHERE c.id = $1",
                                  &select);

        if (report->n_bugs)
                qsort(report->bugs, report->n_bugs, sizeof(*report->bugs), compare_clients);
        for (size_t i = 0; rc >= 0 && i < report->n_bugs; i += (size_t)MAX(rc, 0))
                rc = describe_client(database, select, report, &rates, i);
        return rc < 0 ? rc : 0;
}

static int compare_bugs(const void *a, const void *b)
{
        const struct bug_report *x = a, *y = b;
        int order = strcmp(x->app_name, y->app_name);

        return order ? order : strcmp(x->client_hex, y->client_hex);
}

int report_bugs(struct database *database, struct report *report)
{
        int err = find_bugs(report);

        for (size_t i = 0; i < report->n_apps; i++)
                free(TAKE_PTR(report->apps[i].own));
        if (!err)
                err = describe_all(database, report);
        if (!err && report->n_bugs)
                qsort(report->bugs, report->n_bugs, sizeof(*report->bugs), compare_bugs);
        return err;
}
