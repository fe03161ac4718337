/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <errno.h>

#include "card-folder.h"
#include "export.h"
#include "forget.h"
#include "serve.h"
#include "util/util.h"

#define REPORT_RETRY_S 60

/* Finds the client of a token. Returns 1; 0: there is none. */
static int find_client(struct database *database, const char *token, char hex[UPLOAD_CLIENT_DIGITS + 1],
                       bool *quarantined)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(database, "SELECT hex, quarantined FROM client WHERE token = $1", &select);

        if (rc < 0)
                return rc;
        select->ops->set_text(select, 1, token);
        rc = select->ops->step(select);
        if (rc == 1) {
                snprintf(hex, UPLOAD_CLIENT_DIGITS + 1, "%s", select->ops->get_text(select, 0));
                *quarantined = select->ops->get_int(select, 1) != 0;
        }
        return rc;
}

static int get(struct database *database, const char *hex, struct answer *ret)
{
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        int err = file ? export_client(database, hex, file) : -ENOMEM;

        if (file && fclose(file) != 0)
                err = -ENOMEM;
        if (err == -ENOENT) {
                err = 0;
                answer_error(ret, 404, "no samples of this client are kept");
        } else if (!err) {
                *ret = (struct answer){ .status = 200, .body = TAKE_PTR(text), .type = "application/x-ndjson" };
        }
        free(text);
        return err;
}

static int delete(struct database *database, const char *profiles, const char *hex, struct answer *ret)
{
        struct forgotten forgotten;
        cJSON *object, *counts;
        int err = card_folder_forget(profiles, hex);

        if (err >= 0)
                err = refresh_pending(database, hex); /* it counts the client's apps */
        if (!err)
                err = database_run(database, database->ops->begin_write);
        if (!err)
                err = forget_client(database, hex, &forgotten);
        if (err >= 0)
                err = database_run(database, "COMMIT");
        if (err < 0)
                return err;
        object = cJSON_CreateObject();
        if (object && cJSON_AddStringToObject(object, "client", hex)) {
                counts = cJSON_AddObjectToObject(object, "forgotten");
                (void)cJSON_AddNumberToObject(counts, "samples", (double)forgotten.samples);
                (void)cJSON_AddNumberToObject(counts, "apps", (double)forgotten.apps);
        }
        answer_json(ret, object);
        return 0;
}

static int answer_with(struct server *server, struct database *database, enum me_request request, const char *token,
                       const char *body, struct answer *ret)
{
        char hex[UPLOAD_CLIENT_DIGITS + 1];
        bool quarantined = false;
        int rc = find_client(database, token, hex, &quarantined);

        if (rc < 0)
                return rc;
        if (rc == 0) {
                answer_error(ret, 404, "nothing is kept of a client with this token");
                return 0;
        }
        if (!limits_take(server->receiver.limits, "client", token, RECEIVE_CLIENT_HOUR)) {
                answer_error(ret, 429, "this client asks too often; try again in an hour");
                ret->retry_s = 3600;
                return 0;
        }
        if (quarantined && (request == ME_REPORT || request == ME_PROFILE)) {
                answer_error(ret, 403, "this client is in quarantine; ask whoever runs the server");
                return 0;
        }
        switch (request) {
        case ME_GET:
                return get(database, hex, ret);
        case ME_DELETE:
                return delete(database, server->profiles, hex, ret);
        case ME_PROFILE:
                return profile_take(server->profiles, database, hex, body, ret);
        case ME_REPORT:
                if (shared_report_answer(server->report, hex, ret) < 0) {
                        answer_error(ret, 503, "there is no report yet");
                        ret->retry_s = REPORT_RETRY_S;
                }
        }
        return 0;
}

void me_answer(struct server *server, enum me_request request, const char *token, const char *body, struct answer *ret)
{
        struct pool_place *place;
        int err;

        err = pool_take(server->receiver.pool, 0, &place);
        if (!err) {
                err = answer_with(server, place->database, request, token, body, ret);
                pool_give(server->receiver.pool, place, err < 0);
        }
        if (err < 0)
                answer_unavailable(ret);
}
