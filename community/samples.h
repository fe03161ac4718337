/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Samples out of the database, for client-sums.h. */

#include "community/client-sums.h"
#include "database.h"

struct client_samples {
        struct statement *select;
        int64_t client;       /* whose samples these are */
        struct rate_sample *list;
        size_t n, capacity;
        int64_t *apps, *own, *parts; /* of all of them */
        size_t n_apps, n_parts, apps_capacity, own_capacity, parts_capacity;
};

int client_samples_open(struct database *database, struct client_samples *ret);
void client_samples_close(struct client_samples *samples);
/* All samples of a client, in `list`; until the next call. */
int client_samples_read(struct client_samples *samples, int64_t client);
