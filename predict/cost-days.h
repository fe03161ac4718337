/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* `joulecast cost --by day`: a row for each day of a span, in local time. */

#include "ask.h"

/* An exit code. -ENODATA: nothing was recorded in that time. */
int cost_days(const struct ask *ask, const struct options *options, bool csv, int64_t from_ns, int64_t to_ns);
