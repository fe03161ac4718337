/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shared/name-hash.h"
#include "export.h"
#include "samples.h"
#include "util/util.h"

struct exported {
        struct database *database;
        const char *hex;
        struct client_samples samples;
        int64_t *apps; /* all app ids, ascending; the index is the ID in the export */
        size_t n_apps;
        cJSON *names;  /* names by that ID */
        FILE *file;
};

static int compare_ids(const void *a, const void *b)
{
        int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

        return x < y ? -1 : x > y;
}

static size_t id_of(const struct exported *exported, int64_t app)
{
        const int64_t *found = bsearch(&app, exported->apps, exported->n_apps, sizeof(app), compare_ids);

        return (size_t)(found - exported->apps);
}

static int find_apps(struct exported *exported)
{
        size_t n = exported->samples.n_apps, kept = 0;

        exported->apps = malloc((n + 1) * sizeof(*exported->apps));
        if (!exported->apps)
                return -ENOMEM;
        if (n) {
                memcpy(exported->apps, exported->samples.apps, n * sizeof(*exported->apps));
                qsort(exported->apps, n, sizeof(*exported->apps), compare_ids);
        }
        for (size_t i = 0; i < n; i++)
                if (!kept || exported->apps[kept - 1] != exported->apps[i])
                        exported->apps[kept++] = exported->apps[i];
        exported->n_apps = kept;
        return 0;
}

static int find_names(struct exported *exported)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(exported->database, "SELECT name FROM app WHERE id = $1", &select);

        exported->names = cJSON_CreateObject();
        if (!exported->names)
                return -ENOMEM;
        for (size_t i = 0; rc >= 0 && i < exported->n_apps; i++) {
                char key[24];

                snprintf(key, sizeof(key), "%zu", i);
                select->ops->set_int(select, 1, exported->apps[i]);
                rc = select->ops->step(select);
                if (rc < 0)
                        break;
                if (!cJSON_AddStringToObject(exported->names, key, rc == 1 ? select->ops->get_text(select, 0) : "?"))
                        rc = -ENOMEM;
                select->ops->reset(select);
        }
        return rc < 0 ? rc : 0;
}

/* Converts "NUMBER VERSION" lines to {"ID":"version"}. */
static cJSON *versions_of(const struct exported *exported, const char *text)
{
        cJSON *object = cJSON_CreateObject();

        while (object && text && *text) {
                char *end, key[24], version[128];
                int64_t app = strtoll(text, &end, 10);
                size_t length = strcspn(end, "\n"), id = id_of(exported, app);

                if (bsearch(&app, exported->apps, exported->n_apps, sizeof(app), compare_ids)) {
                        snprintf(key, sizeof(key), "%zu", id);
                        snprintf(version, sizeof(version), "%.*s", (int)length - 1, end + 1);
                        (void)cJSON_AddStringToObject(object, key, version);
                }
                text = end + length + (end[length] == '\n');
        }
        return object;
}

static int write_header(struct exported *exported, const struct rate_sample *sample, struct statement *select)
{
        cJSON *header = cJSON_CreateObject();
        char *text = NULL;
        int rc;

        select->ops->set_int(select, 1, exported->samples.client);
        select->ops->set_int(select, 2, sample->context);
        rc = select->ops->step(select);
        if (header && rc == 1) {
                const char *os = select->ops->get_text(select, 0), *model = select->ops->get_text(select, 1);
                const char *features = select->ops->get_text(select, 2), *versions = select->ops->get_text(select, 3);
                bool fine = cJSON_AddNumberToObject(header, "v", 1) &&
                            cJSON_AddStringToObject(header, "client", exported->hex) &&
                            cJSON_AddNumberToObject(header, "first", (double)sample->seq);

                if (fine && os)
                        fine = cJSON_AddStringToObject(header, "os", os) != NULL;
                if (fine && model)
                        fine = cJSON_AddStringToObject(header, "model", model) != NULL;
                if (fine && features)
                        fine = cJSON_AddRawToObject(header, "features", features) != NULL;
                if (fine && versions)
                        fine = cJSON_AddItemToObject(header, "versions", versions_of(exported, versions));
                if (fine && cJSON_AddItemReferenceToObject(header, "apps", exported->names))
                        text = cJSON_PrintUnformatted(header);
        }
        select->ops->reset(select);
        cJSON_Delete(header);
        if (rc < 0 || !text)
                return rc < 0 ? rc : rc == 0 ? -EUCLEAN : -ENOMEM;
        fprintf(exported->file, "%s\n", text);
        free(text);
        return 0;
}

/* Writes the components of an app's energy, if there are any. */
static void write_parts(const struct exported *exported, const struct rate_sample *sample, size_t app, bool *first)
{
        bool any = false;

        for (size_t i = 0; i < sample->n_parts; i++) {
                int64_t key = sample->parts[2 * i];

                if (key / 256 != (int64_t)app || key % 256 >= COMPONENT_COUNT)
                        continue;
                if (!any)
                        fprintf(exported->file, "%s\"%zu\":{", *first ? "" : ",", id_of(exported, sample->apps[app]));
                fprintf(exported->file, "%s\"%s\":%" PRId64, any ? "," : "", component_names[key % 256],
                        sample->parts[2 * i + 1]);
                any = true;
                *first = false;
        }
        if (any)
                putc('}', exported->file);
}

static void write_sample(const struct exported *exported, const struct rate_sample *sample)
{
        FILE *file = exported->file;
        bool any = false, first = true;

        fprintf(file, "{\"t\":%" PRId64 ",\"t2\":%" PRId64 ",\"level_ppm\":%" PRId32 ",\"level2_ppm\":%" PRId32,
                sample->t_ns, sample->t2_ns, sample->level_ppm, sample->level2_ppm);
        if (sample->asleep) {
                fputs(",\"asleep\":true}\n", file);
                return;
        }
        fputs(",\"apps\":[", file);
        for (size_t i = 0; i < sample->n_apps; i++)
                fprintf(file, "%s%zu", i ? "," : "", id_of(exported, sample->apps[i]));
        fputs("],\"own_mj\":{", file);
        for (size_t i = 0; i < sample->n_apps; i++)
                if (sample->own_mj[i] >= 0) {
                        fprintf(file, "%s\"%zu\":%" PRId64, any ? "," : "", id_of(exported, sample->apps[i]),
                                sample->own_mj[i]);
                        any = true;
                }
        fputs("},\"parts_mj\":{", file);
        for (size_t i = 0; i < sample->n_apps; i++)
                write_parts(exported, sample, i, &first);
        fputs("}}\n", file);
}

static int compare_seq(const void *a, const void *b)
{
        const struct rate_sample *x = a, *y = b;

        return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int write_all(struct exported *exported)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        struct rate_sample *list = exported->samples.list;
        int err = database_prepare(exported->database,
                                   "SELECT os, model, features, versions FROM context WHERE client = $1 AND id = $2",
                                   &select);

        if (exported->samples.n)
                qsort(list, exported->samples.n, sizeof(*list), compare_seq);
        for (size_t i = 0; !err && i < exported->samples.n; i++) {
                if (i == 0 || list[i].context != list[i - 1].context || list[i].seq != list[i - 1].seq + 1)
                        err = write_header(exported, &list[i], select);
                if (!err)
                        write_sample(exported, &list[i]);
        }
        return err;
}

int export_client(struct database *database, const char *hex, FILE *file)
{
        struct exported exported = { .database = database, .hex = hex, .file = file };
        int err = client_samples_open(database, &exported.samples);

        if (!err)
                err = client_samples_read(&exported.samples, name_hash_client(hex));
        if (!err)
                err = exported.samples.n ? find_apps(&exported) : -ENOENT;
        if (!err)
                err = find_names(&exported);
        if (!err)
                err = write_all(&exported);
        client_samples_close(&exported.samples);
        free(exported.apps);
        cJSON_Delete(exported.names);
        return err ? err : ferror(file) ? -ENOMEM : 0;
}
