/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What would make a profile wrong: refused before it starts, or kept and marked as rejected. */

#include "runner.h"
#include "util/log.h"

/*
 * Charge at which a calibration may start, less being over too soon, and below which it never goes: the
 * user wakes up with a phone that can call. On its charger a battery does not need to go deep, and ages
 * by it: nearer the middle.
 */
double refuse_start_percent(const struct hardware_description *description);
double refuse_floor_percent(const struct hardware_description *description);

/* The battery at the start. 0; -EINVAL after one sentence to @log. */
int refuse_start(const struct hardware_description *description, const struct look *look,
                 enum observation_method method, const struct log *log);

/* Sets `rejected` where the mode was not what it should be. */
void refuse_observation(const struct runner *runner, const struct mode *mode,
                        struct observation *observation);

/* The same for a dwell by the current sensor. */
void refuse_gauge(struct observation *observation);

/* The same for level steps: @jump was the last change, @biggest the largest, @n how many there were. */
void refuse_steps(const struct runner *runner, double jump, double biggest, double n,
                  struct observation *observation);

/* Rejected for a pause, which says nothing about the machine: it is measured again, and not counted below. */
#define REFUSE_PAUSED "paused: "
bool refuse_is_pause(const struct observation *observation);

/* Rejected because the access point was lost: its states come again when it is back. */
#define REFUSE_AWAY "WiFi was associated only "
bool refuse_is_away(const struct observation *observation);

/* Too many of @n are rejected for a night to make sense. */
bool refuse_run(size_t n_rejected, size_t n);
