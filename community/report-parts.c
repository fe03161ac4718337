/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Which components an app's own energy goes to, by the devices' own models. */

#include <errno.h>

#include "report.h"
#include "util/util.h"

#define SHARE_MIN 0.01

/* Those that have a share worth naming, the greatest first. */
static int set_parts(const double *energy, struct part_report **ret, size_t *ret_n)
{
        struct part_report *parts = calloc(COMPONENT_COUNT, sizeof(*parts));
        double all = 0;
        size_t n = 0;

        if (!parts)
                return -ENOMEM;
        for (int i = 0; i < COMPONENT_COUNT; i++)
                all += MAX(energy[i], 0);
        for (int i = 0; i < COMPONENT_COUNT && all > 0; i++) {
                size_t at = n;

                if (energy[i] < SHARE_MIN * all)
                        continue;
                for (; at > 0 && parts[at - 1].share < energy[i] / all; at--)
                        parts[at] = parts[at - 1];
                parts[at] = (struct part_report){ i, energy[i] / all };
                n++;
        }
        *ret = parts;
        *ret_n = n;
        return 0;
}

/* Energy of each app by component, in mJ: a row of COMPONENT_COUNT for each app of the report. */
static int read_parts(struct database *database, int64_t limit, struct report *report, double *energy)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = report_select(database, "SELECT p.app, p.part, sum(p.mj) FROM client_part p JOIN client c ON c.id = p.client"
                                         " WHERE c.quarantined = 0 AND c.s1 <= $1 * c.n GROUP BY p.app, p.part",
                               "SELECT app, part, sum(mj) FROM shard_part GROUP BY app, part", limit, &select);

        if (rc < 0)
                return rc;
        while ((rc = select->ops->step(select)) == 1) {
                const struct app_report *app = report_app(report, select->ops->get_int(select, 0));
                int64_t part = select->ops->get_int(select, 1);

                if (app && part >= 0 && part < COMPONENT_COUNT)
                        energy[(app - report->apps) * COMPONENT_COUNT + part] = select->ops->get_sum(select, 2);
        }
        return rc;
}

/* Power here less power elsewhere, of each component. */
static int explain_bug(struct statement *select, const struct report *report, const double *energy, struct bug_report *bug)
{
        const struct app_report *app = report_app(report, bug->app);
        const double *all = &energy[(app - report->apps) * COMPONENT_COUNT];
        double here[COMPONENT_COUNT] = { 0 }, more[COMPONENT_COUNT], others_ms = app->own_ms - bug->own_ms;
        int rc;

        select->ops->set_int(select, 1, bug->client);
        select->ops->set_int(select, 2, bug->app);
        while ((rc = select->ops->step(select)) == 1) {
                int64_t part = select->ops->get_int(select, 0);

                if (part >= 0 && part < COMPONENT_COUNT)
                        here[part] = (double)select->ops->get_int(select, 1);
        }
        if (rc < 0 || !(others_ms > 0))
                return rc;
        for (int i = 0; i < COMPONENT_COUNT; i++)
                more[i] = here[i] / bug->own_ms - (all[i] - here[i]) / others_ms;
        return set_parts(more, &bug->parts, &bug->n_parts);
}

int report_parts(struct database *database, int64_t limit, struct report *report)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        _cleanup_free_ double *energy = calloc((report->n_apps + 1) * COMPONENT_COUNT, sizeof(*energy));
        int err = energy ? read_parts(database, limit, report, energy) : -ENOMEM;

        for (size_t i = 0; !err && i < report->n_hogs; i++) {
                struct app_report *app = &report->apps[report->hogs[i]];

                err = set_parts(&energy[report->hogs[i] * COMPONENT_COUNT], &app->parts, &app->n_parts);
        }
        if (!err)
                err = database_prepare(database, "SELECT part, mj FROM client_part WHERE client = $1 AND app = $2", &select);
        for (size_t i = 0; !err && i < report->n_bugs; i++)
                err = explain_bug(select, report, energy, &report->bugs[i]);
        return err;
}
