/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One node of the tree of report-why.c: the effects of an app on some clients in some contexts, and the feature with
 * value by which they differ most.
 */

#include "report-features.h"

struct feature {
        const char *key, *value; /* interned strings: equal ones are the same pointer */
        bool not;                /* any other value */
};

/*
 * Sums over clients of their weight w, of e = w times the effect, of their squares, and of their product; and of w
 * times the rate without the app.
 */
struct moments {
        double clients, w, e, ww, ee, we, b;
};

/* Sums of a node for one feature and value. */
struct tally {
        size_t node;             /* the node that these sums belong to */
        struct moments there;    /* clients' part with this value */
        struct moments else_too; /* clients with this value: their part with other values of the feature */
        struct moments in_all;   /* the same clients: their part with any value of the feature */
        size_t items;            /* items of the client being added; w, e and b: their sums */
        double w, e, b;
};

/* Effect on a client in one context. */
struct item {
        uint32_t client;
        const struct context *context;
        const struct place *version; /* version of the app; NULL: unknown */
        double weight, effect;
        double without; /* mean rate without the app where features are equal, relative to the client's mean */
};

/* Sum of a cell's rates without the effects of other apps. */
struct cell_sum {
        double s;
        bool with; /* was the app in use? */
};

/* State of one thread, for the app that it processes. The items of a client are adjacent. */
struct why {
        const struct features *features;
        const struct joint *joint;
        struct report *report;
        struct cell_sum *sums;  /* one for each cell of the client being added */
        struct item *items;
        size_t n_items, items_capacity, sums_capacity;
        struct tally *tallies;  /* by index of the feature and value */
        size_t node;            /* number of nodes summed so far */
        struct moments all;     /* sums of the present node */
        const struct place **seen, **own; /* entries that occur in the node, and with the client being added */
        size_t n_seen, n_own, seen_capacity, own_capacity;
};

/* Mean effect of a node and its variance; each client is one observation. */
struct node {
        /* equal: effective number of clients, the number of equal weights with the same variance */
        double effect, variance, clients, equal;
        double without; /* mean rate without the app */
};

struct split {
        struct feature feature;
        struct node there, elsewhere;
};

/* The item's value of a feature; NULL: it has none. */
const struct place *split_place(const struct why *why, const struct item *item, const char *key);
struct tally *split_tally(const struct why *why, const struct place *place);
struct node split_node(const struct moments *sums);
/*
 * Sums up the items @inside, and lists their features with values in `seen`, sorted by name. Returns 0 or -ENOMEM.
 */
int split_sum(struct why *why, const bool *inside);
/* Finds the largest significant difference. Returns 1; 0: there is none; -ENOMEM. */
int split_find(struct why *why, const bool *inside, struct split *ret);
