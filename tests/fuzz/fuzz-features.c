/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "fuzz.h"
#include "server/database.h"
#include "server/report-features.h"
#include "server/report.h"
#include "util/util.h"

/*
 * Features and versions as a database has them, which clients sent: os, model, features and versions of one header in
 * four lines, of one client or the next.
 */

#define COLUMNS 4
#define ROWS_MAX 64

struct rows {
        struct statement statement;
        char *texts[ROWS_MAX][COLUMNS]; /* a row has its texts in the order of the columns */
        size_t n, at;
        bool versions; /* it has client, id and versions only */
};

static struct rows rows;

static int step(struct statement *statement)
{
        if (rows.at == rows.n) {
                rows.at = 0;
                return 0;
        }
        rows.at++;
        return 1;
}

static int64_t get_int(struct statement *statement, int i)
{
        size_t row = rows.at - 1;

        return (int64_t)(i == 0 ? row / 16 : row % 16);
}

static const char *get_text(struct statement *statement, int i)
{
        return rows.texts[rows.at - 1][rows.versions ? COLUMNS - 1 : i - 2];
}

static void reset(struct statement *statement)
{
        rows.at = 0;
}

static void free_nothing(struct statement *statement)
{
        rows.at = 0;
}

static int prepare(struct database *database, const char *sql, struct statement **ret)
{
        static const struct statement_ops ops = { .step = step, .get_int = get_int, .get_text = get_text,
                                                  .reset = reset, .free = free_nothing };

        rows.statement = (struct statement){ &ops, database };
        rows.versions = strstr(sql, "versions") != NULL;
        *ret = &rows.statement;
        return 0;
}

/* A line that begins with a 0x01 is NULL; in another one it is the end of a line of versions. */
static char *take_line(char **text)
{
        char *line = strsep(text, "\n");

        if (!line || *line == '\x01')
                return NULL;
        for (char *c = line; *c; c++)
                *c = *c == '\x01' ? '\n' : *c;
        return line;
}

static void check(const struct features *features)
{
        struct strata strata = { .keys = NULL };

        fuzz_assert(features->n_contexts == rows.n);
        for (int64_t client = 0; client < ROWS_MAX / 16; client++) {
                int64_t ids[16];
                struct client_rate list[16] = { { .rate = 0 } };
                struct client_rates rates = { .contexts = ids, .list = list, .n_contexts = 16, .n = 16 };

                for (uint32_t id = 0; id < 16; id++) {
                        ids[id] = id;
                        list[id].context = id;
                }
                fuzz_assert(strata_set(&strata, features, client, &rates) == 0);
                for (size_t i = 0; i < rates.n; i++) {
                        const struct context *context = strata.contexts[i];

                        fuzz_assert(list[i].stratum <= rates.n);
                        fuzz_assert((context != NULL) == (client * 16 + (int64_t)i < (int64_t)rows.n));
                        if (!context)
                                continue;
                        fuzz_assert(context->client == client && context->id == (int64_t)i);
                        for (size_t k = 0; k < context->traits->n; k++)
                                fuzz_assert(strlen(context->traits->places[k]->words.key) <= FEATURE_TEXT_MAX);
                        fuzz_assert(!features_version(features, context, 7));
                }
        }
        strata_clear(&strata);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct database_ops ops = { .prepare = prepare };
        struct database database = { .ops = &ops };
        struct report report = { .clients = 0 };
        struct rank_slot none = { .rank = -1 };
        struct joint joint = { .report = &report, .slots = &none };
        struct features features;
        _cleanup_free_ char *text = strndup((const char *)data, size);
        char *at = text;

        fuzz_assert(text);
        for (rows.n = 0; at && *at && rows.n < ROWS_MAX; rows.n++)
                for (int i = 0; i < COLUMNS; i++)
                        rows.texts[rows.n][i] = take_line(&at);
        fuzz_assert(features_read(&database, &features) == 0);
        fuzz_assert(features_read_versions(&database, &joint, &features) == 0);
        check(&features);
        features_clear(&features);
        return 0;
}
