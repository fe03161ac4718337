/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* New sums of the clients whose samples changed, from all that they have. */

#include <errno.h>

#include "samples.h"
#include "util/util.h"
#include "writer.h"

struct refresh {
        struct client_samples samples;
        struct statement *remove_apps, *remove_bins, *add_app, *add_bin, *set_client;
};

static int open_refresh(struct database *database, struct refresh *ret)
{
        const struct {
                struct statement **statement;
                const char *sql;
        } all[] = {
                { &ret->remove_apps, "DELETE FROM client_app WHERE client = $1" },
                { &ret->remove_bins, "DELETE FROM client_bin WHERE client = $1" },
                { &ret->add_app, "INSERT INTO client_app (client, app, n, s1, s2, w, wa, wb, x, own_n, own_ms, own_mj)"
                                 " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)" },
                { &ret->add_bin, "INSERT INTO client_bin (client, bin, n, s1) VALUES ($1, $2, $3, $4)" },
                { &ret->set_client, "UPDATE client SET n_samples = $1, coarse = $2, n = $3, s1 = $4, s2 = $5, overlapping = $6,"
                                    " too_many = $7, fast = $8 WHERE id = $9" },
        };
        int err = client_samples_open(database, &ret->samples);

        for (size_t i = 0; !err && i < ARRAY_SIZE(all); i++)
                err = database_prepare(database, all[i].sql, all[i].statement);
        return err;
}

static void close_refresh(struct refresh *refresh)
{
        client_samples_close(&refresh->samples);
        statement_freep(&refresh->remove_apps);
        statement_freep(&refresh->remove_bins);
        statement_freep(&refresh->add_app);
        statement_freep(&refresh->add_bin);
        statement_freep(&refresh->set_client);
}

static int run_with(struct statement *statement, const int64_t *values, int n)
{
        for (int i = 0; i < n; i++)
                statement->ops->set_int(statement, i + 1, values[i]);
        return statement_run(statement);
}

static int write_apps(struct refresh *refresh, int64_t client, const struct client_sums *sums)
{
        int err = run_with(refresh->remove_apps, &client, 1);

        for (size_t i = 0; !err && i < sums->n_apps; i++) {
                const struct app_sums *app = &sums->apps[i];
                const int64_t row[] = { client, app->app, app->n, app->s1, app->s2, app->w, app->wa, app->wb, app->x,
                                        app->own_n, app->own_ms, app->own_mj };

                err = run_with(refresh->add_app, row, ARRAY_SIZE(row));
        }
        return err;
}

static int write_bins(struct refresh *refresh, int64_t client, const struct prior *prior)
{
        int err = run_with(refresh->remove_bins, &client, 1);

        for (int i = 0; !err && prior && i < PRIOR_BINS; i++)
                if (prior->n[i]) {
                        const int64_t row[] = { client, i, prior->n[i], prior->s1[i] };

                        err = run_with(refresh->add_bin, row, ARRAY_SIZE(row));
                }
        return err;
}

static int refresh_client(struct refresh *refresh, int64_t client)
{
        _cleanup_(client_sums_clear) struct client_sums sums = { .n = 0 };
        int err = client_samples_read(&refresh->samples, client);
        size_t n_samples = refresh->samples.n;

        if (!err)
                err = client_sums_make(refresh->samples.list, n_samples, NULL, &sums);
        if (!err)
                err = write_apps(refresh, client, &sums);
        if (!err)
                err = write_bins(refresh, client, sums.prior);
        if (!err) {
                const int64_t row[] = { (int64_t)n_samples, client_sums_coarse(&sums), sums.n, sums.s1, sums.s2,
                                        sums.overlapping, sums.too_many, sums.fast, client };

                err = run_with(refresh->set_client, row, ARRAY_SIZE(row));
        }
        return err;
}

int writer_refresh(struct writer *writer)
{
        _cleanup_(close_refresh) struct refresh refresh = { .add_app = NULL };
        int err = open_refresh(writer->database, &refresh);

        for (struct known *client = writer->clients; client && !err; client = client->hh.next)
                if (client->changed) {
                        err = refresh_client(&refresh, client->id);
                        client->changed = false;
                }
        return err;
}
