/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>

#include "quota.h"
#include "writer.h"
#include "util/util.h"

#define MEASURED_FOR_NS ((uint64_t)60 * 1000000000)

void quota_init(struct quota *quota, const struct quota_counts *most)
{
        *quota = (struct quota){ .most = *most };
        pthread_mutex_init(&quota->mutex, NULL);
}

void quota_clear(struct quota *quota)
{
        pthread_mutex_destroy(&quota->mutex);
}

bool quota_exceeds(const struct quota_counts *counts, const struct quota_counts *most)
{
        return counts->samples > most->samples || counts->names > most->names || counts->bytes > most->bytes;
}

static int select_number(struct database *database, const char *sql, int64_t *ret)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(database, sql, &select);

        if (!rc)
                rc = select->ops->step(select);
        if (rc == 1) {
                *ret = (int64_t)select->ops->get_sum(select, 0);
                select->ops->reset(select);
        }
        return rc < 0 ? rc : 0;
}

/*
 * A client's sums may lack its last samples, so the quota's count of samples is used if it is larger. A coordinator of
 * shards has few bytes itself, so the bytes that clients sent are used if they are more.
 */
static int measure(struct database *database, struct quota_counts *ret)
{
        struct quota_counts counts = { .samples = 0 };
        int64_t sent = 0;
        const struct {
                const char *sql;
                int64_t *count;
        } all[] = {
                { "SELECT coalesce(sum(CASE WHEN q.samples > c.n_samples THEN q.samples ELSE c.n_samples END), 0)"
                  " FROM client c LEFT JOIN quota q ON q.client = c.id", &counts.samples },
                { "SELECT count(*) FROM app", &counts.names },
                { database->ops->size, &counts.bytes },
                { "SELECT coalesce(sum(bytes), 0) FROM quota", &sent },
        };
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(all); i++)
                err = select_number(database, all[i].sql, all[i].count);
        if (err < 0)
                return err;
        if (database->shards > 0)
                counts.bytes = MAX(counts.bytes, sent);
        *ret = counts;
        return 0;
}

int quota_check(struct quota *quota, struct database *database)
{
        uint64_t now_ns = util_boottime_ns();
        struct quota_counts counts;
        bool old, full;
        int err = 0;

        pthread_mutex_lock(&quota->mutex);
        old = !quota->measured_ns || now_ns - quota->measured_ns >= MEASURED_FOR_NS;
        if (old)
                quota->measured_ns = now_ns; /* other threads need not measure it, too */
        pthread_mutex_unlock(&quota->mutex);
        if (old)
                err = measure(database, &counts);
        pthread_mutex_lock(&quota->mutex);
        if (old && err)
                quota->measured_ns = 0;
        else if (old)
                quota->now = counts;
        full = quota->now.samples >= quota->most.samples || quota->now.bytes >= quota->most.bytes;
        pthread_mutex_unlock(&quota->mutex);
        return err ? err : full ? -EDQUOT : 0;
}

bool quota_takes_names(struct quota *quota)
{
        bool takes;

        pthread_mutex_lock(&quota->mutex);
        takes = quota->now.names < quota->most.names;
        pthread_mutex_unlock(&quota->mutex);
        return takes;
}

void quota_add(struct quota *quota, const struct quota_counts *added)
{
        pthread_mutex_lock(&quota->mutex);
        quota->now.samples += added->samples;
        quota->now.names += added->names;
        quota->now.bytes += added->bytes;
        pthread_mutex_unlock(&quota->mutex);
}

/* A client of an older database has no counts but that of its samples. */
int writer_read_quota(struct writer *writer, const struct known_client *client, struct quota_counts *ret)
{
        struct statement *find = writer->find_quota;
        int rc;

        *ret = (struct quota_counts){ .samples = client ? client->n_samples : 0 };
        if (!client)
                return 0;
        rc = statement_run_with(find, &client->id, 1);
        if (rc <= 0)
                return rc;
        *ret = (struct quota_counts){ find->ops->get_int(find, 0), find->ops->get_int(find, 1),
                                      find->ops->get_int(find, 2) };
        find->ops->reset(find);
        return 0;
}

int writer_set_quota(struct writer *writer, const struct known_client *client, const struct quota_counts *counts)
{
        const int64_t row[] = { client->id, counts->samples, counts->names, counts->bytes };

        return statement_run_with(writer->set_quota, row, ARRAY_SIZE(row));
}
