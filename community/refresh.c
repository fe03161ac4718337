/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* New sums of the clients whose samples changed, from all that they have. */

#include <errno.h>

#include "community/client-rates.h"
#include "util/util.h"
#include "writer.h"

int refresh_open(struct writer *writer)
{
        static const struct rows_sql rate_rows = { "client_rate", "client, samples, apps, rates", "iiib", "" };
        const struct {
                struct statement **statement;
                const char *sql;
        } all[] = {
                { &writer->set_rates, "UPDATE client_rate SET samples = $1, apps = $2, rates = $3 WHERE client = $4" },
                { &writer->set_client, "UPDATE client SET next_seq = $1, header_first = $2, os = $3, model = $4, n_samples = $5,"
                                       " coarse = $6, n = $7, s1 = $8, s2 = $9, overlapping = $10, too_many = $11, fast = $12,"
                                       " asleep_n = $13, asleep_ms = $14, asleep_ppm = $15 WHERE id = $16" },
        };
        int err = client_samples_open(writer->database, &writer->samples);

        for (size_t i = 0; !err && i < ARRAY_SIZE(all); i++)
                err = database_prepare(writer->database, all[i].sql, all[i].statement);
        return err ? err : database_prepare_rows(writer->database, &rate_rows, &writer->add_rates);
}

/* @samples: those that are left of @n_samples. A client that had samples has a row. */
static int write_rates(struct writer *writer, const struct known_client *client, const struct rate_sample *samples,
                       size_t n_samples, const struct client_sums *sums)
{
        struct statement *write = client->n_samples > 0 ? writer->set_rates : writer->add_rates;
        const int own = client->n_samples > 0 ? 4 : 1, first = client->n_samples > 0 ? 1 : 2;
        _cleanup_free_ uint8_t *bytes = NULL;
        size_t length;
        int err = client_rates_pack(samples, sums, &bytes, &length);

        if (err < 0)
                return err;
        write->ops->set_int(write, own, client->id);
        write->ops->set_int(write, first, (int64_t)n_samples);
        write->ops->set_int(write, first + 1, (int64_t)sums->n_apps);
        write->ops->set_blob(write, first + 2, bytes, length);
        return statement_run(write);
}

static int set_client(struct writer *writer, const struct known_client *client, const struct client_sums *sums, size_t n_samples)
{
        struct statement *set = writer->set_client;
        const int64_t row[] = { (int64_t)n_samples, client_sums_coarse(sums), sums->n, sums->s1, sums->s2, sums->overlapping,
                                sums->too_many, sums->fast, sums->asleep.n, sums->asleep.ms, sums->asleep.ppm, client->id };

        set->ops->set_int(set, 1, client->next_seq);
        set->ops->set_int(set, 2, client->first_of_header);
        set->ops->set_text(set, 3, *client->os ? client->os : NULL);
        set->ops->set_text(set, 4, *client->model ? client->model : NULL);
        for (size_t i = 0; i < ARRAY_SIZE(row); i++)
                set->ops->set_int(set, (int)i + 5, row[i]);
        return statement_run(set);
}

static int refresh_client(struct writer *writer, const struct known_client *client)
{
        _cleanup_(client_sums_clear) struct client_sums sums = { .n = 0 };
        int err = client_samples_read(&writer->samples, client->id);
        size_t n_samples = writer->samples.n;

        if (!err)
                err = client_sums_make(writer->samples.list, n_samples, &sums);
        if (!err && (!client->had || (int64_t)n_samples != client->n_samples))
                err = write_rates(writer, client, writer->samples.list, n_samples, &sums);
        return err ? err : set_client(writer, client, &sums, n_samples);
}

int writer_refresh(struct writer *writer)
{
        int err = 0;

        for (struct known_client *client = writer->clients; client && !err; client = client->hh.next)
                if (client->changed) {
                        err = refresh_client(writer, client);
                        client->changed = false;
                }
        return err ? err : writer->add_rates->ops->flush(writer->add_rates, NULL);
}
