/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The packed rates of all clients that are believed, out of the database. */

#include "community/client-rates.h"
#include "database.h"

struct rates {
        struct database *database;
        struct statement *select;
        int64_t *clients;         /* who is believed, ascending */
        size_t n, client;         /* client: index of the one that was read */
        struct client_rates list; /* its rates, until the next */
        int64_t samples, wanted;  /* of all clients: those that the rates are made of; how many there have to be */
};

/**
 * rates_open() - begin to read
 * @limit:  rates above it, in the mean of a client, are not believed
 * @wanted: samples that all clients together have
 *
 * Return: 0; a negative errno. The log has a sentence, unless it is -ENOMEM.
 */
int rates_open(struct database *database, int64_t limit, int64_t wanted, struct rates *ret);
/* Those of another client, in any order. 1; 0: there are no more, and all were there; a negative errno. */
int rates_next(struct rates *rates);
void rates_close(struct rates *rates);
