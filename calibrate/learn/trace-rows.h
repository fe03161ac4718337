/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Spans of a trace as observations of everyday use. */

#include "measured/measured.h"
#include "observation/everyday.h"

/*
 * Takes spans of unknown energy out of @trace (@left_out of them; @unknown: USAGE_* that some do not know) and joins
 * some; their usage moves to @ret, to be freed by everyday_free(). Times since any other zero than 1970 end at @now_ns.
 * 0; -ENODATA: no span is known; -ENOMEM; -EOVERFLOW.
 */
int trace_rows(struct measured_trace *trace, double full_mwh, int64_t now_ns, struct everyday **ret, size_t *n,
               size_t *left_out,
               uint32_t *unknown);
