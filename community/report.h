/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What all samples together say. */

#include "community/client-sums.h"
#include "community/drop.h"
#include "database.h"
#include "model/component.h"

#define WHY_DEPTH 3

#define COMMUNITY_SCORE_RATES_MIN 10 /* below that, a client has no J-score */

/* A feature and value with which an app costs more. */
struct why_report {
        char *feature, *is;
        bool actionable;                       /* can who is there do something about it? */
        double minutes_there, minutes_else;
        double gain_low, gain_high; /* 95 % bounds of the former less the latter */
        double clients;                        /* there */
        char *within[WHY_DEPTH];               /* "FEATURE VALUE": only there was it found */
        size_t n_within;
};

/* A component, and which share of an app's own energy it has; of a bug: of the difference. */
struct part_report {
        int part; /* enum component */
        double share;
};

#define OWN_SAMPLES_MIN 5 /* with an app's own energy, on a client */

#define OWN_WHOLE COMPONENT_COUNT

/* An app's own power on a client that has enough samples with it, or what one component has of it. */
struct own_use {
        int64_t client;
        float watts;
        uint8_t part; /* enum component, or OWN_WHOLE */
        bool cheaper; /* its battery lasts longer with the app than without */
};

struct app_report {
        int64_t id;
        char *name;
        double clients, rates, hours; /* with it */
        double own_ms;                /* time of which its own energy is known, */
        double part_mj[COMPONENT_COUNT]; /* and what of that components have */
        struct own_use *own;          /* its own power on clients, until report_bugs() */
        size_t n_own;
        struct why_report *why;
        size_t n_why;
        struct part_report *parts;
        size_t n_parts;
        double hours_more;            /* of use until it could be called; 0: unknown, or it is */
        struct drop drop;
        bool hidden;             /* a hog that another one stands for, because they are always in use together */
        const char **together;   /* names of those */
        size_t n_together;
};

/* An app that takes much more on one client than on others, by its own energy. */
struct bug_report {
        int64_t app, client;
        char *app_name, *client_hex;
        double watts;                                 /* there */
        double others_watts, others_low, others_high; /* the middle one elsewhere; 95 of 100 are between the others */
        double rate;                                  /* mean with it there */
        size_t clients; /* that it is compared with */
        struct part_report *parts;
        size_t n_parts;
};

/* What a version of an app costs. */
struct version_report {
        int64_t app;
        char *version;
        double clients, effect, effect_low, effect_high;
};

#define SCORE_POINTS 5
extern const int score_percent[SCORE_POINTS]; /* 5, 25, 50, 75, 95 */

struct one_client {
        int64_t id, n, s1;
        char model[128]; /* "": unknown */
        bool coarse;
};

struct score_report {
        size_t clients;                 /* with COMMUNITY_SCORE_RATES_MIN rates */
        struct one_client *list;        /* those, by mean rate */
        double rates[SCORE_POINTS];     /* their mean rate, where the client's battery lasts longer than of so many percent */
        double mean_rate;
};

#define PERCENT_AN_HOUR(rate) ((rate) * 1e-9 * 3600 * 100)
#define ASLEEP_CLIENTS_MIN 6 /* fewer have no 95 % bounds of their median */

/* Of a device that was suspended long enough. */
struct asleep_client {
        int64_t id;
        char model[128]; /* "": unknown */
        double rate;
};

struct asleep_report {
        int64_t samples;
        struct asleep_client *list; /* by rate */
        size_t n;
};

/* How fast devices empty while suspended: the median of those that are compared, with its 95 % bounds. */
struct asleep_like {
        size_t clients;
        bool same_model;         /* those of the client's own model alone */
        double value, low, high; /* NaN: of fewer than ASLEEP_CLIENTS_MIN */
        double own;              /* of the client; NaN: unknown */
};

/* Rates of samples. */
struct distribution {
        size_t n;
        double rates[SCORE_POINTS]; /* of so many percent, or less */
};

struct report {
        int64_t clients, samples, rates;
        int64_t overlapping, too_many, fast;  /* samples that are left out */
        int64_t quarantined, extreme;         /* clients that are left out */
        double middle_rate;                   /* of the middle client */
        struct app_report *apps;              /* all, by name */
        size_t n_apps, tested, paper_only;    /* paper_only: hogs by the paper's rule alone */
        size_t *hogs, n_hogs;                 /* in apps; by minutes, the most first */
        struct bug_report *bugs;
        size_t n_bugs, own_pairs;             /* own_pairs: of apps and clients that were compared */
        struct score_report score;
        struct asleep_report asleep;
        struct version_report *versions;      /* of hogs, and of the app that was asked for */
        size_t n_versions;
        int64_t asked;                        /* index of that in apps; -1: none */
        struct distribution with, without;    /* of it, on the clients that have it */
};

#define NOT_YET_MAX (size_t)20

/* Apps that seem to cost, and need the fewest hours more to be called: at most NOT_YET_MAX indices; 0 also without memory. */
size_t report_not_yet(const struct report *report, size_t **ret);

void report_clear(struct report *report);
/* @asked: an app, by name or hash, of which all is wanted though it may be no hog; NULL: none. */
int report_make(struct database *database, const char *asked, struct report *ret);

/* report-clients.c: all but bugs, and what apps are; @limit: rates above it, in the mean of a client, are not believed */
int report_clients(struct database *database, struct report *report, int64_t *limit);
/* The sum of the rates of a client with a coarse gauge, as everybody's rates make it. */
struct coarse_mean {
        int64_t client, s1;
};

/* report-sums.c: all apps; and the means of coarse gauges, by client, which the caller frees. */
int report_sums(struct database *database, int64_t limit, struct report *report, struct coarse_mean **ret, size_t *ret_n);
/* The mean rate and the J-score of a client, by its number. False: it is unknown, or has too few rates. */
bool report_score(const struct report *report, int64_t client, double *rate, double *score);
/* report-asleep.c */
int report_asleep(struct database *database, struct report *report);
/*
 * All devices, or (@client: its number, not 0) the others that are like it: of its model if there are enough, else all others.
 * 0; -ENOMEM.
 */
int report_asleep_like(const struct report *report, int64_t client, struct asleep_like *ret);
/* report-bugs.c */
int report_bugs(struct database *database, struct report *report);
/* report-parts.c: which components have the energy of hogs; */
int report_parts(struct report *report);
/* and what power a bug takes more there. @own: of the app on the bug's client */
int report_parts_of_bug(const struct app_report *app, const struct app_sums *own, struct bug_report *bug);
/* Name of an app of the report; NULL: none has that number. */
const struct app_report *report_app(const struct report *report, int64_t id);

/*
 * As JSON; NULL without memory. @client: 32 digits: with its score. @only: for that client itself, with hashes of names, and no
 * bugs of others.
 */
struct cJSON *report_json(const struct report *report, const char *client, bool only);
int report_print_json(const struct report *report, const char *client);
int report_print_text(const struct report *report, const char *client);
/* One page of HTML, in a file. */
int report_write_html(const struct report *report, const char *path, const struct log *log);
/* Parts of it: hogs, bugs; the app that was asked for, and its versions. @json: a part of the JSON. */
int report_print_hogs(const struct report *report);
int report_print_bugs(const struct report *report);
void report_print_why(const char *app, const struct why_report *why);
int report_print_app(const struct report *report);
int report_print_versions(const struct report *report);
/* Only one key of it, or what is known of the app that was asked for (NULL). */
int report_print_json_part(const struct report *report, const char *key);
