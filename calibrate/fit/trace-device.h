/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "columns.h"
#include "trace-fit.h"

/* @sums: the usage of all owners, of each span. 0; -ENOMEM; -E2BIG: it has too many policies. */
int trace_device(const struct trace_fit *options, const struct measured_trace *trace, const struct usage *sums,
                 struct device *device);
