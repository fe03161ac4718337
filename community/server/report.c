/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "shared/drop-shrink.h"
#include "shared/name-hash.h"
#include "report-features.h"
#include "shards.h"
#include "util/portable.h"
#include "util/util.h"

#define HOURS_FACTOR_MAX 50 /* a longer time is not reported, as nobody would wait for it */

static void free_app(struct app_report *app)
{
        for (size_t i = 0; i < app->n_why; i++) {
                free(app->why[i].feature);
                free(app->why[i].is);
                for (size_t j = 0; j < WHY_DEPTH; j++)
                        free(app->why[i].within[j]);
        }
        free(app->name);
        free(app->together);
        free(app->why);
        free(app->parts);
        free(app->own);
        free(app->uses);
}

void report_clear(struct report *report)
{
        for (size_t i = 0; i < report->n_apps; i++)
                free_app(&report->apps[i]);
        for (size_t i = 0; i < report->n_bugs; i++) {
                free(report->bugs[i].app_name);
                free(report->bugs[i].client_hex);
                free(report->bugs[i].parts);
        }
        for (size_t i = 0; i < report->n_versions; i++)
                free(report->versions[i].version);
        free(report->versions);
        free(report->apps);
        free(report->hogs);
        free(report->bugs);
        free(report->kinds);
        free(report->by_client);
        free(report->clients_used);
        for (int i = 0; i < DROP_GROUPINGS; i++)
                free(report->groups.of[i]);
        free(report->score.list);
        free(report->asleep.list);
        *report = (struct report){ .clients = 0 };
}

static int compare_id(const void *key, const void *element)
{
        int64_t id = *(const int64_t *)key, other = ((const struct app_report *)element)->id;

        return id < other ? -1 : id > other;
}

static struct app_report *find_app(const struct report *report, int64_t id)
{
        return report->n_apps ? bsearch(&id, report->apps, report->n_apps, sizeof(*report->apps), compare_id) : NULL;
}

const struct app_report *report_app(const struct report *report, int64_t id)
{
        return find_app(report, id);
}

static int read_names(struct database *database, struct report *report)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(database, "SELECT id, name FROM app", &select);

        if (rc < 0)
                return rc;
        while ((rc = select->ops->step(select)) == 1) {
                struct app_report *app = find_app(report, select->ops->get_int(select, 0));

                if (!app || app->name)
                        continue;
                app->name = strdup(select->ops->get_text(select, 1));
                if (!app->name)
                        return -ENOMEM;
        }
        for (size_t i = 0; !rc && i < report->n_apps; i++)
                if (!report->apps[i].name) {
                        log_error(database->log, "%s: an app has no name; the database is damaged", database->name);
                        rc = -EUCLEAN;
                }
        return rc;
}

static int compare_minutes(const void *a, const void *b, void *data)
{
        const struct app_report *apps = data, *x = &apps[*(const size_t *)a], *y = &apps[*(const size_t *)b];

        if (x->drop.minutes != y->drop.minutes)
                return x->drop.minutes > y->drop.minutes ? -1 : 1;
        return strcmp(x->name, y->name);
}

/*
 * Decides which apps are hogs, or candidates, by the present estimates. Tied apps have the same q value, so
 * their order does not matter.
 */
static int decide(struct report *report, bool candidates)
{
        size_t n = report->n_apps;
        _cleanup_free_ struct drop *drops = calloc(n + 1, sizeof(*drops));
        _cleanup_free_ size_t *order = calloc(n + 1, sizeof(*order));

        if (!report->hogs)
                report->hogs = calloc(n + 1, sizeof(*report->hogs));
        if (!drops || !order || !report->hogs)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                drops[i] = report->apps[i].drop;
        if (!candidates && drop_shrink(drops, n) < 0)
                return -ENOMEM;
        drop_decide(drops, n, order);
        report->n_hogs = report->tested = report->paper_only = 0;
        for (size_t i = 0; i < n; i++) {
                report->apps[i].drop = drops[i];
                report->tested += drops[i].enough;
                report->paper_only += drops[i].paper_rule && !drops[i].hog;
                if ((candidates ? drops[i].candidate : drops[i].hog) && !report->apps[i].hidden)
                        report->hogs[report->n_hogs++] = i;
        }
        return 0;
}

/* Decides twice, as apps that run beside hogs seem to be hogs at first. */
static int find_hogs(struct database *database, struct features *features, int64_t limit, struct report *report)
{
        _cleanup_(joint_clear) struct joint joint = { .n = 0 };
        int err = decide(report, true);

        if (!err)
                err = report_joint(database, features, limit, report, &joint);
        if (!err)
                err = decide(report, false);
        if (!err)
                err = report_why(database, features, &joint, report);
        if (!err)
                err = report_distributions(&joint, report);
        if (!err && report->n_hogs)
                qsort_r(report->hogs, report->n_hogs, sizeof(*report->hogs), compare_minutes, report->apps);
        return err;
}

/* Hours of use until the app could be called a hog, if its effect is as estimated now. */
static void find_hours_more(struct report *report)
{
        for (size_t i = 0; i < report->n_apps; i++) {
                struct app_report *app = &report->apps[i];
                double factor = drop_more(&app->drop);

                if (app->drop.enough && !app->drop.hog && factor > 1 && factor <= HOURS_FACTOR_MAX)
                        app->hours_more = app->hours * (factor - 1);
        }
}

static int compare_hours(const void *a, const void *b, void *data)
{
        const struct app_report *apps = data, *x = &apps[*(const size_t *)a], *y = &apps[*(const size_t *)b];

        if (x->hours_more != y->hours_more)
                return x->hours_more < y->hours_more ? -1 : 1;
        return strcmp(x->name, y->name);
}

size_t report_not_yet(const struct report *report, size_t **ret)
{
        size_t *order = calloc(report->n_apps + 1, sizeof(*order)), n = 0;

        for (size_t i = 0; order && i < report->n_apps; i++)
                if (report->apps[i].hours_more > 0)
                        order[n++] = i;
        if (n)
                qsort_r(order, n, sizeof(*order), compare_hours, report->apps);
        *ret = order;
        return MIN(n, NOT_YET_MAX);
}

static int compare_app_clients(const void *a, const void *b, void *data)
{
        const struct app_report *apps = data, *x = &apps[*(const size_t *)a], *y = &apps[*(const size_t *)b];

        if (x->clients != y->clients)
                return x->clients > y->clients ? -1 : 1;
        return strcmp(x->name, y->name);
}

size_t report_thin(const struct report *report, size_t **ret)
{
        size_t *order = calloc(report->n_apps + 1, sizeof(*order)), n = 0;

        for (size_t i = 0; order && i < report->n_apps; i++)
                if (report->apps[i].drop.thin)
                        order[n++] = i;
        if (n)
                qsort_r(order, n, sizeof(*order), compare_app_clients, report->apps);
        *ret = order;
        return MIN(n, NOT_YET_MAX);
}

/* Finds an app by its name or by its hash. */
static int find_asked(struct database *database, const char *asked, struct report *report)
{
        const struct app_report *app = asked ? find_app(report, name_hash_number(asked)) : NULL;
        char name[256];

        report->asked = app ? app - report->apps : -1;
        if (!asked || app)
                return 0;
        log_error(database->log, "no client has an app %s", util_printable(asked, name, sizeof(name)));
        return -ENOENT;
}

static int make_within(struct database *database, const char *asked, struct report *report)
{
        _cleanup_(features_clear) struct features features = { .words = NULL };
        int64_t limit = 0;
        int err = shards_check(database);

        if (!err)
                err = features_read(database, &features);
        if (!err)
                err = report_clients(database, &features, report, &limit);
        if (!err)
                err = report_asleep(database, report);
        if (!err)
                err = read_names(database, report);
        if (!err)
                err = find_asked(database, asked, report);
        if (!err)
                err = report_bugs(database, report);
        if (!err)
                err = find_hogs(database, &features, limit, report);
        if (!err)
                err = report_parts(report);
        if (!err)
                find_hours_more(report);
        return err ? err : shards_check(database);
}

int report_make(struct database *database, const char *asked, struct report *ret)
{
        struct report report = { .clients = 0 };
        int err;

        portable_map_large();
        err = database_run(database, database->ops->begin_read);
        if (err < 0)
                return err;
        err = make_within(database, asked, &report);
        if (database_run(database, "ROLLBACK") < 0 && !err)
                err = -EIO;
        if (err < 0)
                report_clear(&report);
        else
                *ret = report;
        return err;
}
