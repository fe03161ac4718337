/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The packed rates of all clients that are believed, out of the database. One thread reads rows, as one connection has one
 * state of the database; all unpack them, and work on them.
 */

#include "community/client-rates.h"
#include "database.h"

struct rates {
        struct database *database;
        int64_t *clients; /* who is believed, ascending */
        size_t n;
        int64_t wanted;   /* samples that all clients together have */
};

/**
 * rates_open() - who is believed
 * @limit:  rates above it, in the mean of a client, are not
 * @wanted: samples that all clients together have
 *
 * Return: 0; a negative errno. The log has a sentence, unless it is -ENOMEM.
 */
int rates_open(struct database *database, int64_t limit, int64_t wanted, struct rates *ret);
void rates_close(struct rates *rates);

/* What is done with a client: @client is an index in rates.clients, @rates is the thread's to change until the return. */
typedef int (*rates_use)(void *state, size_t client, struct client_rates *rates);

/**
 * rates_each() - read all clients, in any order
 * @states: one for each thread, for which there is never more than one call of @use at a time
 *
 * Return: 0: all were there; a negative errno. The log has a sentence, unless it is -ENOMEM.
 */
int rates_each(const struct rates *rates, rates_use use, void *const *states, size_t n_states);
