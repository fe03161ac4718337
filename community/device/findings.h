/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The report of a community, reduced to the apps on this device. */

#include <stddef.h>
#include <stdint.h>

#include "shared/name-hash.h"
#include "shared/upload.h"

#define FINDINGS_MAX 1000 /* most findings of a report; more are ignored */

/* An app on this device. */
struct findings_app {
        const char *name;
        char hash[NAME_HASH_SIZE];
        const char *version; /* "": unknown */
};

/* A feature of this device, as it is sent. */
struct findings_feature {
        const char *key, *value; /* "": unknown */
};

struct findings_own {
        const char *client;
        const struct findings_app *apps;
        size_t n_apps;
        const struct findings_feature *features;
        size_t n_features;
        double full_j; /* energy of its full battery; NaN: unknown */
};

enum finding_kind {
        FINDING_CLOSE,   /* the app costs battery on every device */
        FINDING_SETTING, /* it costs less with another value of a feature */
        FINDING_UPDATE,  /* a newer version costs less */
        FINDING_RESTART, /* it takes much more on this device than on others */
};

struct finding {
        enum finding_kind kind;
        const char *app;             /* one of findings_own */
        double minutes, low, high;   /* gain per full charge, with 95 % bounds; NaN: unknown */
        double clients;              /* number of clients that show it */
        char value[UPLOAD_TEXT_MAX]; /* the newer version; the feature that explains it, or "" */
        double here, there; /* W here and on others; effects of this version and of the newer one; NaN */
};

/* An app about which more samples may give a result. */
struct findings_unknown {
        const char *app;
        double hours;
};

struct findings {
        double clients, samples;     /* total numbers */
        int64_t made_ns;             /* INT64_MIN: not given */
        /* part of a full charge (1) lost per hour of suspend, and number of clients compared; NaN */
        double asleep, asleep_clients;
        /* median of these clients with 95 % bounds; NaN: unknown */
        double asleep_others, asleep_low, asleep_high;
        bool asleep_same_model;
        /* percentage of clients whose battery lasts shorter, and their number; NaN: unknown */
        double score, score_clients;
        struct finding *list;        /* by minutes in descending order; unknown ones last */
        size_t n, capacity;
        struct findings_unknown *unknown;
        size_t n_unknown, unknown_capacity;
};

/* Returns 0; -ENOMEM; -EBADMSG: it is no such report. End with findings_clear(). */
int findings_parse(const char *text, const struct findings_own *own, struct findings *ret);
void findings_clear(struct findings *findings);
