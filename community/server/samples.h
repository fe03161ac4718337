/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads samples from the database, for client-sums.h. */

#include "shared/client-sums.h"
#include "database.h"

struct client_samples {
        struct statement *select;
        int64_t client;       /* the client of these samples */
        struct rate_sample *list;
        size_t n, capacity;
        int64_t *apps, *own, *parts; /* data of all samples */
        size_t n_apps, n_parts, apps_capacity, own_capacity, parts_capacity;
};

int client_samples_open(struct database *database, struct client_samples *ret);
void client_samples_close(struct client_samples *samples);
/* Reads all samples of a client into `list`, valid until the next call. */
int client_samples_read(struct client_samples *samples, int64_t client);
