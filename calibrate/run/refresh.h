/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Finds how often the battery's level is refreshed, from the times of its steps: they lie on a grid, and the
 * widest grid that explains them is the refresh. It is not known beforehand: it depends on the driver, not on
 * the chip's data sheet.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REFRESH_GAPS 16

struct refresh {
        uint64_t last_ns;              /* the step before */
        bool started;
        double gap_s[REFRESH_GAPS];
        size_t n;
        double resolution_s;           /* the worst with which a step was seen */
        double period_s;               /* NaN: not known yet */
};

void refresh_start(struct refresh *refresh);
/* A step was seen at @now_ns, at most @resolution_s late. Sets period_s once it is certain. */
void refresh_step(struct refresh *refresh, uint64_t now_ns, double resolution_s);
/* Steps before and after are unrelated: the machine was plugged in or slept. */
void refresh_gap(struct refresh *refresh);
