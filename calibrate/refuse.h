/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What would make a profile wrong: refused before it starts, or kept and marked as rejected. */

#include "log.h"
#include "runner.h"

#define REFUSE_START_PERCENT 25.0 /* less: over too soon */
#define REFUSE_FLOOR_PERCENT 20.0 /* never below: the user wakes up with a phone that can call */

/* The battery at the start. 0; -EINVAL after one sentence to @log. */
int refuse_start(const struct runner *runner, enum observation_method method, const struct log *log);

/* Sets `rejected` where the mode was not what it should be. */
void refuse_observation(const struct runner *runner, const struct mode *mode, struct observation *observation);

/* The same for level steps: @jump was the last change, @biggest the largest, @n how many there were. */
void refuse_steps(const struct runner *runner, double jump, double biggest, double n,
                  struct observation *observation);

/* Too many of @n are rejected for a night to make sense. */
bool refuse_night(size_t n_rejected, size_t n);
