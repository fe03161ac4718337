/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Rates during which hogs, or the app that was asked for, were in use, and the effects of these apps. */

#include "report.h"

struct strata;

/*
 * Rates of a client in one context with the same of these apps in use: ranks from `first` to `first` of the
 * next cell.
 */
struct cell {
        double s;        /* sum of the rates, each with its span */
        float n;         /* sum of the spans: the number of rates, for a fine gauge */
        float rest;      /* number of all other apps in use, summed likewise */
        uint32_t first;
        uint32_t context : 31; /* index in features.contexts; CELL_NO_CONTEXT: the header is unknown */
        uint32_t begins : 1;   /* it is the first of its stratum */
};
#define CELL_NO_CONTEXT 0x7FFFFFFFU

/* Data read by one thread. */
struct joint_part {
        struct joint *joint;
        const struct features *features;
        struct strata *strata;
        struct cell *cells;      /* with one extra cell that ends the last one's ranks */
        size_t n_cells, cells_capacity;
        uint16_t *ranks;
        size_t n_ranks, ranks_capacity;
        struct one_use *uses;    /* each client's apps, */
        uint16_t *apps;          /* and their ranks */
        size_t n_apps, uses_capacity, apps_capacity;
        /* for each client, two squares of a row of its apps for each of its apps; see struct one_use */
        float *overlaps;
        size_t n_overlaps, overlaps_capacity;
        /* rates of clients that have the app that was asked for, with it and without it in use */
        int32_t *with, *without;
        size_t n_with, n_without, with_capacity, without_capacity;
};

/* Cells of a client: from `first` to `end` in a part; none if the client has none of the apps. */
struct joint_client {
        const struct joint_part *part;
        size_t first_app, n_apps, first_overlap; /* in part->apps, part->uses and part->overlaps */
        double n;            /* number of its rates, by span */
        double mean, discount; /* see struct rates_noise */
        int64_t id;
        size_t first, end;
        /* squares of the number of other apps in use, and its products with the rate, within strata */
        double rest_weight, rest_more;
};

/* Rates are compared with all others of the stratum, and with those that are near in the time of day. */
enum { JOINT_ALL, JOINT_NEAR, JOINT_KINDS };

/* A client that has an app, and the app's place among the client's. */
struct app_use {
        uint32_t client, index;
        float rest; /* as in its struct one_use, for JOINT_ALL: each sweep needs all of them, one after another */
};

/*
 * An app on a client. Its row of the overlaps has the same sums as `more`, where a rate is 1 with the other app
 * and 0 without it: so much of `more` comes from the other app, per unit of its effect.
 */
struct one_use {
        struct use_sums {
                float weight, more; /* see drop_use_of(); relative to the client's mean */
                float rest;         /* like `more`, where a rate is the number of other apps in use */
        } sums[JOINT_KINDS];
        float n, s;         /* rates with the app, by span, and their sum */
        float part;         /* part of a stratum in which the app is compared with near rates, mean by weight */
        bool bug;           /* it has a bug of it, and is not compared */
};

struct rank_slot {
        int64_t app;
        int32_t rank; /* -1: empty */
};

struct joint {
        struct report *report;
        size_t n;               /* number of apps */
        size_t *apps;           /* indices in report->apps, sorted by name */
        double *effects[JOINT_KINDS]; /* by which each app raises the rate, relative to a client's mean */
        struct drop *near;      /* each app, with its hours taken away */
        double rest_effect;     /* likewise, one of the apps that are not in this list, on average */
        uint32_t *pairs;        /* n * n: rates with both apps, in sixteenths */
        size_t *first;          /* the first app that always runs with this one, or itself */
        struct rank_slot *slots; /* hash table of the ranks, by app */
        size_t slots_mask;

        struct joint_part *parts; /* one per thread */
        size_t n_parts;
        struct joint_client *clients; /* ascending by id */
        size_t n_clients;
        struct app_use *uses;   /* by rank, then by client */
        size_t *first_use;      /* by rank, with one extra rank that ends the last one's */
};

void joint_clear(struct joint *joint);

/**
 * report_joint() - compute the hogs' effects anew, without those of other hogs in use at the same time
 * @joint: gets the rates, for report_why(); empty if there are no such apps
 */
int report_joint(struct database *database, const struct features *features, int64_t limit, struct report *report,
                 struct joint *joint);

/* Reads the rates of joint->apps into its parts, clients and uses. 0; a negative errno. */
int joint_read(struct database *database, const struct features *features, int64_t limit, struct joint *joint);

/* An app's rank; -1: it is none of the joint's. */
int32_t joint_rank(const struct joint *joint, int64_t app);
const struct one_use *joint_use(const struct joint *joint, const struct app_use *use);
/* Sum of a cell's rates without the effects of other apps than that of @rank. @with: was that app in use? */
double joint_sum(const struct joint_client *client, size_t cell, size_t rank, bool *with);

/* report-why.c: finds the features on which the effects depend, and the effect of each version. */
int report_why(struct database *database, struct features *features, const struct joint *joint,
               struct report *report);
/* report-app.c: sorted rates with and without the app that was asked for. */
int report_distributions(const struct joint *joint, struct report *report);
