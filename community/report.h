/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What all samples together say. */

#include "community/drop.h"
#include "database.h"

struct app_report {
        int64_t id;
        char *name;
        double clients, rates;
        struct drop drop;
        bool hidden;             /* a hog that another one stands for, because they are always in use together */
        const char **together;   /* names of those */
        size_t n_together;
};

/* An app that takes much more on one client than on others, by its own energy. */
struct bug_report {
        int64_t app, client;
        char *app_name, *client_hex;
        double watts, others_watts;
        size_t clients; /* that it is compared with */
};

#define SCORE_POINTS 5
extern const int score_percent[SCORE_POINTS]; /* 5, 25, 50, 75, 95 */

struct one_client {
        int64_t id, n, s1;
        char model[128]; /* "": unknown */
        bool coarse;
};

struct score_report {
        size_t clients;                 /* with SCORE_RATES_MIN rates */
        struct one_client *list;        /* those, by mean rate */
        double rates[SCORE_POINTS];     /* their mean rate, where the client's battery lasts longer than of so many percent */
        double mean_rate;
};

struct report {
        int64_t clients, samples, rates;
        int64_t overlapping, too_many, fast;  /* samples that are left out */
        int64_t quarantined, extreme;         /* clients that are left out */
        struct app_report *apps;              /* all, by name */
        size_t n_apps, tested, paper_only;    /* paper_only: hogs by the paper's rule alone */
        size_t *hogs, n_hogs;                 /* in apps; by minutes, the most first */
        struct bug_report *bugs;
        size_t n_bugs, own_pairs;             /* own_pairs: of apps and clients that were compared */
        struct score_report score;
};

void report_clear(struct report *report);
int report_make(struct database *database, struct report *ret);

/* report-clients.c: all but apps and bugs; @limit: rates above it, in the mean of a client, are not believed */
int report_clients(struct database *database, struct report *report, int64_t *limit);
/* The mean rate and the J-score of a client, by its number. False: it is unknown, or has too few rates. */
bool report_score(const struct report *report, int64_t client, double *rate, double *score);
/* Prepares what has the limit as $1, or what sums up what the shards have made of it. */
int report_select(struct database *database, const char *sql, const char *sql_of_shards, int64_t limit, struct statement **ret);
/* report-joint.c: new drops for what is in @report->hogs, which it sorts by name */
int report_joint(struct database *database, int64_t limit, struct report *report);
/* report-bugs.c */
int report_bugs(struct database *database, int64_t limit, struct report *report);
/* Name of an app of the report; NULL: none has that number. */
const struct app_report *report_app(const struct report *report, int64_t id);

/*
 * As JSON; NULL without memory. @client: 32 digits: with its score. @only: for that client itself, with hashes of names, and no
 * bugs of others.
 */
struct cJSON *report_json(const struct report *report, const char *client, bool only);
int report_print_json(const struct report *report, const char *client);
int report_print_text(const struct report *report, const char *client);
