/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shared by the files of the runner. */

#include "runner.h"

int runner_span_begin(struct runner *runner);
double runner_span_seconds(const struct runner *runner);
/* Begins @mode. If it cannot be held, that is a hindrance (-EIO), like a load that ends. */
int runner_hold(struct runner *runner, const struct mode *mode);
/* Does @err end a mode whose observation is still kept, as rejected? */
bool runner_hindered(int err);
/* Fills the span's part of an observation; moves its usage. */
int runner_span_fill(struct runner *runner, const struct mode *mode, enum observation_method method,
              struct observation *observation);

/* runner-look.c: reads everything and adds it up. */
int runner_count(struct runner *runner);
/* A look reads everything anyway. */
bool runner_looks_are_cheap(const struct runner *runner);
/* Energy of a full charge at the present voltage. */
double runner_full_mwh(const struct runner *runner);

/* runner-reject.c: set `rejected` if the mode was not as it should be, ... */
void runner_reject(const struct runner *runner, const struct mode *mode, struct observation *observation);
/* ... if the current sensor showed nothing, ... */
void runner_reject_gauge(const struct runner *runner, struct observation *observation);
/*
 * ... or if the level did not fall step by step. @jump: the last change, @biggest: the largest, @n: their number.
 */
void runner_reject_steps(const struct runner *runner, double jump, double biggest, double n,
                         struct observation *observation);
