/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "util/util.h"
#include "writer.h"

static int next_number(struct database *database, const char *sql, int64_t *ret)
{
        _cleanup_(statement_freep) struct statement *statement = NULL;
        int rc = database_prepare(database, sql, &statement);

        if (!rc)
                rc = statement->ops->step(statement);
        if (rc == 1) {
                *ret = statement->ops->get_int(statement, 0) + 1;
                statement->ops->reset(statement);
        }
        return rc < 0 ? rc : 0;
}

int writer_open(struct database *database, struct writer *ret)
{
        struct writer writer = { .database = database };
        const struct {
                struct statement **statement;
                const char *sql;
        } all[] = {
                { &writer.find_app, "SELECT id FROM app WHERE name = $1" },
                { &writer.add_app, "INSERT INTO app (id, name) VALUES ($1, $2)" },
                { &writer.find_client, "SELECT id FROM client WHERE hex = $1" },
                { &writer.add_client, "INSERT INTO client (id, hex, header_first, n_samples, coarse, quarantined, n, s1, s2,"
                                      " overlapping, too_many, fast) VALUES ($1, $2, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0)" },
                { &writer.set_header, "UPDATE client SET header_first = $1, os = $2, model = $3, features = $4"
                                      " WHERE id = $5 AND header_first <= $1" },
                { &writer.add_sample, "INSERT INTO sample (client, seq, t_ns, t2_ns, level_ppm, level2_ppm, apps, own)"
                                      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING" },
        };
        int err = next_number(database, "SELECT coalesce(max(id), 0) FROM app", &writer.next_app);

        if (!err)
                err = next_number(database, "SELECT coalesce(max(id), 0) FROM client", &writer.next_client);
        for (size_t i = 0; !err && i < ARRAY_SIZE(all); i++)
                err = database_prepare(database, all[i].sql, all[i].statement);
        if (err < 0)
                writer_close(&writer);
        else
                *ret = writer;
        return err;
}

static void free_known(struct known *list)
{
        struct known *known, *next;

        HASH_ITER(hh, list, known, next) {
                HASH_DEL(list, known);
                free(known);
        }
}

void writer_close(struct writer *writer)
{
        struct statement **all[] = { &writer->find_app, &writer->add_app, &writer->find_client, &writer->add_client,
                                     &writer->set_header, &writer->add_sample };

        for (size_t i = 0; i < ARRAY_SIZE(all); i++)
                statement_freep(all[i]);
        free_known(writer->apps);
        free_known(writer->clients);
}

/* The number of a name: remembered, in the database, or new. */
static int find(struct known **list, struct statement *select, struct statement *insert, int64_t *next, const char *name,
                struct known **ret)
{
        struct known *known;
        size_t length = strlen(name);
        int rc;

        HASH_FIND(hh, *list, name, length, known);
        if (known) {
                *ret = known;
                return 0;
        }
        known = calloc(1, sizeof(*known) + length + 1);
        if (!known)
                return -ENOMEM;
        memcpy(known->name, name, length);
        select->ops->set_text(select, 1, known->name);
        rc = select->ops->step(select);
        if (rc == 1) {
                known->id = select->ops->get_int(select, 0);
                select->ops->reset(select);
        } else if (rc == 0) {
                known->id = (*next)++;
                insert->ops->set_int(insert, 1, known->id);
                insert->ops->set_text(insert, 2, known->name);
                rc = statement_run(insert);
        }
        if (rc >= 0)
                HASH_ADD_KEYPTR(hh, *list, known->name, length, known);
        if (rc < 0 || !HASH_HAS(known)) {
                free(known);
                return rc < 0 ? rc : -ENOMEM;
        }
        *ret = known;
        return 0;
}

int writer_client(struct writer *writer, const struct upload_header *header, struct known **ret)
{
        struct statement *set = writer->set_header;
        int err = find(&writer->clients, writer->find_client, writer->add_client, &writer->next_client, header->client, ret);

        if (err < 0)
                return err;
        set->ops->set_int(set, 1, header->first);
        set->ops->set_text(set, 2, *header->os ? header->os : NULL);
        set->ops->set_text(set, 3, *header->model ? header->model : NULL);
        set->ops->set_text(set, 4, header->features);
        set->ops->set_int(set, 5, (*ret)->id);
        return statement_run(set);
}

struct used_app {
        int32_t app;
        int64_t own_mj;
};

static int compare_used(const void *a, const void *b)
{
        const struct used_app *x = a, *y = b;

        return x->app < y->app ? -1 : x->app > y->app;
}

/* An ID that is there twice, and two IDs of the same name, are one app. */
static size_t merge_used(struct used_app *list, size_t n)
{
        size_t kept = 0;

        if (n)
                qsort(list, n, sizeof(*list), compare_used);
        for (size_t i = 0; i < n; i++) {
                if (kept && list[kept - 1].app == list[i].app) {
                        if (list[i].own_mj >= 0)
                                list[kept - 1].own_mj = MAX(list[kept - 1].own_mj, list[i].own_mj);
                } else {
                        list[kept++] = list[i];
                }
        }
        return kept;
}

static int number_app(struct writer *writer, struct upload_app *app)
{
        struct known *known;
        int err;

        if (app->number)
                return 0;
        err = find(&writer->apps, writer->find_app, writer->add_app, &writer->next_app, app->name, &known);
        if (!err)
                app->number = known->id;
        return err;
}

static int insert_sample(struct writer *writer, const struct known *client, int64_t seq, const struct upload_sample *sample,
                         const struct used_app *used, size_t n)
{
        struct statement *add = writer->add_sample;
        int32_t apps[UPLOAD_SAMPLE_APPS];
        int64_t own[UPLOAD_SAMPLE_APPS];
        int rc;

        for (size_t i = 0; i < n; i++) {
                apps[i] = used[i].app;
                own[i] = used[i].own_mj;
        }
        add->ops->set_int(add, 1, client->id);
        add->ops->set_int(add, 2, seq);
        add->ops->set_int(add, 3, sample->t_ns);
        add->ops->set_int(add, 4, sample->t2_ns);
        add->ops->set_int(add, 5, sample->level_ppm);
        add->ops->set_int(add, 6, sample->level2_ppm);
        add->ops->set_blob(add, 7, apps, n * sizeof(*apps));
        if (sample->n_own)
                add->ops->set_blob(add, 8, own, n * sizeof(*own));
        else
                add->ops->set_text(add, 8, NULL);
        rc = statement_run(add);
        return rc < 0 ? rc : add->ops->changed(add) > 0;
}

int writer_add(struct writer *writer, struct known *client, int64_t seq, struct upload_header *header,
               const struct upload_sample *sample)
{
        struct used_app used[UPLOAD_SAMPLE_APPS];
        int rc = 0;

        for (size_t i = 0; i < sample->n_apps; i++) {
                rc = number_app(writer, &header->apps[sample->apps[i]]);
                if (rc < 0)
                        return rc;
                used[i] = (struct used_app){ (int32_t)header->apps[sample->apps[i]].number, -1 };
                for (size_t j = 0; j < sample->n_own; j++)
                        if (sample->own[j].app == sample->apps[i])
                                used[i].own_mj = MAX(used[i].own_mj, sample->own[j].mj);
        }
        rc = insert_sample(writer, client, seq, sample, used, merge_used(used, sample->n_apps));
        if (rc == 1)
                client->changed = true;
        return rc;
}
