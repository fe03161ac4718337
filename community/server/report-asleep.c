/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How fast batteries discharge while their devices are suspended. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "shared/order.h"
#include "report.h"
#include "util/util.h"

/*
 * A level in whole percent has a random error of 0.4 % (standard deviation of a difference of two levels),
 * however long the time is. Over eight hours, the error of the rate is then 0.05 % per hour.
 */
#define ASLEEP_MIN_MS (8 * INT64_C(3600000))
#define BOUNDS_Z 1.96

static int compare_rates(const void *a, const void *b)
{
        const struct asleep_client *x = a, *y = b;

        return ORDER_TWO(x->rate, y->rate, x->id, y->id);
}

int report_asleep(struct database *database, struct report *report)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        struct asleep_report *asleep = &report->asleep;
        size_t capacity = 0;
        int rc = database_prepare(database,
                                  "SELECT id, asleep_ms, asleep_ppm, model FROM client WHERE quarantined = 0 AND"
                                  " coarse = 0"
                                            " AND asleep_ms >= $1", &select);

        if (rc < 0)
                return rc;
        select->ops->set_int(select, 1, ASLEEP_MIN_MS);
        while ((rc = select->ops->step(select)) == 1) {
                const char *model = select->ops->get_text(select, 3);
                struct asleep_client *one;

                rc = util_grow(&asleep->list, &capacity, asleep->n + 1, sizeof(*asleep->list));
                if (rc < 0)
                        return rc;
                one = &asleep->list[asleep->n++];
                /* ppm per ms, converted to 1e-9 of a full battery per second */
                *one = (struct asleep_client){ .id = select->ops->get_int(select, 0),
                                               .rate = 1e6 * (double)select->ops->get_int(select, 2) /
                                                       (double)select->ops->get_int(select, 1) };
                snprintf(one->model, sizeof(one->model), "%s", model ? model : "");
        }
        if (asleep->n)
                qsort(asleep->list, asleep->n, sizeof(*asleep->list), compare_rates);
        return rc;
}

/*
 * Median with 95 % bounds, by order statistics (Conover, Practical Nonparametric Statistics, 3.2). No form of
 * distribution is assumed, and each device is one observation, so a device that sends an invented rate moves
 * the median by one rank at most. @rates: ascending.
 */
static void find_median(const double *rates, size_t n, struct asleep_like *ret)
{
        double below = floor(((double)n - 1 - BOUNDS_Z * sqrt((double)n)) / 2);

        ret->clients = n;
        ret->value = ret->low = ret->high = NAN;
        if (n < ASLEEP_CLIENTS_MIN)
                return;
        ret->value = (rates[(n - 1) / 2] + rates[n / 2]) / 2;
        ret->low = rates[(size_t)below];
        ret->high = rates[n - 1 - (size_t)below];
}

/* Collects the other clients' rates, ascending. */
static size_t list_others(const struct asleep_report *asleep, const struct asleep_client *own, bool same_model,
                          double *rates)
{
        size_t n = 0;

        for (size_t i = 0; i < asleep->n; i++) {
                const struct asleep_client *other = &asleep->list[i];

                if (other != own && (!same_model || strcmp(other->model, own->model) == 0))
                        rates[n++] = other->rate;
        }
        return n;
}

int report_asleep_like(const struct report *report, int64_t client, struct asleep_like *ret)
{
        const struct asleep_report *asleep = &report->asleep;
        _cleanup_free_ double *rates = calloc(asleep->n + 1, sizeof(*rates));
        const struct asleep_client *own = NULL;
        size_t n = 0;

        if (!rates)
                return -ENOMEM;
        for (size_t i = 0; client && !own && i < asleep->n; i++)
                if (asleep->list[i].id == client)
                        own = &asleep->list[i];
        *ret = (struct asleep_like){ .own = own ? own->rate : NAN };
        if (own && *own->model)
                n = list_others(asleep, own, true, rates);
        ret->same_model = n >= ASLEEP_CLIENTS_MIN;
        if (!ret->same_model)
                n = list_others(asleep, own, false, rates);
        find_median(rates, n, ret);
        return 0;
}
