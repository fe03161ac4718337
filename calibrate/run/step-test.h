/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The step test of a gauge: its readings while a load begins and ends show how it averages and delays the power. It
 * may show the mean since its last update, one instant, an exponential mean, the mean of the last seconds, or
 * something else; each with a delay. calibrate/METHOD.md has the consequences of each.
 */

#include <stddef.h>

#define STEP_READINGS_MAX 400
#define STEP_EDGES_MAX 64

enum gauge_kind {
        GAUGE_UNTESTED,
        GAUGE_PLAIN,       /* the mean since the last update */
        GAUGE_POINT,       /* one instant */
        GAUGE_EXPONENTIAL,
        GAUGE_MEAN,
        GAUGE_OTHER,       /* it rises and falls differently, or does not follow the load */
        GAUGE_KINDS
};

extern const char *const gauge_kind_words[GAUGE_KINDS]; /* as in observations.db */
enum gauge_kind step_test_kind(const char *word);

struct gauge_kernel {
        enum gauge_kind kind;
        double seconds;    /* time constant, or length of the mean; 0: neither */
        double delay_s;
        double base_mw, load_mw; /* power at rest, and the additional power of the load */
};

/* The kernel from an observation's fields. Untested, and then without a wait, if one of them is missing. */
struct gauge_kernel step_test_kernel(const char *word, double seconds, double delay_s);

struct step_test {
        double period_s, quantum_mw;
        struct { double s, mw; } readings[STEP_READINGS_MAX]; /* at updates, ascending */
        size_t n;
        struct { double s, share; } edges[STEP_EDGES_MAX];    /* from then on that part of the load runs */
        size_t n_edges;
};

/* -ENOMEM; -EINVAL: too few readings. */
int step_test_judge(const struct step_test *test, struct gauge_kernel *ret);
/*
 * Time after a change from which an update has less than 2 % of the state before, in addition to the update with the
 * change.
 */
double step_test_settle_s(const struct gauge_kernel *kernel, double period_s);
/*
 * Time that a dwell must wait, in addition to the update with the change: the fit undoes an exponential mean.
 */
double step_test_wait_s(const struct gauge_kernel *kernel, double period_s);
/* "an exponential mean of 50 s" */
const char *step_test_text(const struct gauge_kernel *kernel, char *buf, size_t size);
