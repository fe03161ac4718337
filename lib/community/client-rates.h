/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The rates and the own energy of apps of one client, packed: all that a report needs of its samples. Like
 * client-sums.h, it is a function of the set of the client's samples.
 *
 * Packed: how many apps there are; of each, its number (8 bytes, little-endian), the time of its rates in ms, and how many
 * samples have its own energy; if any has, their time in ms and that energy in mJ, how many components have some of it, and of
 * each, ascending, its number and that part in mJ. Then how many contexts, and the number of each (8 bytes); 1 if the gauge is
 * coarse, or 0; how many rates; of each, the rate, its low and high (of coarse gauges only), the index of its context, and a
 * bit for each app. What has no size here has 7 bits a byte, the lowest first.
 */

#include "client-sums.h"

struct client_rate {
        int32_t rate;
        int32_t low, high;   /* of a coarse gauge: within these */
        uint32_t context;    /* index in client_rates.contexts */
        const uint8_t *apps; /* a bit for each of client_rates.apps, the lowest first; in the packed bytes */
};

struct client_rates {
        /* by number: app, ms, and what begins with own_ or part_; the others are 0 until client_rates_sum() */
        struct app_sums *apps;
        int64_t *contexts;   /* ascending */
        struct client_rate *list;
        size_t n_apps, n_contexts, n;
        bool coarse;
        size_t apps_capacity, contexts_capacity, list_capacity;
};

/**
 * client_rates_pack() - the packed rates of a client
 * @samples: those that client_sums_make() left
 * @sums:    what it made of them
 * @ret:     gets the bytes; free them
 *
 * Return: 0; -ENOMEM.
 */
int client_rates_pack(const struct rate_sample *samples, const struct client_sums *sums, uint8_t **ret, size_t *ret_length);

/**
 * client_rates_read() - unpack
 * @bytes: must stay as long as @rates is used
 * @rates: zeroed, or of an earlier call, whose memory is used again
 *
 * Return: 0; -EBADMSG: these are no packed rates; -ENOMEM.
 */
int client_rates_read(const uint8_t *bytes, size_t length, struct client_rates *rates);
void client_rates_clear(struct client_rates *rates);

/* Sets all other sums of the apps, and gives those of all rates. Call it once. */
void client_rates_sum(struct client_rates *rates, int64_t *ret_s1, int64_t *ret_s2);

/* The sum of rates of a coarse gauge: of each, the mean of everybody's in its range, if there are any. */
int64_t client_rates_slice(const struct client_rate *list, size_t n, const struct prior *prior);
