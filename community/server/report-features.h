/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Features of devices and times from the headers of uploads. report-why.c splits by them. They are read once,
 * and all threads share them.
 */

#include "shared/client-rates.h"
#include "report-joint.h"
#include "util/hash.h"

#define FEATURE_TEXT_MAX 120 /* longest key or value; a longer one is cut */

struct word;

/* A feature with one of its values; value NULL: the feature with any value. */
struct place {
        UT_hash_handle hh;
        struct {
                const char *key, *value; /* interned strings: equal ones are the same pointer */
        } words;
        const struct place *any; /* entry of the same feature with any value; NULL: this is that entry */
        size_t index;                    /* less than features.n_places */
};

/* All features of a header except versions of apps. Many headers share one. */
struct traits {
        UT_hash_handle hh;
        const struct place **places;
        size_t n, capacity;
        char *text;
};

/* A header. Its versions are those from first_version to that of the next context. */
struct context {
        int64_t client, id;
        const struct traits *traits;
        size_t first_version;
};

struct app_version {
        size_t rank; /* rank of the app in struct joint */
        const struct place *place;
};

struct features {
        struct word *words;
        struct place *places;
        size_t n_places;
        struct traits *traits;
        /* sorted by client and id, with one extra entry that ends the last one's versions */
        struct context *contexts;
        size_t n_contexts, contexts_capacity;
        struct app_version *versions; /* those of hogs, and of the app that was asked for */
        size_t n_versions, versions_capacity;
        const char *version;          /* interned key of the feature for versions */
};

/**
 * features_read() - read the features of all headers
 * @ret: call features_clear() also after an error
 *
 * Return: 0; a negative errno. The log has a sentence, unless it is -ENOMEM.
 */
int features_read(struct database *database, struct features *ret);
/* Adds the versions of hogs, and of the app that was asked for. */
int features_read_versions(struct database *database, const struct joint *joint, struct features *features);
void features_clear(struct features *features);

/* Memory to find the strata of one client after another. */
struct strata {
        struct stratum_key *keys;
        const struct place **places;
        const struct context **contexts; /* one for each of the client's; NULL: the header is unknown */
        uint32_t *of;
        size_t keys_capacity, places_capacity, contexts_capacity, of_capacity;
};

/*
 * Sorts a client's rates by stratum: contexts with the same features are one, where versions of apps are no
 * features. A feature with more than FEATURE_VALUES_MAX values on the client is a measurement, and makes no
 * strata. Returns 0 or -ENOMEM.
 */
#define FEATURE_VALUES_MAX 12
int strata_set(struct strata *strata, const struct features *features, int64_t client, struct client_rates *rates);
void strata_clear(struct strata *strata);

/* Version of a hog in that context; NULL: unknown. */
const struct place *features_version(const struct features *features, const struct context *context, size_t rank);
