/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>
#include <time.h>

#include "shared/name-hash.h"
#include "util/util.h"
#include "writer.h"

#define SECONDS_PER_DAY 86400
#define APPS_KEPT 200000 /* apps that a writer remembers beyond a transaction */

/* A name replaces a hash, but a hash never replaces a name. */
static const struct rows_sql app_rows = {
        "app", "id, name", "it",
        "ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE app.name LIKE 'h:%' AND excluded.name NOT LIKE"
        " 'h:%'" };
static const struct rows_sql client_rows = {
        "client", "id, hex, next_seq, header_first, n_samples, coarse, quarantined, n, s1, s2, overlapping,"
                  " too_many, fast,"
        " asleep_n, asleep_ms, asleep_ppm",
        "itiiiiiiiiiiiiii", "" };
static const struct rows_sql context_rows = {
        "context", "client, id, os, model, features, versions", "iitttt", "ON CONFLICT DO NOTHING" };
static const struct rows_sql sample_rows = {
        "sample", "client, seq, context, t_ns, t2_ns, level_ppm, level2_ppm, apps, own, parts, asleep", "iiiiiiibbbi",
        "ON CONFLICT DO NOTHING" };

static int prepare_all(struct writer *writer)
{
        _cleanup_free_ char *find = NULL;
        const struct {
                struct statement **statement;
                const struct rows_sql *sql;
        } rows[] = { { &writer->add_client, &client_rows }, { &writer->add_app, &app_rows },
                     { &writer->add_context, &context_rows },
                     { &writer->add_sample, &sample_rows } };
        int err = 0;

        if (asprintf(&find, "SELECT hex, next_seq, header_first, token, quarantined, n_samples, os, model FROM"
                            " client WHERE id ="
                     " $1%s",
                     writer->database->ops->for_update) < 0)
                return -ENOMEM;
        err = database_prepare(writer->database, find, &writer->find_client);
        if (!err)
                err = database_prepare(writer->database, "UPDATE client SET token = $1 WHERE id = $2",
                                       &writer->set_token);
        for (size_t i = 0; !err && i < ARRAY_SIZE(rows); i++)
                err = database_prepare_rows(writer->database, rows[i].sql, rows[i].statement);
        return err ? err : refresh_open(writer);
}

int writer_open(struct database *database, struct writer *ret)
{
        struct writer writer = { .database = database };
        int err = prepare_all(&writer);

        if (err < 0)
                writer_close(&writer);
        else
                *ret = writer;
        return err;
}

void writer_forget(struct writer *writer, bool failed)
{
        HASH_FREE(writer->clients);
        writer->buffered = 0;
        writer->names = writer->contexts = 0;
        if (failed || HASH_COUNT(writer->apps) > APPS_KEPT)
                HASH_FREE(writer->apps);
}

void writer_close(struct writer *writer)
{
        struct statement **all[] = { &writer->add_app, &writer->find_client, &writer->add_client, &writer->set_token,
                                     &writer->add_context, &writer->add_sample, &writer->add_rates, &writer->set_rates,
                                     &writer->set_client, &writer->set_header, &writer->add_pending,
                                     &writer->drop_pending, &writer->add_joined, &writer->find_quota,
                                     &writer->set_quota };

        for (size_t i = 0; i < ARRAY_SIZE(all); i++)
                statement_freep(all[i]);
        client_samples_close(&writer->samples);
        writer_forget(writer, true);
}

static int remember(struct writer *writer, const char *hex, struct known_client **ret)
{
        struct known_client *known = calloc(1, sizeof(*known));

        if (!known)
                return -ENOMEM;
        known->id = name_hash_client(hex);
        known->first_of_header = -1;
        memcpy(known->hex, hex, UPLOAD_CLIENT_DIGITS);
        HASH_ADD_KEYPTR(hh, writer->clients, known->hex, UPLOAD_CLIENT_DIGITS, known);
        if (!HASH_HAS(known)) {
                free(known);
                return -ENOMEM;
        }
        *ret = known;
        return 0;
}

static void set_texts(struct known_client *client, const char *os, const char *model)
{
        snprintf(client->os, sizeof(client->os), "%s", os ? os : "");
        snprintf(client->model, sizeof(client->model), "%s", model ? model : "");
}

int writer_find(struct writer *writer, const char *hex, struct known_client **ret, char token[65], bool *quarantined)
{
        struct statement *find = writer->find_client;
        struct known_client *known;
        int rc, err;

        find->ops->set_int(find, 1, name_hash_client(hex));
        rc = find->ops->step(find);
        if (rc <= 0)
                return rc;
        if (strcmp(find->ops->get_text(find, 0), hex) != 0) {
                find->ops->reset(find);
                log_error(writer->database->log, "%s: two clients have the same number; give one of them another id",
                          writer->database->name);
                return -EEXIST;
        }
        err = remember(writer, hex, &known);
        if (!err) {
                const char *text = find->ops->get_text(find, 3);

                known->had = true;
                known->next_seq = find->ops->get_int(find, 1);
                known->first_of_header = find->ops->get_int(find, 2);
                snprintf(token, 65, "%s", text ? text : "");
                *quarantined = find->ops->get_int(find, 4) != 0;
                known->n_samples = find->ops->get_int(find, 5);
                set_texts(known, find->ops->get_text(find, 6), find->ops->get_text(find, 7));
                *ret = known;
        }
        find->ops->reset(find);
        return err ? err : 1;
}

int writer_set_token(struct writer *writer, struct known_client *client, const char *token, const char *network)
{
        const int64_t joined[] = { client->id, time(NULL) / SECONDS_PER_DAY,
                                   (name_hash_number_of("joulecast-network:", network) & 0xFFFF) + 1 };
        struct statement *set = writer->set_token;
        int err = statement_run_with(writer->add_joined, joined, 3);

        if (err < 0)
                return err;

        set->ops->set_text(set, 1, token);
        set->ops->set_int(set, 2, client->id);
        return statement_run(set);
}

static int find_or_make(struct writer *writer, const char *hex, struct known_client **ret)
{
        struct statement *add = writer->add_client;
        char token[65];
        bool quarantined;
        int rc;

        HASH_FIND(hh, writer->clients, hex, UPLOAD_CLIENT_DIGITS, *ret);
        if (*ret)
                return 0;
        rc = writer_find(writer, hex, ret, token, &quarantined);
        if (rc)
                return rc < 0 ? rc : 0;
        rc = remember(writer, hex, ret);
        if (rc < 0)
                return rc;
        add->ops->set_int(add, 1, (*ret)->id);
        add->ops->set_text(add, 2, (*ret)->hex);
        for (int i = 3; i <= 16; i++)
                add->ops->set_int(add, i, 0);
        return statement_run(add);
}

static void take_header(const struct upload_header *header, struct known_client *client)
{
        if (header->first < client->first_of_header)
                return;
        client->changed |= strcmp(client->os, header->os) != 0 || strcmp(client->model, header->model) != 0;
        client->first_of_header = header->first;
        set_texts(client, header->os, header->model);
}

/*
 * Makes a line "NUMBER VERSION" for each app with a version, sorted by number; "" if none has. NULL without
 * memory.
 */
static char *versions_text(const struct upload_header *header)
{
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);

        if (!file)
                return NULL;
        for (size_t i = 0; i < header->n_apps; i++)
                if (header->apps[i].version)
                        fprintf(file, "%lld %s\n", (long long)name_hash_number(header->apps[i].name),
                                header->apps[i].version);
        if (fclose(file) != 0) {
                free(text);
                return NULL;
        }
        return text;
}

static int add_context(struct writer *writer, const struct upload_header *header, struct known_client *client)
{
        struct statement *add = writer->add_context;
        _cleanup_free_ char *versions = versions_text(header), *all = NULL;

        if (!versions || asprintf(&all, "%s\n%s\n%s\n%s", header->os, header->model,
                                  header->features ? header->features : "", versions) < 0)
                return -ENOMEM;
        client->context = name_hash_number_of("joulecast-context:", all);
        add->ops->set_int(add, 1, client->id);
        add->ops->set_int(add, 2, client->context);
        add->ops->set_text(add, 3, *header->os ? header->os : NULL);
        add->ops->set_text(add, 4, *header->model ? header->model : NULL);
        add->ops->set_text(add, 5, header->features);
        add->ops->set_text(add, 6, *versions ? versions : NULL);
        return statement_run(add);
}

int writer_client(struct writer *writer, const struct upload_header *header, struct known_client **ret)
{
        int err = find_or_make(writer, header->client, ret);

        if (err < 0)
                return err;
        take_header(header, *ret);
        return add_context(writer, header, *ret);
}

struct used_app {
        int64_t app, own_mj;
        uint32_t index; /* index in the header */
};

static int compare_used(const void *a, const void *b)
{
        const struct used_app *x = a, *y = b;

        return x->app < y->app ? -1 : x->app > y->app;
}

/* Two entries of one ID, or two IDs with the same name, are one app. */
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
        struct statement *add = writer->add_app;
        struct known_app *known;
        bool named = !name_hash_is(app->name);

        if (app->number)
                return 0;
        app->number = name_hash_number(app->name);
        HASH_FIND(hh, writer->apps, &app->number, sizeof(app->number), known);
        if (known && (known->named || !named))
                return 0;
        if (!known) {
                known = calloc(1, sizeof(*known));
                if (!known)
                        return -ENOMEM;
                known->id = app->number;
                HASH_ADD(hh, writer->apps, id, sizeof(known->id), known);
                if (!HASH_HAS(known)) {
                        free(known);
                        return -ENOMEM;
                }
        }
        known->named = named;
        add->ops->set_int(add, 1, app->number);
        add->ops->set_text(add, 2, app->name);
        return statement_run(add);
}

/* Makes pairs of app and component, and energy. */
static size_t find_parts(const struct upload_sample *sample, const struct used_app *used, size_t n, int64_t *pairs)
{
        size_t n_pairs = 0;

        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < sample->n_parts; j++)
                        if (sample->parts[j].app == used[i].index) {
                                pairs[n_pairs++] = (int64_t)i * 256 + sample->parts[j].component;
                                pairs[n_pairs++] = sample->parts[j].mj;
                        }
        return n_pairs;
}

static int insert_sample(struct writer *writer, const struct known_client *client, int64_t seq,
                         const struct upload_sample *sample,
                         const struct used_app *used, size_t n)
{
        struct statement *add = writer->add_sample;
        int64_t apps[UPLOAD_SAMPLE_APPS], own[UPLOAD_SAMPLE_APPS], pairs[2 * UPLOAD_SAMPLE_PARTS];
        size_t n_pairs = find_parts(sample, used, n, pairs);

        for (size_t i = 0; i < n; i++) {
                apps[i] = used[i].app;
                own[i] = used[i].own_mj;
        }
        add->ops->set_int(add, 1, client->id);
        add->ops->set_int(add, 2, seq);
        add->ops->set_int(add, 3, client->context);
        add->ops->set_int(add, 4, sample->t_ns);
        add->ops->set_int(add, 5, sample->t2_ns);
        add->ops->set_int(add, 6, sample->level_ppm);
        add->ops->set_int(add, 7, sample->level2_ppm);
        add->ops->set_blob(add, 8, apps, n * sizeof(*apps));
        add->ops->set_blob(add, 9, sample->n_own ? own : NULL, n * sizeof(*own));
        add->ops->set_blob(add, 10, n_pairs ? pairs : NULL, n_pairs * sizeof(*pairs));
        add->ops->set_int(add, 11, sample->asleep);
        return statement_run(add);
}

int writer_add(struct writer *writer, struct known_client *client, int64_t seq, struct upload_header *header,
               const struct upload_sample *sample)
{
        struct used_app used[UPLOAD_SAMPLE_APPS];
        int rc = 0;

        for (size_t i = 0; i < sample->n_apps; i++) {
                rc = number_app(writer, &header->apps[sample->apps[i]]);
                if (rc < 0)
                        return rc;
                used[i] = (struct used_app){ header->apps[sample->apps[i]].number, -1, sample->apps[i] };
                for (size_t j = 0; j < sample->n_own; j++)
                        if (sample->own[j].app == sample->apps[i])
                                used[i].own_mj = MAX(used[i].own_mj, sample->own[j].mj);
        }
        client->next_seq = MAX(client->next_seq, seq + 1);
        client->changed = true;
        writer->buffered++;
        return insert_sample(writer, client, seq, sample, used, merge_used(used, sample->n_apps));
}

int writer_flush(struct writer *writer, uint64_t *added, uint64_t *known)
{
        int64_t new = 0, names = 0, contexts = 0;
        int err = writer->add_client->ops->flush(writer->add_client, NULL);

        if (!err)
                err = writer->add_app->ops->flush(writer->add_app, &names);
        if (!err)
                err = writer->add_context->ops->flush(writer->add_context, &contexts);
        if (!err)
                err = writer->add_sample->ops->flush(writer->add_sample, &new);
        if (err < 0)
                return err;
        writer->names += names;
        writer->contexts += contexts;
        *added += (uint64_t)new;
        *known += writer->buffered - (uint64_t)new;
        writer->buffered = 0;
        return 0;
}
