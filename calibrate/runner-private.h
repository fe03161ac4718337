/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the level's and the gauge's halves of the runner share. */

#include "runner.h"

int span_begin(struct runner *runner);
double span_seconds(const struct runner *runner);
/* Begins @mode. One that cannot be held is a hindrance (-EIO) as one whose load ends. */
int runner_hold(struct runner *runner, const struct mode *mode);
/* Whether @err is a hindrance after which the observation is still filled, and rejected. */
bool runner_hindered(int err);
/* The span's part of an observation; moves its usage. */
int span_fill(struct runner *runner, const struct mode *mode, enum observation_method method,
              struct observation *observation);
