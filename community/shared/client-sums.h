/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Sums over the samples of one client. They are integers and depend only on the set of samples, not on their
 * order or on the uploads in which they came. A report is made only from sums over clients of these, and of
 * their products.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/component.h"
#include "util/wide.h"

/* Most rates of a client in a day of its clock: more add no information, and no client may flood the others. */
#define CLIENT_DAY_MAX 200
#define NS_PER_DAY 86400000000000
#define COARSE_STEP_PPM 50000
#define RATE_MAX 400000 /* 0.04 %/s: empty within 42 minutes. Rates are in 1e-9 of a full charge per second */

#define CLIENT_RATE_MAX (4 * RATE_MAX) /* a reading of a coarse gauge can seem so fast */

typedef int_wide wide; /* products of two 64-bit numbers */

struct rate_sample {
        int64_t t_ns, t2_ns;
        int64_t seq;
        int64_t context;       /* number of what its header says */
        int32_t level_ppm, level2_ppm;
        bool asleep;           /* the device was suspended: no rate of use */
        const int64_t *apps;   /* numbers, ascending */
        /* energy of each of them by the client's own model; -1: unknown. NULL: all unknown */
        const int64_t *own_mj;
        size_t n_apps;
        const int64_t *parts;  /* pairs: 256 * index in apps + enum component, and the mJ of own_mj that it has */
        size_t n_parts;
};

/* An app on one client. */
struct app_sums {
        int64_t app;
        int64_t n, s1, s2; /* rates with the app, their sum, their squares' */
        int64_t ms; /* time of those rates */
        int64_t own_n, own_ms, own_mj; /* samples with its own energy, their time, and that energy */
        int64_t part_mj[COMPONENT_COUNT]; /* energy by component, for samples that have it */
};

/* Sums over samples in which the client was suspended, separate from all others. */
struct asleep_sums {
        int64_t n, ms, ppm; /* samples, their time, and what the level fell by */
};

struct client_sums {
        /* over all rates; of a coarse gauge, s1 is n times its drops by their time */
        int64_t n, s1, s2;
        int64_t overlapping, too_many, fast; /* samples that were left out, and why */
        struct asleep_sums asleep;
        int32_t step_ppm; /* step of the gauge: the largest number of which all levels are multiples */
        int32_t *rates;                      /* n: of the samples that stay, in their order */
        struct app_sums *apps;               /* by number */
        size_t n_apps, capacity;
};

void client_sums_clear(struct client_sums *sums);

/**
 * client_sums_make() - the sums of one client
 * @samples: all of its samples; sorted by time here, and those that are left out or asleep are no more: sums.n stay
 * @ret:     gets the sums; clear them. Written only on success
 *
 * Return: 0; -ENOMEM.
 */
int client_sums_make(struct rate_sample *samples, size_t n, struct client_sums *ret);

/* The rates that a sample of a gauge with that step can have had. */
void client_sums_bounds(const struct rate_sample *sample, int32_t step_ppm, int64_t *low, int64_t *high);

static inline bool client_sums_coarse(const struct client_sums *sums)
{
        return sums->step_ppm >= COARSE_STEP_PPM;
}
