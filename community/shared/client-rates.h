/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The rates and the own energy of apps of one client, packed: all that a report needs of its samples. Like
 * client-sums.h, it is a function of the set of the client's samples.
 *
 * Packed: how many apps there are; of each, its number (8 bytes, little-endian), the time of its rates in ms,
 * and how many samples have its own energy; if any has, their time in ms and that energy in mJ, how many
 * components have some of it, and of each, ascending, its number and that part in mJ. Then how many contexts,
 * and the number of each (8 bytes); 1 if the gauge is coarse, or 0; how many rates; of each, by the time of day (UTC: a
 * device compares its own hours), the rate, its low and high (of coarse gauges only), the index of its context, and a
 * bit for each app. What has no size here has 7 bits a byte, the lowest first.
 */

#include "client-sums.h"
#include "drop.h"

struct client_rate {
        int32_t rate;
        int32_t low, high;   /* range of the rate for a coarse gauge */
        uint32_t context;    /* index in client_rates.contexts */
        uint32_t stratum;    /* set by client_rates_stratify() */
        float span;          /* its weight: 1 or, for a coarse gauge, its time in mean times */
        const uint8_t *apps; /* a bit for each of client_rates.apps, the lowest first; in the packed bytes */
};

/* Sums of an app's rates within one stratum, and what they amount to over all strata. */
struct app_tally {
        double n, s;                      /* in the present stratum */
        double weight, more;              /* sums over strata of w, and of w (a - b) */
        double all_n, all_s;
};

struct client_rates {
        /* by number: app, ms, and what begins with own_ or part_; the others are 0 until client_rates_sum() */
        struct app_sums *apps;
        struct app_tally *tallies; /* one for each app, for client_rates_sum() */
        struct drop_use *uses;     /* one for each app, after client_rates_sum() */
        double *errors;            /* standard error of each use's difference, relative to the mean rate */
        int64_t *contexts;   /* ascending */
        struct client_rate *list;
        size_t n_apps, n_contexts, n;
        bool coarse;
        double mean;               /* mean rate */
        size_t apps_capacity, contexts_capacity, list_capacity, tallies_capacity, uses_capacity, errors_capacity;
};

/**
 * client_rates_pack() - the packed rates of a client
 * @samples: those that client_sums_make() left
 * @sums:    what it made of them
 * @ret:     gets the bytes; free them
 *
 * Return: 0; -ENOMEM.
 */
int client_rates_pack(const struct rate_sample *samples, const struct client_sums *sums, uint8_t **ret,
                      size_t *ret_length);

/**
 * client_rates_read() - unpack
 * @bytes: must stay as long as @rates is used
 * @rates: zeroed, or of an earlier call, whose memory is used again
 *
 * Return: 0; -EBADMSG: these are no packed rates; -ENOMEM.
 */
int client_rates_read(const uint8_t *bytes, size_t length, struct client_rates *rates);
void client_rates_clear(struct client_rates *rates);

/* Sorts the rates by stratum, then by time of day. @strata: of each context. Call it before client_rates_sum(). */
void client_rates_stratify(struct client_rates *rates, const uint32_t *strata);

/*
 * Sets all other sums of the apps, and compares each app's rates with and without it within strata. Call it
 * once. Returns 0 or -ENOMEM.
 */
int client_rates_sum(struct client_rates *rates, int64_t *ret_s1, int64_t *ret_s2);

struct rates_noise {
        double mean, spread; /* mean of the rates, and their squared coefficient of variation */
        double discount;     /* part of its weight that the client keeps */
};

struct rates_noise client_rates_noise(const struct client_rates *rates);
