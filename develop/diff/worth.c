/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worth.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

/* Finds the app by a program's name. If both have one name, the dearer program runs here: its excess can be saved. */
int worth_find(const struct options *options, const char *app, const struct comparison *comparison, struct worth *ret)
{
        const struct side *a = comparison->a, *b = comparison->b;
        const char *name_a = a->contexts.program ? a->contexts.program : "",
                   *name_b = b->contexts.program ? b->contexts.program : "";
        bool dearer_b = comparison->comparable.total_b > comparison->comparable.total_a;
        const char *const names[] = { util_base_name(dearer_b ? name_b : name_a),
                                      util_base_name(dearer_b ? name_a : name_b), NULL };
        struct worth worth;
        int err;

        if (strcmp(a->unit, "calls") == 0 || strcmp(a->unit, "bytes") == 0)
                return -ENODATA;
        err = daily_use_find(options, app, names, &worth.use);
        if (err < 0)
                return err;
        worth.joules = strcmp(a->unit, "nJ") == 0 ? worth.use.work_j : worth.use.cpu_j;
        worth.total = dearer_b != (worth.use.at == 1) ? comparison->comparable.total_b : comparison->comparable.total_a;
        if (!(worth.joules > 0) || !(worth.total > 0))
                return -ENODATA;
        *ret = worth;
        return 0;
}

struct estimate worth_minutes(const struct worth *worth, struct estimate difference)
{
        double value = fabs(difference.value), minutes, below, above;
        bool less = difference.value < 0;

        minutes = daily_use_minutes(&worth->use, worth->joules * value / worth->total);
        below = value > 0 ? (less ? difference.high - difference.value : difference.value - difference.low) / value : 0;
        above = value > 0 ? (less ? difference.value - difference.low : difference.high - difference.value) / value : 0;
        if (isnan(worth->use.uncertain))
                return (struct estimate){ minutes, 0, INFINITY };
        return (struct estimate){ .value = minutes,
                                  .low = fmax(0, minutes * (1 - hypot(below, worth->use.uncertain))),
                                  .high = minutes * (1 + hypot(above, worth->use.uncertain)) };
}
