/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The expected time and charge of a run, in words and as JSON. run-estimate.c computes them. */

#include <stddef.h>

/* Between low and high it is to be, 19 times in 20. */
struct run_amount {
        double low, usual, high;
};

struct run_estimate {
        size_t observations;
        struct run_amount hours, percent;
};

#define ESTIMATE_TEXT_MAX 160

/* "31 min (28 min to 44 min) and 1.6 % of the battery (1.0 to 2.6 %)"; @buf of ESTIMATE_TEXT_MAX. Returns @buf. */
const char *estimate_text(const struct run_estimate *estimate, char *buf);

/* Hours in minutes or hours and minutes, "?" if not finite. Returns @buf. */
const char *estimate_span_text(double hours, char *buf, size_t size);

struct cJSON;
/* Adds expected_hours, expected_percent, and each with _low and _high. */
void estimate_to_json(const struct run_estimate *estimate, struct cJSON *json);
