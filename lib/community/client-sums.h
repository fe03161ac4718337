/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the samples of one client amount to: integers that are a function of the set of its samples, in whatever order and
 * in how many uploads they came. Sums over clients of these, and of their products, are all that a report is made from.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/component.h"
#include "prior.h"

#define CLIENT_DAY_MAX 200 /* rates of a client in a day of its clock: more adds nothing, and one client is not to flood */
#define COARSE_STEP_PPM 50000

struct rate_sample {
        int64_t t_ns, t2_ns;
        int64_t seq;
        int64_t context;       /* number of what its header says */
        int32_t level_ppm, level2_ppm;
        bool asleep;           /* the device was suspended: no rate of use */
        const int64_t *apps;   /* numbers, ascending */
        const int64_t *own_mj; /* of each of them, by the client's own model; -1: unknown. NULL: all are */
        size_t n_apps;
        const int64_t *parts;  /* pairs: 256 * index in apps + enum component, and the mJ of own_mj that it has */
        size_t n_parts;
};

/*
 * An app on one client. With the app the mean rate is a, without it b, of all it is m. The weight w = n (N - n) / N, in 1/16,
 * is the precision of a - b; it ends at 16 samples, so that no client decides alone. wa = 256 w a / m, wb = 256 w b / m, where
 * the fractions end at 3, and x = 256 w (a - b) / m, where it ends at +-1: a client that drains ten times as fast as others, or
 * says so, weighs no more than they do.
 */
#define CLIENT_SUMS_UNIT 256

struct app_sums {
        int64_t app;
        int64_t n, s1, s2; /* rates with the app, their sum, their squares' */
        int64_t w, wa, wb, x;
        int64_t ms; /* time of those rates */
        int64_t own_n, own_ms, own_mj; /* samples with its own energy, their time, and that energy */
        int64_t part_mj[COMPONENT_COUNT]; /* of own_mj, as in the samples that say which parts it has */
};

/* Of the samples in which it was suspended, apart from all others. */
struct asleep_sums {
        int64_t n, ms, ppm; /* samples, their time, and what the level fell by */
};

struct client_sums {
        int64_t n, s1, s2;                   /* of all rates */
        int64_t overlapping, too_many, fast; /* samples that were left out, and why */
        struct asleep_sums asleep;
        int32_t step_ppm;                    /* of the gauge: the greatest that all levels are multiples of */
        int32_t *rates;                      /* n: of the samples that stay, in their order */
        struct app_sums *apps;               /* by number */
        size_t n_apps, capacity;
};

void client_sums_clear(struct client_sums *sums);

/* Sets w, wa, wb and x of an app from its n and s1, and those of all of the client's rates. */
void client_sums_weigh(struct app_sums *app, int64_t n, int64_t s1);

/**
 * client_sums_make() - the sums of one client, which take the readings of a coarse gauge (5 % and more) for exact
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
