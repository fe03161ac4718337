/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Attributes an app's own energy to components, by the devices' own models. */

#include <errno.h>

#include "report.h"
#include "util/util.h"

#define SHARE_MIN 0.01

/* Lists components with a share worth mentioning, the largest first. */
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

/* Each component's power on this client less its power on other clients. */
int report_parts_of_bug(const struct app_report *app, const struct app_sums *own, struct bug_report *bug)
{
        double more[COMPONENT_COUNT], own_ms = (double)own->own_ms, others_ms = app->own_ms - own_ms;

        if (!(others_ms > 0 && own_ms > 0))
                return 0;
        for (int i = 0; i < COMPONENT_COUNT; i++) {
                double here = (double)own->part_mj[i];

                more[i] = here / own_ms - (app->part_mj[i] - here) / others_ms;
        }
        return set_parts(more, &bug->parts, &bug->n_parts);
}

int report_parts(struct report *report)
{
        int err = 0;

        for (size_t i = 0; !err && i < report->n_hogs; i++) {
                struct app_report *app = &report->apps[report->hogs[i]];

                err = set_parts(app->part_mj, &app->parts, &app->n_parts);
        }
        return err;
}
