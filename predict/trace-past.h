/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "options.h"
#include "trace-print.h"

/*
 * `joulecast trace --from T --to T`: prints each recorded poll with its usage, and the sums of all.
 * @count: polls at most; 0: all. An exit code.
 */
int trace_past(const struct options *options, struct moment *from, int64_t to_ns, uint64_t count,
               struct trace_form *form);
