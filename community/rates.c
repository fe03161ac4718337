/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <inttypes.h>

#include "rates.h"
#include "util/util.h"

static int compare_client(const void *key, const void *element)
{
        int64_t client = *(const int64_t *)key, other = *(const int64_t *)element;

        return client < other ? -1 : client > other;
}

static int read_clients(struct database *database, int64_t limit, struct rates *rates)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        size_t capacity = 0;
        int rc = database_prepare(database, "SELECT id FROM client WHERE quarantined = 0 AND n > 0 AND s1 <= $1 * n ORDER BY id",
                                  &select);

        if (rc < 0)
                return rc;
        select->ops->set_int(select, 1, limit);
        while ((rc = select->ops->step(select)) == 1) {
                rc = util_grow(&rates->clients, &capacity, rates->n + 1, sizeof(*rates->clients));
                if (rc < 0)
                        return rc;
                rates->clients[rates->n++] = select->ops->get_int(select, 0);
        }
        return rc;
}

int rates_open(struct database *database, int64_t limit, int64_t wanted, struct rates *ret)
{
        int err;

        *ret = (struct rates){ .database = database, .wanted = wanted };
        err = read_clients(database, limit, ret);
        return err ? err : database_prepare(database, "SELECT client, samples, rates FROM client_rate", &ret->select);
}

void rates_close(struct rates *rates)
{
        statement_freep(&rates->select);
        client_rates_clear(&rates->list);
        free(rates->clients);
}

static int damaged(const struct rates *rates)
{
        log_error(rates->database->log, "%s: %" PRId64 " samples of %" PRId64 " are there; the database is damaged",
                  rates->database->name, rates->samples, rates->wanted);
        return -EUCLEAN;
}

static int unpack(struct rates *rates)
{
        const struct statement_ops *ops = rates->select->ops;
        size_t length;
        const void *bytes = ops->get_blob(rates->select, 2, &length);
        int err = client_rates_read(bytes, bytes ? length : 0, &rates->list);

        if (err != -EBADMSG)
                return err ? err : 1;
        log_error(rates->database->log, "%s: the rates of a client are no such; the database is damaged", rates->database->name);
        return -EUCLEAN;
}

int rates_next(struct rates *rates)
{
        const struct statement_ops *ops = rates->select->ops;
        int rc;

        while ((rc = ops->step(rates->select)) == 1) {
                int64_t client = ops->get_int(rates->select, 0);

                rates->samples += ops->get_int(rates->select, 1);
                rates->client = util_lower_bound(&client, rates->clients, rates->n, sizeof(*rates->clients), compare_client);
                if (rates->client < rates->n && rates->clients[rates->client] == client)
                        return unpack(rates);
        }
        return rc < 0 ? rc : rates->samples != rates->wanted ? damaged(rates) : 0;
}
