/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * How often a battery's level is refreshed, learnt from when its steps show:
 * they all lie on one grid of time, and the widest grid that explains them is
 * the refresh. Nothing tells it beforehand, and a chip's driver, not its data
 * sheet, decides it.
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
        double resolution_s;           /* the coarsest at which a step was seen */
        double period_s;               /* NaN: not known yet */
};

void refresh_start(struct refresh *refresh);
/* A step was seen at @now_ns, at most @resolution_s late. Sets period_s when there is no doubt any more. */
void refresh_step(struct refresh *refresh, uint64_t now_ns, double resolution_s);
/* The steps before have nothing to do with those that come (the machine was plugged in or slept). */
void refresh_gap(struct refresh *refresh);
