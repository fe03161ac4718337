/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The plan: every mode of a run, made for the device's hardware, and the order of the modes. */

#include "hardware/hardware.h"
#include "model/profile.h"
#include "model/usage.h"
#include "observation/observation.h"

/* Guesses until a gauge's period is known. */
#define GAUGE_PERIOD_GUESS_S 3.5
#define TICKS_DWELL_GUESS_S 75.0

#define PLAN_ITERATIONS 3
#define PLAN_IDLE 0 /* the first mode of every plan */
#define PLAN_IDLES 6 /* most visits of idle in a pass of a gauge */

enum plan_role {
        ROLE_BLOCK,     /* in the first randomised block, and in every pass of a gauge */
        ROLE_LEVEL,     /* in the first block by level, unless it is short */
        ROLE_EXTRA,     /* other frequencies: some in each pass; later chosen by expected gain */
        ROLE_FINE,      /* measured only by a gauge: in every pass, ... */
        ROLE_LATER,     /* ... or in every pass but the first */
        ROLE_CANDIDATE, /* mixtures that separate two coefficients: only by expected gain */
        ROLE_HELD_BACK, /* mixtures that validate the profile: once, never fitted */
        ROLE_BURN,      /* the heaviest mode: drains the battery through the partial first step */
};

extern const char *const plan_role_names[];

struct planned_mode {
        struct mode mode;
        enum plan_role role;
        unsigned core;       /* rank in a short block: 1 is the most important; 0: not in it */
        uint32_t visits_max; /* most visits, limited by the bytes that it writes or transfers */
        double guess_w;      /* expected power; only for estimates of time and charge */
};

struct plan {
        struct planned_mode *modes;
        size_t n;
        size_t burn;    /* index of the heaviest mode */
        bool brief;     /* its block was shortened */
        bool sapp;
        unsigned only;  /* 1 << component: only these and the base are measured; 0: everything is */
        char *before;   /* with only: text of the profile that has the other components */
        struct profile *
                model; /* predicts the power of states before they are measured: the device's previous profile, or its
                          class's; NULL: none is known */
};

#define PLAN_NAME_MAX 64

/* The plan of the regression; calibrate/METHOD.md has its states. -ENOMEM. */
int plan_make(const struct hardware_description *description, struct plan *ret);
void plan_clear(struct plan *plan);

struct mode plan_mode(const char *kind, const char *name, ...) __attribute__((format(printf, 2, 3)));
int plan_add(struct plan *plan, enum plan_role role, const struct mode *mode);
const struct planned_mode *plan_find(const struct plan *plan, const char *name);

/*
 * Rates of loads without a frequency: heavy enough to be clear of the noise in one step, light enough for a
 * phone's flash and radio, higher on devices with a larger battery. The fit uses the counters' values.
 */
struct plan_rates {
        double read_mb_per_s, write_mb_per_s, rx_mb_per_s, tx_mb_per_s;
};
struct plan_rates plan_rates(const struct hardware_description *description);

/* Limits on the wear and traffic that a run may cause on a real device. INFINITY: no limit. */
struct plan_limits {
        double write_bytes;    /* written to storages */
        double write_mb_per_s; /* limited because flash wears */
        double wifi_bytes;     /* both directions together */
        double cellular_bytes; /* both directions together, including packets */
};

/*
 * Lowers rates, then the number of visits, until the visits that are certain to be made stay within @limits. Logs which
 * coefficient will be less certain. -ENOMEM.
 */
int plan_limit(const struct hardware_description *description, enum observation_method method,
               uint32_t passes, const struct plan_limits *limits, const struct log *log, struct plan *plan);
/* Approximate traffic of a mode over a radio, without retries and the headers of large transfers. */
double plan_air_bytes_per_s(const struct mode *mode, enum air air);
/* Longest expected duration of one visit. */
double plan_expected_s(const struct hardware_description *description, enum observation_method method,
                       const struct planned_mode *mode);

/*
 * Shortens the block to at most @most modes, if it can, that still cover every component; the others stay to be
 * chosen for their gain. False: not even the shortest block fits.
 */
bool plan_shorten(struct plan *plan, double most);
/* Number of modes that are certain to be measured once. */
size_t plan_block(const struct plan *plan);

/*
 * Keeps only idle, the burn, and the states that load nothing but these components (1 << component).
 * -ENODEV: @missing is the component that the device does not offer. -ENOMEM.
 */
int plan_only(struct plan *plan, unsigned only, const struct profile *before, enum component *missing);
/* The plan's name in the observations: "", "sapp", "only display,wifi"; @buf has PLAN_NAME_MAX. Returns @buf. */
char *plan_name(const struct plan *plan, char *buf);

/* The usage that a mode requests in some seconds. The fit uses the counters instead. */
int plan_usage(const struct hardware_description *description, const struct mode *mode, struct usage *ret);

/**
 * plan_order() - the order of one pass
 * @pass:     0 is the first block
 * @last:     index of the mode before, which may not come first; SIZE_MAX: none
 * @extras:   whether extra frequencies rotate through the passes (gauge)
 * @ret:      room for plan->n + PLAN_IDLES indexes
 *
 * Every third extra frequency comes in each pass, so that three passes visit all; one-core and all-core
 * take turns, and idle comes plan_idles() times. Held-back mixtures come in the first pass. No mode follows itself.
 *
 * Return: the number of indexes in @ret.
 */
size_t plan_order(const struct plan *plan, uint64_t seed, uint32_t pass, size_t last, bool extras,
                  size_t *ret);

/* SApp's order: the frequencies shuffled, each mode three times in a row. Room for 3 * plan->n in @ret. */
size_t plan_order_repeated(const struct plan *plan, uint64_t seed, size_t *ret);

/* Fills guess_w of all modes by plan->model; by the battery's size where the model lacks coefficients. -ENOMEM. */
int plan_guess(const struct hardware_description *description, struct plan *plan);

/* Energy of a whole run, with its 95 % interval from the errors of plan->model; all above 0. */
struct plan_energy {
        double joules, low_j, high_j;
};
/* @seconds: duration of each mode. -ENOMEM. */
int plan_energy(const struct hardware_description *description, const struct plan *plan, const double *seconds,
                struct plan_energy *ret);
/* Energy of 1 % of the battery, J; of a phone's battery if its full energy is unknown. */
double plan_percent_j(const struct hardware_description *description);
