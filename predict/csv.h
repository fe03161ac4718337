/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Answers as CSV (RFC 4180): a line of names, then one line each; unknown is empty. */

#include <stddef.h>

#include "forecast/cost.h"

/* Fields of one line, which csv_end() ends. */
void csv_text(const char *text);
void csv_number(double value); /* NaN: empty */
void csv_value(const struct cost_value *value); /* value, low, high */
void csv_time(int64_t time_ns);
void csv_end(void);

/*
 * A cost: its head, and a line for each app and state, for the base, the total, the battery and unattributed
 * energy.
 */
void csv_cost_head(void);
void csv_cost(const struct cost *cost, const struct profile *profile);
