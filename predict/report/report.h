/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The sections of `joulecast report`, in the order of the page. Each writes a <section> with a heading of its own. */

#include <stdio.h>

#include "forecast/cost.h"
#include "forecast/timeline.h"
#include "model/component.h"
#include "page/parts.h"
#include "page/plot.h"

#define REPORT_COLOURED 7 /* apps with a colour of their own; the rest are "other apps" */

struct report {
        const struct profile *profile;
        const struct timeline *timeline;
        const struct cost *cost;
        const struct cost *other;   /* cost for --compare; NULL: not asked for */
        const char *apps[2];        /* ids for --compare-app; NULL: not asked for */
        double design;              /* capacity of the battery when new, in the unit of report_full(); NaN: unknown */
        bool design_is_charge;      /* true: in uAh; false: in uWh */
        double percent_j;           /* energy of a percent of the full battery */
        /* Energy of a share_unit: a percent, or a full battery if more than one was used. */
        double share_j;
        const char *share_unit;
};

void report_summary(FILE *file, const struct report *report);
void report_curve(FILE *file, const struct report *report);
void report_apps(FILE *file, const struct report *report);
void report_hours(FILE *file, const struct report *report);
void report_compare(FILE *file, const struct report *report);
void report_compare_apps(FILE *file, const struct report *report);
void report_sleeps(FILE *file, const struct report *report);
void report_battery(FILE *file, const struct report *report);
void report_calibration(FILE *file, const struct report *report);
void report_coverage(FILE *file, const struct report *report);

/* The same as tables of Markdown (GitHub's and GitLab's form). */
void report_markdown(FILE *file, const struct report *report);

/* Facts that the page and the Markdown share. */
#define REPORT_ROWS_MAX 200 /* limit for rows of apps, and for rows of charges */
extern const char *const report_components[COMPONENT_COUNT];
size_t report_shown_components(const struct cost *cost, size_t shown[COMPONENT_COUNT]); /* only used ones */
/* Percent of the battery in the unit in which costs are shown (share_unit). */
const char *report_share_words(const struct report *report);
struct cost_value report_share(const struct report *report, const struct cost_value *percent);
double report_half(const struct cost_value *value); /* half the interval; else a resolution that suits the value */
/* Full capacity, in uAh or uWh as the battery shows it; NaN: it shows none. */
double report_full(const struct report *report, const struct store_charge *charge);
size_t report_known_charges(const struct report *report, size_t *first, size_t *last); /* charges that show it */
const char *report_power_state(enum store_power_state state);
void report_charge_end(const struct timeline *timeline, size_t at, int64_t *end_ns, double *end_percent);
/* Sums of the sleeps with a known energy, and how many they are. */
size_t report_sleep_sum(const struct timeline *timeline, double *seconds, double *energy_j);
extern const char *const report_compared_heads[];
typedef void (*report_compared_row)(FILE *file, const struct cost_app *app, const struct cost_value *now,
                                    const struct cost_value *then);
/* A row for each app of both periods, with its percent per day in both. */
void report_compared(FILE *file, const struct report *report, report_compared_row row);
const char *report_verdict(const struct cost_value *now, const struct cost_value *then);
/* The coefficient as calibrated; or NULL. */
const struct coefficient *report_measured(const struct profile *profile, const struct coefficient *c);
const char *report_learnt_from(const struct coefficient *c, const struct coefficient *measured);
const char *report_validated_words(const struct profile *profile); /* a sentence */
const char *report_basis_words(const struct profile *profile);     /* whose numbers they are, to follow "of" */
struct report_answer {
        const char *name;
        int promised; /* percent */
};
extern const struct report_answer report_answers[ANSWER_COUNT];
