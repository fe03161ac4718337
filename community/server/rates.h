/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Reads the packed rates of all clients that are not excluded.
 *
 * One thread reads rows, because one connection sees one state of the database. All threads unpack the rates
 * and work on them.
 */

#include "shared/client-rates.h"
#include "database.h"

struct rates {
        struct database *database;
        int64_t *clients; /* ids of included clients, ascending */
        size_t n;
        int64_t wanted;   /* total number of samples of all clients */
};

/**
 * rates_open() - list the clients to include
 * @limit:  clients whose mean rate is above this are excluded
 * @wanted: total number of samples of all clients
 *
 * Return: 0; a negative errno. The log has a sentence, unless it is -ENOMEM.
 */
int rates_open(struct database *database, int64_t limit, int64_t wanted, struct rates *ret);
void rates_close(struct rates *rates);

/*
 * Processes one client. @client is an index in rates.clients; the thread may change @rates until it returns.
 */
typedef int (*rates_use)(void *state, size_t client, struct client_rates *rates);

/**
 * rates_each() - read all clients, in any order
 * @states: one per thread; a state is never used by two calls of @use at a time
 *
 * Return: 0: all were read; a negative errno. The log has a sentence, unless it is -ENOMEM.
 */
int rates_each(const struct rates *rates, rates_use use, void *const *states, size_t n_states);
