/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the parts of the runner share: looks, the level's steps, the gauge. */

#include "runner.h"

int runner_span_begin(struct runner *runner);
double runner_span_seconds(const struct runner *runner);
/* Begins @mode. One that cannot be held is a hindrance (-EIO) as one whose load ends. */
int runner_hold(struct runner *runner, const struct mode *mode);
/* Whether @err is a hindrance after which the observation is still filled, and rejected. */
bool runner_hindered(int err);
/* The span's part of an observation; moves its usage. */
int runner_span_fill(struct runner *runner, const struct mode *mode, enum observation_method method,
              struct observation *observation);

/* runner-look.c: reads everything and counts it, apart from the looks. */
int runner_count(struct runner *runner);
/* A look reads everything anyway. */
bool runner_looks_are_cheap(const struct runner *runner);
/* What full charge holds at the voltage of now. */
double runner_full_mwh(const struct runner *runner);

/* runner-reject.c: sets `rejected` where the mode was not what it should be, ... */
void runner_reject(const struct runner *runner, const struct mode *mode, struct observation *observation);
/* ... or the current sensor showed nothing, ... */
void runner_reject_gauge(struct observation *observation);
/* ... or the level did not fall step by step. @jump: the last change, @biggest: the largest, @n: how many. */
void runner_reject_steps(const struct runner *runner, double jump, double biggest, double n,
                         struct observation *observation);
