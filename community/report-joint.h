/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* All rates in which apps were in use that were called hogs, or asked for; and the effects of these apps on each other. */

#include "report.h"

/* One rate, and which of these apps (by rank) were in use: those from `first` to the next rate's. */
struct one_rate {
        int64_t context;
        int32_t rate;
        uint32_t first;
};

/* A client that has an app. */
struct one_use {
        uint32_t rank, client;
};

struct joint {
        struct report *report;
        size_t n;               /* apps */
        size_t *apps;           /* in report->apps, by name */
        int64_t *logs;          /* 1e6 * ln of the factor of each */
        uint32_t *pairs;        /* n * n: rates with both */
        int32_t *rank_of;       /* of apps in report->apps; -1: none of these */

        struct one_rate *rates;
        size_t n_rates, rates_capacity;
        uint16_t *ranks;
        size_t n_ranks, ranks_capacity;
        size_t *clients;        /* where each client's rates begin, and the end */
        int64_t *ids;           /* of them, ascending */
        size_t n_clients, clients_capacity, ids_capacity;
        struct one_use *uses;   /* by rank */
        size_t n_uses, uses_capacity;
        int32_t *room;
        size_t room_capacity;
};

void joint_clear(struct joint *joint);

/**
 * report_joint() - new drops for the hogs of a report, without what other hogs beside them do
 * @joint: gets the rates, for report_why(); empty if there are no such apps
 */
int report_joint(struct database *database, int64_t limit, struct report *report, struct joint *joint);

/* Where the clients of an app begin in joint->uses; joint->n_uses: it has none. */
size_t joint_uses(const struct joint *joint, size_t rank);
/* A rate without the effects of other apps than the one of @rank; was that in use? */
double joint_rate(const struct joint *joint, size_t rate, size_t rank, bool *with);

/* report-why.c: what the effects of these apps depend on, and those of their versions. */
int report_why(struct database *database, const struct joint *joint, struct report *report);
/* report-app.c: rates with the app that was asked for, and without it. */
int report_distributions(const struct joint *joint, struct report *report);
