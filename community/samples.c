/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "samples.h"
#include "util/util.h"

int client_samples_open(struct database *database, struct client_samples *ret)
{
        *ret = (struct client_samples){ .n = 0 };
        return database_prepare(database, "SELECT seq, t_ns, t2_ns, level_ppm, level2_ppm, apps, own FROM sample WHERE client = $1",
                                &ret->select);
}

void client_samples_close(struct client_samples *samples)
{
        statement_freep(&samples->select);
        free(samples->list);
        free(samples->apps);
        free(samples->own);
}

/* The arrays may still move: until all are read, `apps` of a sample is only whether it has any. */
static int add_apps(struct client_samples *samples, struct rate_sample *sample)
{
        const struct statement_ops *ops = samples->select->ops;
        size_t apps_length, own_length, n;
        const void *apps = ops->get_blob(samples->select, 5, &apps_length);
        const void *own;
        int err;

        n = apps_length / sizeof(*samples->apps);
        err = util_grow(&samples->apps, &samples->apps_capacity, samples->n_apps + n, sizeof(*samples->apps));
        if (!err)
                err = util_grow(&samples->own, &samples->own_capacity, samples->n_apps + n, sizeof(*samples->own));
        if (err < 0)
                return err;
        if (n)
                memcpy(samples->apps + samples->n_apps, apps, n * sizeof(*samples->apps));
        own = ops->get_blob(samples->select, 6, &own_length);
        if (n && own_length == n * sizeof(*samples->own))
                memcpy(samples->own + samples->n_apps, own, own_length);
        else
                for (size_t i = 0; i < n; i++)
                        samples->own[samples->n_apps + i] = -1;
        sample->n_apps = n;
        samples->n_apps += n;
        return 0;
}

static int add_sample(struct client_samples *samples)
{
        const struct statement_ops *ops = samples->select->ops;
        struct rate_sample *sample;
        int err = util_grow(&samples->list, &samples->capacity, samples->n + 1, sizeof(*samples->list));

        if (err < 0)
                return err;
        sample = &samples->list[samples->n++];
        *sample = (struct rate_sample){
                .seq = ops->get_int(samples->select, 0),
                .t_ns = ops->get_int(samples->select, 1),
                .t2_ns = ops->get_int(samples->select, 2),
                .level_ppm = (int32_t)ops->get_int(samples->select, 3),
                .level2_ppm = (int32_t)ops->get_int(samples->select, 4),
        };
        return add_apps(samples, sample);
}

int client_samples_read(struct client_samples *samples, int64_t client)
{
        const struct statement_ops *ops = samples->select->ops;
        size_t at = 0;
        int rc;

        samples->n = samples->n_apps = 0;
        ops->set_int(samples->select, 1, client);
        while ((rc = ops->step(samples->select)) == 1) {
                rc = add_sample(samples);
                if (rc < 0) {
                        ops->reset(samples->select);
                        return rc;
                }
        }
        for (size_t i = 0; i < samples->n; at += samples->list[i++].n_apps) {
                samples->list[i].apps = samples->apps + at;
                samples->list[i].own_mj = samples->own + at;
        }
        return rc;
}
