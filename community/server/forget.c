/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>

#include "shared/name-hash.h"
#include "forget.h"
#include "util/util.h"

static int delete_from(struct database *database, const char *table, const char *column, int64_t client, int64_t *count)
{
        _cleanup_(statement_freep) struct statement *delete = NULL;
        _cleanup_free_ char *sql = NULL;
        int err;

        if (asprintf(&sql, "DELETE FROM %s WHERE %s = $1", table, column) < 0)
                return -ENOMEM;
        err = database_prepare(database, sql, &delete);
        if (!err)
                err = statement_run_with(delete, &client, 1);
        if (!err)
                *count = delete->ops->changed(delete);
        return err;
}

int forget_client(struct database *database, const char *hex, struct forgotten *ret)
{
        int64_t client = name_hash_client(hex), ignored, clients = 0;
        struct forgotten forgotten = { .samples = 0 };
        const struct {
                const char *table, *column;
                int64_t *count;
        } all[] = {
                { "sample", "client", &forgotten.samples }, { "client_rate", "client", &ignored },
                { "context", "client", &ignored }, { "pending", "client", &ignored },
                { "joined", "client", &ignored }, { "quota", "client", &ignored },
                { "client", "id", &clients },
        };
        int err = database_number_of(database, "SELECT apps FROM client_rate WHERE client = $1", client,
                                     &forgotten.apps);

        for (size_t i = 0; !err && i < ARRAY_SIZE(all); i++)
                err = delete_from(database, all[i].table, all[i].column, client, all[i].count);
        if (err < 0)
                return err;
        if (ret)
                *ret = forgotten;
        return clients > 0;
}

int forget_quarantine(struct database *database, const char *hex, bool quarantined)
{
        _cleanup_(statement_freep) struct statement *set = NULL;
        const int64_t row[] = { quarantined, name_hash_client(hex) };
        int err = database_prepare(database, "UPDATE client SET quarantined = $1 WHERE id = $2", &set);

        if (!err)
                err = statement_run_with(set, row, 2);
        return err ? err : set->ops->changed(set) > 0;
}
