/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Rates in which apps were in use that were called hogs, or asked for; and the effects of these apps on each other. */

#include "report.h"

/* Rates of a client in one context, in which the same of these apps were in use: by rank, from `first` to the next cell's. */
struct cell {
        int64_t context;
        int64_t s1;      /* their sum */
        uint32_t n;
        uint32_t first;
};

/* What one thread has read. */
struct joint_part {
        struct joint *joint;
        struct cell *cells;      /* one more than there are, for the last's ranks */
        size_t n_cells, cells_capacity;
        uint16_t *ranks;
        size_t n_ranks, ranks_capacity;
        struct one_use *uses;    /* until they are joint.uses */
        size_t n_uses, uses_capacity;
        int32_t *with, *without; /* rates of clients that have the app that was asked for, with it and without */
        size_t n_with, n_without, with_capacity, without_capacity;
};

/* Its cells are those of a part from `first` to `end`; none if it has none of the apps. */
struct joint_client {
        int64_t id;
        const struct joint_part *part;
        size_t first, end;
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
        bool *paired;           /* is any other always with it? */
        int32_t *rank_of;       /* of apps in report->apps; -1: none of these */

        struct joint_part *parts; /* of each thread */
        size_t n_parts;
        struct joint_client *clients; /* ascending */
        size_t n_clients;
        struct one_use *uses;   /* by rank */
        size_t n_uses;
};

void joint_clear(struct joint *joint);

/**
 * report_joint() - new drops for the hogs of a report, without what other hogs beside them do
 * @joint: gets the rates, for report_why(); empty if there are no such apps
 */
int report_joint(struct database *database, int64_t limit, struct report *report, struct joint *joint);

/* Where the clients of an app begin in joint->uses; joint->n_uses: it has none. */
size_t joint_uses(const struct joint *joint, size_t rank);
/* The sum of a cell's rates without the effects of other apps than the one of @rank; was that in use? */
double joint_sum(const struct joint_part *part, size_t cell, size_t rank, bool *with);

/* report-why.c: what the effects of these apps depend on, and those of their versions. */
int report_why(struct database *database, const struct joint *joint, struct report *report);
/* report-app.c: rates with the app that was asked for, and without it; sorts them. */
int report_distributions(const struct joint *joint, struct report *report);
