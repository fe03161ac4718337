/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Samples out of the database, for client-sums.h. */

#include "community/client-sums.h"
#include "database.h"

struct client_samples {
        struct statement *select;
        int64_t client;       /* whose samples these are */
        bool waiting, finished; /* a row of the next client is there; there is none */
        struct rate_sample *list;
        size_t n, capacity;
        int64_t *apps, *own, *parts; /* of all of them */
        size_t n_apps, n_parts, apps_capacity, own_capacity, parts_capacity;
};

enum client_samples_of {
        CLIENT_SAMPLES_OF_ONE, /* for client_samples_read() */
        CLIENT_SAMPLES_OF_ALL, /* for client_samples_next() */
};

int client_samples_open(struct database *database, enum client_samples_of which, struct client_samples *ret);
void client_samples_close(struct client_samples *samples);
/* All samples of a client, in `list`; until the next call. */
int client_samples_read(struct client_samples *samples, int64_t client);
/* Those of the next client, by number. 1; 0: there is none. */
int client_samples_next(struct client_samples *samples);
