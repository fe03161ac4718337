/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The sections of `joulecast report`, in the order of the page. Each writes a <section> with a heading of its own. */

#include <stdio.h>

#include "forecast/cost.h"
#include "forecast/timeline.h"
#include "model/component.h"

#define REPORT_COLOURED 7 /* apps with a colour of their own; the rest are "other apps" */

struct report {
        const struct profile *profile;
        const struct timeline *timeline;
        const struct cost *cost;
        const struct cost *other;   /* of --compare; NULL: not asked for */
        const char *apps[2];        /* ids of --compare-app; NULL: not asked for */
        double design;              /* of a full battery when new, in the unit of full_unit; NaN: unknown */
        bool design_is_charge;      /* in uAh, else in uWh */
        double percent_j;           /* energy of a percent of the full battery */
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

/* What the sections share. */

/* <section> with a heading; @id: of ours. */
void report_section(FILE *file, const char *id, const char *title);
void report_section_end(FILE *file);
/* A table in a box that scrolls where it is too wide. @heads: NULL ends them; the first column is text, "<" begins others that are. */
void report_table(FILE *file, const char *caption, const char *const *heads);
void report_table_end(FILE *file);
/* <td> with a value and its unit; the whole number is in the "value" of <data>. NaN: "unknown". */
void report_cell(FILE *file, double value, double resolution, const char *unit);
/* <td> with both bounds of an interval. */
void report_bounds(FILE *file, const struct cost_value *value, const char *unit);
/* The name of an app; in quotes where it is called like a row of ours. */
void report_name(FILE *file, const char *app, const char *name);
void report_time(FILE *file, int64_t time_ns, bool day_only); /* <time> */
char *report_when(int64_t time_ns, bool day_only, char buf[32]); /* "Tue 24 Nov 14:00" */

/* Facts that the page and the Markdown share. */
#define REPORT_ROWS_MAX 200 /* of apps, and of charges */
extern const char *const report_components[COMPONENT_COUNT];
size_t report_shown_components(const struct cost *cost, size_t shown[COMPONENT_COUNT]); /* that anything used */
double report_half(const struct cost_value *value); /* half the interval; else a resolution that suits the value */
/* Of a full battery, in the unit that the battery shows; NaN: it shows none. */
double report_full(const struct report *report, const struct store_charge *charge);
size_t report_known_charges(const struct report *report, size_t *first, size_t *last); /* that show it */
const char *report_power_state(enum store_power_state state);
void report_charge_end(const struct timeline *timeline, size_t at, int64_t *end_ns, double *end_percent);
size_t report_sleep_sum(const struct timeline *timeline, double *seconds, double *energy_j); /* of those with a known energy */
/* Per day of recorded time, so that periods of different length can be compared. */
struct cost_value report_a_day(const struct cost_value *percent, double recorded_s);
const struct cost_app *report_find(const struct cost *cost, const char *app, enum app_state state); /* or NULL */
const char *report_verdict(const struct cost_value *now, const struct cost_value *then);
const struct coefficient *report_measured(const struct profile *profile, const struct coefficient *c); /* as calibrated; or NULL */
const char *report_learnt_from(const struct coefficient *c, const struct coefficient *measured);
const char *report_validated_words(const struct profile *profile); /* a sentence */
const char *report_basis_words(const struct profile *profile);     /* whose numbers they are, to follow "of" */
struct report_answer {
        const char *name;
        int promised; /* percent */
};
extern const struct report_answer report_answers[ANSWER_COUNT];

/* A plot: an <svg> of the page's width and @height px, with a grid; what is drawn is in a plane of 1000 x @height. */
struct plot {
        FILE *file;
        int64_t from_ns, to_ns;
        double top;     /* value at the upper edge */
        double bottom;  /* at the lower */
        int height;
        const char *unit;
};

/* @id: of ours, once a page. @description: what a screen reader says; ours. */
void plot_begin(struct plot *plot, const char *id, const char *title, const char *description);
double plot_x(const struct plot *plot, int64_t time_ns); /* 0 to 1000 */
double plot_y(const struct plot *plot, double value);    /* px */
void plot_end(struct plot *plot);                        /* with labels of both axes */
double plot_nice(double most);                           /* the next larger 1, 2, 5 times a power of ten */
