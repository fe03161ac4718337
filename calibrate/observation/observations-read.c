/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads runs and observations. */

#include "model/json-print.h"
#include "observations-private.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "util/util.h"

static int read_run(sqlite3_stmt *statement, struct observation_run *run)
{
        const char *description = (const char *)sqlite3_column_text(statement, RUN_FIELDS);

        observations_read_fields(statement, run_fields, RUN_FIELDS, run);
        run->description = strdup(description ? description : "");
        return run->description ? 0 : -ENOMEM;
}

void observations_free_runs(struct observation_run *runs, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(runs[i].description);
        free(runs);
}

/* A run without observations (refused or broken off) does not count. */
int observations_runs(struct observations *observations, struct observation_run **ret, size_t *n)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        struct observation_run *runs = NULL;
        size_t n_runs = 0, capacity = 0;
        int code, err = observations_prepare_fields(observations, "SELECT ", run_fields, RUN_FIELDS,
                                                    "description FROM run"
                                                    " WHERE id IN (SELECT run FROM observation) ORDER BY id",
                                                    &statement);

        if (err)
                return err;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
                err = util_grow(&runs, &capacity, n_runs + 1, sizeof(*runs));
                if (!err)
                        err = read_run(statement, &runs[n_runs]);
                if (err)
                        break;
                n_runs++;
        }
        if (!err)
                err = observations_complain(observations, code, "be read");
        if (err) {
                observations_free_runs(runs, n_runs);
                return err;
        }
        *ret = runs;
        *n = n_runs;
        return 0;
}

static int read_observation(sqlite3_stmt *statement, struct observation *observation)
{
        const char *method = (const char *)sqlite3_column_text(statement, OBSERVATION_FIELDS);
        const char *usage = (const char *)sqlite3_column_text(statement, OBSERVATION_FIELDS + 1);
        cJSON *json = cJSON_Parse(usage ? usage : "");
        int err;

        *observation = (struct observation){ 0 };
        err = json_failed() ? -ENOMEM : usage_from_json(json, &observation->usage);
        cJSON_Delete(json);
        observations_read_fields(statement, observation_fields, OBSERVATION_FIELDS, observation);
        return err ? err : observation_method_from_name(method, &observation->method);
}

void observations_free(struct observation *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                observation_clear(&list[i]);
        free(list);
}

int observations_read(struct observations *observations, int64_t run, struct observation **ret, size_t *n)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        struct observation *list = NULL;
        size_t n_list = 0, capacity = 0;
        int code, err = observations_prepare_fields(observations, "SELECT ", observation_fields,
                                                    OBSERVATION_FIELDS,
                                                    "method, usage FROM observation WHERE run = :run"
                                                    " ORDER BY sequence", &statement);

        if (err)
                return err;
        sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, ":run"), run);
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
                err = util_grow(&list, &capacity, n_list + 1, sizeof(*list));
                if (err)
                        break;
                err = read_observation(statement, &list[n_list++]);
                if (err == -EINVAL)
                        log_error(observations->log,
                                  "%s: observation %lld is damaged; name another file, or delete "
                                  "that row with sqlite3",
                                  observations->path, (long long)sqlite3_column_int64(statement, 0));
                if (err)
                        break;
        }
        if (!err)
                err = observations_complain(observations, code, "be read");
        if (err) {
                observations_free(list, n_list);
                return err;
        }
        *ret = list;
        *n = n_list;
        return 0;
}
