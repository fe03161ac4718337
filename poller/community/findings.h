/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the report of a community says about the apps that run on this device. */

#include <stddef.h>
#include <stdint.h>

#include "community/name-hash.h"
#include "community/upload.h"

#define FINDINGS_MAX 1000 /* of a report; more are ignored */

/* An app that runs here. */
struct findings_app {
        const char *name;
        char hash[NAME_HASH_SIZE];
        const char *version; /* ""; unknown */
};

/* A feature of this device, as it sends it. */
struct findings_feature {
        const char *key, *value; /* "": unknown */
};

struct findings_own {
        const char *client;
        const struct findings_app *apps;
        size_t n_apps;
        const struct findings_feature *features;
        size_t n_features;
        double full_j; /* of its battery; NaN: unknown */
};

enum finding_kind {
        FINDING_CLOSE,   /* the app costs everybody battery */
        FINDING_SETTING, /* less so with another value of a feature */
        FINDING_UPDATE,  /* a newer version costs less */
        FINDING_RESTART, /* it takes much more here than on others */
};

struct finding {
        enum finding_kind kind;
        const char *app;             /* one of findings_own */
        double minutes, low, high;   /* gained of a full charge, with 95 % bounds; NaN: unknown */
        double clients;              /* that it rests on */
        char value[UPLOAD_TEXT_MAX]; /* the newer version; the feature that explains it, or "" */
        double here, there;          /* W here and on others; effect of the version here and of the newer one; NaN */
};

/* An app of which more samples may tell something. */
struct findings_unknown {
        const char *app;
        double hours;
};

struct findings {
        double clients, samples;     /* in all */
        int64_t made_ns;             /* INT64_MIN: not said */
        double asleep, asleep_clients;           /* suspended, it loses so much of a full charge an hour, of 1; NaN */
        double asleep_others, asleep_low, asleep_high; /* median of those with 95 % bounds; NaN: unknown */
        bool asleep_same_model;
        double score, score_clients; /* this battery lasts longer than that percentage of them; NaN: unknown */
        struct finding *list;        /* by minutes, most first; unknown ones at the end */
        size_t n, capacity;
        struct findings_unknown *unknown;
        size_t n_unknown, unknown_capacity;
};

/* 0; -ENOMEM; -EBADMSG: it is no such report. findings_clear() it. */
int findings_parse(const char *text, const struct findings_own *own, struct findings *ret);
void findings_clear(struct findings *findings);
