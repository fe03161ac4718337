/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "outcome.h"

/* Standard deviation of programs' power from the model's, relative to the power above the base. */
double trace_misfit_percent(const struct outcome *outcome);

/*
 * Sets how much apps are expected to differ from their prices. A trace's rows of real use show that; the usual beliefs
 * count as a few more apps. A calibration has no such rows.
 */
void trace_misfits(struct outcome *outcome);
