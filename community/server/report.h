/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The report on the samples of all clients. */

#include "shared/client-sums.h"
#include "shared/drop-groups.h"
#include "database.h"
#include "model/component.h"

#define WHY_DEPTH 3

#define COMMUNITY_SCORE_RATES_MIN 10 /* with fewer rates a client has no J-score */

/* A feature and value with which an app costs more. */
struct why_report {
        char *feature, *is;
        bool actionable;                       /* can a user with this value change it? */
        double minutes_there, minutes_else;
        double gain_low, gain_high; /* 95 % bounds of minutes_there less minutes_else */
        double clients;                        /* number of clients with the value */
        char *within[WHY_DEPTH];               /* "FEATURE VALUE" conditions under which it was found */
        size_t n_within;
};

/* A component and its share of an app's own energy; for a bug, its share of the difference. */
struct part_report {
        int part; /* enum component */
        double share;
};

#define OWN_SAMPLES_MIN 5 /* least samples of a client with the app's own energy */

#define OWN_WHOLE COMPONENT_COUNT

/* Own power of an app, or of one of its components, on a client that has enough samples with it. */
struct own_use {
        int64_t client;
        float watts;
        uint8_t part; /* enum component, or OWN_WHOLE */
        bool contradicted; /* its battery cannot have given that */
        bool confirmed;    /* its battery empties faster with the app, beyond chance */
};

struct app_report {
        int64_t id;
        char *name;
        double clients, rates, hours; /* with the app in use */
        double own_ms;                /* time for which its own energy is known */
        double part_mj[COMPONENT_COUNT]; /* energy of each component in that time */
        struct own_use *own;          /* own power on each client; freed by report_bugs() */
        size_t n_own;
        struct drop_use *uses;        /* on each client; freed by report_bugs() */
        size_t n_uses;
        struct why_report *why;
        size_t n_why;
        struct part_report *parts;
        size_t n_parts;
        double hours_more; /* more hours of use until it could be called a hog; 0: unknown, or it is one */
        struct drop drop;
        bool hidden; /* a hog that is always in use together with another, which is reported instead */
        const char **together;   /* names of the apps reported through this one */
        size_t n_together;
};

/* An app that takes much more on one client than on others, by its own energy. */
struct bug_report {
        int64_t app, client;
        char *app_name, *client_hex;
        double watts;                                 /* power on this client */
        /* median of the other clients, and the range of 95 % of them */
        double others_watts, others_low, others_high;
        double rate;                                  /* mean rate with the app on this client */
        bool confirmed;                               /* by the client's battery */
        double chance;                                /* that it differs so much by chance */
        uint32_t kind;                                /* number of the client's OS or model, while they are compared */
        size_t clients; /* number of clients compared with */
        struct part_report *parts;
        size_t n_parts;
};

struct bug_pair {
        int64_t client, app;
};

/* Effect of one version of an app. */
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
        uint32_t os;     /* a number for it; 0: unknown */
};

/* Kind of a client: numbers for its OS and its model; 0: unknown. */
struct client_kind {
        int64_t id;
        uint32_t os, model;
};

struct score_report {
        size_t clients;                 /* number of clients with at least COMMUNITY_SCORE_RATES_MIN rates */
        struct one_client *list;        /* these clients, by mean rate */
        /* mean rate of a client whose battery lasts longer than those of so many percent */
        double rates[SCORE_POINTS];
        double mean_rate;
};

#define PERCENT_AN_HOUR(rate) ((rate) * 1e-9 * 3600 * 100)
#define ASLEEP_CLIENTS_MIN 6 /* a smaller number has no 95 % bounds of its median */

/* A device that was suspended long enough. */
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

/* Discharge rate of suspended devices: median of the compared clients with 95 % bounds. */
struct asleep_like {
        size_t clients;
        bool same_model;         /* compared with clients of the same model only */
        double value, low, high; /* NaN: fewer than ASLEEP_CLIENTS_MIN clients */
        double own;              /* the client's own rate; NaN: unknown */
};

/* Distribution of the rates of samples. */
struct distribution {
        size_t n;
        double rates[SCORE_POINTS]; /* so many percent of the samples have this rate or less */
};

struct report {
        int64_t clients, samples, rates;
        int64_t overlapping, too_many, fast;  /* excluded samples */
        int64_t quarantined, extreme;         /* excluded clients */
        double middle_rate;                   /* mean rate of the median client */
        struct drop_rates all;                /* over all rates */
        struct app_report *apps;              /* all apps, by name */
        size_t n_apps, tested, paper_only;    /* paper_only: hogs by the rule of the Carat paper alone */
        size_t *hogs, n_hogs;                 /* indices in apps, by descending minutes */
        struct bug_report *bugs;
        size_t n_bugs, own_pairs;             /* own_pairs: pairs of app and client that were compared */
        struct bug_pair *by_client;           /* client and app of each bug, by client */
        int64_t *clients_used;                /* numbers of the clients that are compared, ascending */
        size_t n_used;
        struct drop_groups groups;            /* groups of them, by network and by the day of joining */
        struct client_kind *kinds;            /* by id */
        size_t n_kinds;
        struct score_report score;
        struct asleep_report asleep;
        struct version_report *versions;      /* versions of hogs, and of the app that was asked for */
        size_t n_versions;
        int64_t asked;                        /* its index in apps; -1: none */
        struct distribution with, without;    /* rates with and without it, on clients that have it */
};

#define NOT_YET_MAX (size_t)20

/*
 * Lists apps that may be hogs and need the fewest more hours to be called so. Returns at most NOT_YET_MAX
 * indices; 0 also without memory.
 */
size_t report_not_yet(const struct report *report, size_t **ret);

/*
 * Lists apps that cannot be compared, as they are in use nearly only where features have other values, or in other
 * hours, than without them; those of most clients first. Returns as report_not_yet().
 */
size_t report_thin(const struct report *report, size_t **ret);

void report_clear(struct report *report);
/* @asked: name or hash of an app to report on even if it is no hog; NULL: none. */
int report_make(struct database *database, const char *asked, struct report *ret);

struct features;
/* report-clients.c: everything but bugs and hogs. @limit: clients with a higher mean rate are excluded. */
int report_clients(struct database *database, const struct features *features, struct report *report,
                   int64_t *limit);
/* report-sums.c: sums and uses of all apps. */
int report_sums(struct database *database, const struct features *features, int64_t limit, struct report *report);
/* Mean rate and J-score of a client, given by its number. False: it is unknown, or has too few rates. */
bool report_score(const struct report *report, int64_t client, double *rate, double *score);
/* report-asleep.c */
int report_asleep(struct database *database, struct report *report);
/*
 * Compares all devices or, if @client is not 0 but a client's number, the others that are like it: those of
 * its model if there are enough, else all others. Returns 0 or -ENOMEM.
 */
int report_asleep_like(const struct report *report, int64_t client, struct asleep_like *ret);
/* report-bugs.c: finds bugs, without what describes them, and compares each app on the clients that have none. */
int report_find_bugs(struct report *report);
/* report-bugs-list.c: finds and describes them. */
int report_bugs(struct database *database, struct report *report);
/* Has this client a bug of this app? For after report_bugs(). */
bool report_has_bug(const struct report *report, int64_t client, int64_t app);
/* report-parts.c: the components that use the energy of hogs, */
int report_parts(struct report *report);
/* and the components of a bug's additional power. @own: the app's sums on the bug's client. */
int report_parts_of_bug(const struct app_report *app, const struct app_sums *own, struct bug_report *bug);
/* Finds an app of the report by its number; NULL: there is none. */
const struct app_report *report_app(const struct report *report, int64_t id);

/*
 * Makes the report as JSON; NULL without memory. @client: 32 digits, to add its score. @only: for that client
 * itself, with hashes of names and without other clients' bugs.
 */
struct cJSON *report_json(const struct report *report, const char *client, bool only);
int report_print_json(const struct report *report, const char *client);
int report_print_text(const struct report *report, const char *client);
/* Writes one page of HTML to a file. */
int report_write_html(const struct report *report, const char *path, const struct log *log);
/*
 * Print parts of the report: hogs, bugs, the app that was asked for, its versions. @json: print that part of
 * the JSON.
 */
int report_print_hogs(const struct report *report);
int report_print_bugs(const struct report *report);
void report_print_why(const char *app, const struct why_report *why);
void report_print_hours(const struct app_report *app);
int report_print_app(const struct report *report);
int report_print_versions(const struct report *report);
/* Prints one key of the JSON or, with NULL, the part about the app that was asked for. */
int report_print_json_part(const struct report *report, const char *key);
