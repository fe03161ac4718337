/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Recomputes the sums of clients whose samples changed, from all their samples. */

#include <errno.h>
#include <string.h>

#include "shared/client-rates.h"
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
                { &writer->set_client, "UPDATE client SET next_seq = $1, header_first = $2, os = $3, model = $4,"
                                       " n_samples = $5,"
                                       " coarse = $6, n = $7, s1 = $8, s2 = $9, overlapping = $10, too_many = $11,"
                                       " fast = $12,"
                                       " asleep_n = $13, asleep_ms = $14, asleep_ppm = $15 WHERE id = $16" },
                { &writer->set_header, "UPDATE client SET next_seq = $1, header_first = $2, os = $3, model = $4 WHERE"
                                       " id = $5" },
                { &writer->add_pending, "INSERT INTO pending (client) VALUES ($1) ON CONFLICT DO NOTHING" },
                { &writer->add_joined, "INSERT INTO joined (client, day, network) VALUES ($1, $2, $3) ON CONFLICT DO"
                                       " NOTHING" },
                { &writer->find_quota, "SELECT samples, names, bytes FROM quota WHERE client = $1" },
                { &writer->set_quota, "INSERT INTO quota (client, samples, names, bytes) VALUES ($1, $2, $3, $4)"
                                      " ON CONFLICT (client) DO UPDATE SET samples = excluded.samples,"
                                      " names = excluded.names, bytes = excluded.bytes" },
                { &writer->drop_pending, "DELETE FROM pending WHERE client = $1" },
        };
        int err = client_samples_open(writer->database, &writer->samples);

        for (size_t i = 0; !err && i < ARRAY_SIZE(all); i++)
                err = database_prepare(writer->database, all[i].sql, all[i].statement);
        return err ? err : database_prepare_rows(writer->database, &rate_rows, &writer->add_rates);
}

/* @samples: those used, out of @n_samples stored ones. A client that had samples before keeps its row. */
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

static void set_header(struct statement *set, const struct known_client *client)
{
        set->ops->set_int(set, 1, client->next_seq);
        set->ops->set_int(set, 2, client->first_of_header);
        set->ops->set_text(set, 3, *client->os ? client->os : NULL);
        set->ops->set_text(set, 4, *client->model ? client->model : NULL);
}

static int set_client(struct writer *writer, const struct known_client *client, const struct client_sums *sums,
                      size_t n_samples)
{
        struct statement *set = writer->set_client;
        const int64_t row[] = { (int64_t)n_samples, client_sums_coarse(sums), sums->n, sums->s1, sums->s2,
                                sums->overlapping,
                                sums->too_many, sums->fast, sums->asleep.n, sums->asleep.ms, sums->asleep.ppm,
                                client->id };

        set_header(set, client);
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

int writer_defer(struct writer *writer)
{
        int err = 0;

        for (struct known_client *client = writer->clients; client && !err; client = client->hh.next) {
                if (!client->changed)
                        continue;
                set_header(writer->set_header, client);
                writer->set_header->ops->set_int(writer->set_header, 5, client->id);
                err = statement_run(writer->set_header);
                if (!err)
                        err = statement_run_with(writer->add_pending, &client->id, 1);
                client->changed = false;
        }
        return err;
}

/* Writes a client's sums if it still has the samples that they are of. */
static int store_pending(struct writer *writer, int64_t id, const char *hex, const struct client_sums *sums)
{
        struct known_client *client = NULL;
        int64_t n_samples = (int64_t)writer->samples.n, now = 0;
        char token[65];
        bool quarantined;
        int rc = writer_find(writer, hex, &client, token, &quarantined);

        if (rc > 0)
                rc = database_number_of(writer->database, "SELECT count(*) FROM sample WHERE client = $1", id, &now);
        if (rc < 0 || (client && now != n_samples))
                return rc;
        if (client && n_samples > 0)
                rc = write_rates(writer, client, writer->samples.list, writer->samples.n, sums);
        if (!rc && client)
                rc = set_client(writer, client, sums, writer->samples.n);
        if (!rc)
                rc = writer->add_rates->ops->flush(writer->add_rates, NULL);
        return rc ? rc : statement_run_with(writer->drop_pending, &id, 1);
}

static int refresh_one(struct writer *writer, int64_t id, const char *hex)
{
        _cleanup_(client_sums_clear) struct client_sums sums = { .n = 0 };
        struct database *database = writer->database;
        int err = client_samples_read(&writer->samples, id);

        if (!err)
                err = client_sums_make(writer->samples.list, writer->samples.n, &sums);
        if (!err)
                err = database_run(database, database->ops->begin_write);
        if (err < 0)
                return err;
        err = store_pending(writer, id, hex, &sums);
        writer_forget(writer, err < 0);
        if (!err)
                return database_run(database, "COMMIT");
        (void)database_run(database, "ROLLBACK");
        return err;
}

struct pending_client {
        int64_t id;
        char hex[UPLOAD_CLIENT_DIGITS + 1];
};

static int list_pending(struct database *database, const char *one, struct pending_client **list, size_t *n)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        size_t capacity = 0;
        int rc = database_prepare(database, "SELECT c.id, c.hex FROM pending p JOIN client c ON c.id = p.client"
                                            " ORDER BY c.id", &select);

        while (rc >= 0 && (rc = select->ops->step(select)) == 1) {
                const char *hex = select->ops->get_text(select, 1);

                if (one && strcmp(hex, one) != 0)
                        continue;
                rc = util_grow(list, &capacity, *n + 1, sizeof(**list));
                if (rc < 0)
                        return rc;
                (*list)[*n].id = select->ops->get_int(select, 0);
                snprintf((*list)[(*n)++].hex, sizeof((*list)->hex), "%s", hex);
        }
        return rc;
}

int refresh_pending(struct database *database, const char *one)
{
        _cleanup_free_ struct pending_client *list = NULL;
        struct writer writer = { .database = NULL };
        size_t n = 0;
        int err = list_pending(database, one, &list, &n);

        if (!err && n)
                err = writer_open(database, &writer);
        for (size_t i = 0; !err && i < n; i++)
                err = refresh_one(&writer, list[i].id, list[i].hex);
        writer_close(&writer);
        return err;
}

static bool is_pending(const char *where, const struct log *log)
{
        _cleanup_(database_closep) struct database *database = NULL;
        _cleanup_(statement_freep) struct statement *select = NULL;
        bool found;

        if (database_open(where, DATABASE_READ, log, &database) < 0 || !database->ops->has_table(database, "pending") ||
            database_prepare(database, "SELECT client FROM pending LIMIT 1", &select) < 0)
                return false;
        found = select->ops->step(select) == 1;
        if (found)
                select->ops->reset(select);
        return found;
}

void refresh_before_report(const char *where, const struct log *log, const atomic_bool *stop)
{
        _cleanup_(database_closep) struct database *database = NULL;

        if (!is_pending(where, log))
                return;
        if (database_open(where, DATABASE_WRITE, log, &database) == 0) {
                database->stop = stop;
                if (refresh_pending(database, NULL) == 0)
                        return;
        }
        log_warning(log, "%s: the report is without the newest samples, whose sums could not be written", where);
}
