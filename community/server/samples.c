/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "samples.h"
#include "util/util.h"

int client_samples_open(struct database *database, struct client_samples *ret)
{
        *ret = (struct client_samples){ .n = 0 };
        return database_prepare(database, "SELECT client, seq, context, t_ns, t2_ns, level_ppm, level2_ppm, apps,"
                                          " own, parts, asleep"
                                          " FROM sample WHERE client = $1", &ret->select);
}

void client_samples_close(struct client_samples *samples)
{
        statement_freep(&samples->select);
        free(samples->list);
        free(samples->apps);
        free(samples->own);
        free(samples->parts);
}

/* The arrays may move while they grow, so a sample stores only its counts until all samples are read. */
static int add_apps(struct client_samples *samples, struct rate_sample *sample)
{
        const struct statement_ops *ops = samples->select->ops;
        size_t apps_length, length, n;
        const void *apps = ops->get_blob(samples->select, 7, &apps_length), *other;
        int err;

        n = apps_length / sizeof(*samples->apps);
        err = util_grow(&samples->apps, &samples->apps_capacity, samples->n_apps + n, sizeof(*samples->apps));
        if (!err)
                err = util_grow(&samples->own, &samples->own_capacity, samples->n_apps + n, sizeof(*samples->own));
        if (err < 0)
                return err;
        if (n)
                memcpy(samples->apps + samples->n_apps, apps, n * sizeof(*samples->apps));
        other = ops->get_blob(samples->select, 8, &length);
        if (n && length == n * sizeof(*samples->own))
                memcpy(samples->own + samples->n_apps, other, length);
        else
                for (size_t i = 0; i < n; i++)
                        samples->own[samples->n_apps + i] = -1;
        sample->n_apps = n;
        samples->n_apps += n;
        other = ops->get_blob(samples->select, 9, &length);
        sample->n_parts = length / (2 * sizeof(*samples->parts));
        err = util_grow(&samples->parts, &samples->parts_capacity, samples->n_parts + 2 * sample->n_parts,
                        sizeof(*samples->parts));
        if (err < 0)
                return err;
        if (sample->n_parts)
                memcpy(samples->parts + samples->n_parts, other, 2 * sample->n_parts * sizeof(*samples->parts));
        samples->n_parts += 2 * sample->n_parts;
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
                .seq = ops->get_int(samples->select, 1),
                .context = ops->get_int(samples->select, 2),
                .t_ns = ops->get_int(samples->select, 3),
                .t2_ns = ops->get_int(samples->select, 4),
                .level_ppm = (int32_t)ops->get_int(samples->select, 5),
                .level2_ppm = (int32_t)ops->get_int(samples->select, 6),
                .asleep = ops->get_int(samples->select, 10) != 0,
        };
        return add_apps(samples, sample);
}

static void begin_client(struct client_samples *samples, int64_t client)
{
        samples->client = client;
        samples->n = samples->n_apps = samples->n_parts = 0;
}

static void end_client(struct client_samples *samples)
{
        size_t app = 0, part = 0;

        for (size_t i = 0; i < samples->n; i++) {
                struct rate_sample *sample = &samples->list[i];

                if (sample->n_apps > 0) { /* the list of a client without apps is NULL */
                        sample->apps = samples->apps + app;
                        sample->own_mj = samples->own + app;
                }
                if (sample->n_parts > 0)
                        sample->parts = samples->parts + part;
                app += sample->n_apps;
                part += 2 * sample->n_parts;
        }
}

int client_samples_read(struct client_samples *samples, int64_t client)
{
        const struct statement_ops *ops = samples->select->ops;
        int rc;

        begin_client(samples, client);
        ops->set_int(samples->select, 1, client);
        while ((rc = ops->step(samples->select)) == 1) {
                rc = add_sample(samples);
                if (rc < 0) {
                        ops->reset(samples->select);
                        return rc;
                }
        }
        end_client(samples);
        return rc;
}
