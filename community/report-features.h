/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What headers of uploads said of devices and times: the features that report-why.c splits by. Read once, and then shared. */

#include "report-joint.h"
#include "util/hash.h"

#define FEATURE_TEXT_MAX 120 /* of a key or a value; what is longer is cut */

struct word;

/* A feature with one of its values; with value NULL: with any value. */
struct place {
        UT_hash_handle hh;
        struct {
                const char *key, *value; /* words: equal ones are the same pointer */
        } words;
        const struct place *any;         /* of the same feature; NULL: this is that one */
        size_t index;                    /* below features.n_places */
};

/* All features of a header but versions of apps, which many headers have in common. */
struct traits {
        UT_hash_handle hh;
        const struct place **places;
        size_t n, capacity;
        char *text;
};

/* A header's: of the versions, those from first_version to the next context's are its. */
struct context {
        int64_t client, id;
        const struct traits *traits;
        size_t first_version;
};

struct app_version {
        size_t rank; /* of the app, as in struct joint */
        const struct place *place;
};

struct features {
        const struct joint *joint;
        struct word *words;
        struct place *places;
        size_t n_places;
        struct traits *traits;
        struct context *contexts;     /* by client and id; one more than there are, for the last's versions */
        size_t n_contexts, contexts_capacity;
        struct app_version *versions; /* of the joint's apps */
        size_t n_versions, versions_capacity;
        const char *version;          /* the word: the feature that versions are */
};

/**
 * features_read() - what all headers said
 * @ret: gets it; clear it also after an error
 *
 * Return: 0; a negative errno. The log has a sentence, unless it is -ENOMEM.
 */
int features_read(struct database *database, const struct joint *joint, struct features *ret);
void features_clear(struct features *features);

/* NULL: unknown. */
const struct context *features_find(const struct features *features, int64_t client, int64_t id);
/* The version of an app there; NULL: unknown. */
const struct place *features_version(const struct features *features, const struct context *context, size_t rank);
