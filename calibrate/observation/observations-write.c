/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes runs and observations, each in a transaction. */

#include "model/json-print.h"
#include "observations-private.h"

#include <cjson/cJSON.h>
#include <errno.h>

#include "util/util.h"

int observations_start(struct observations *observations, struct observation_run *run)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        int err = observations_prepare_fields(observations, "INSERT INTO run (", run_fields, RUN_FIELDS,
                                              "description) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                              &statement);

        if (err)
                return err;
        observations_bind_fields(statement, run_fields, RUN_FIELDS, run);
        sqlite3_bind_text(statement, RUN_FIELDS + 1, run->description, -1, SQLITE_STATIC);
        err = observations_complain(observations, sqlite3_step(statement), "be written");
        if (err)
                return err;
        run->id = sqlite3_last_insert_rowid(observations->db);
        return 0;
}

int observations_append(struct observations *observations, struct observation *observation)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        _cleanup_free_ char *usage = json_print(usage_to_json(&observation->usage), JSON_LINE);
        int err = usage ? 0 : -ENOMEM;

        if (!err)
                err = observations_prepare_fields(observations, "INSERT INTO observation (",
                                                  observation_fields, OBSERVATION_FIELDS,
                                                  "method, usage) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                                                  "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                                  &statement);
        if (err)
                return err;
        observations_bind_fields(statement, observation_fields, OBSERVATION_FIELDS, observation);
        sqlite3_bind_text(statement, OBSERVATION_FIELDS + 1,
                          observation_method_names[observation->method], -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, OBSERVATION_FIELDS + 2, usage, -1, SQLITE_STATIC);
        err = observations_complain(observations, sqlite3_step(statement), "be written");
        if (err)
                return err;
        observation->id = sqlite3_last_insert_rowid(observations->db);
        return 0;
}

int observations_finish(struct observations *observations, int64_t run)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        int err = observations_prepare(observations, "UPDATE run SET finished = 1 WHERE id = :run",
                                       &statement);

        if (err)
                return err;
        sqlite3_bind_int64(statement, 1, run);
        return observations_complain(observations, sqlite3_step(statement), "be written");
}
