/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "measured/measured.h"

/* Begins with a usual OLED and the trace's mean picture. False: the screen's colours are known in too few spans. */
bool trace_picture_means(const struct measured_trace *trace, struct measured_colours *ret);
/*
 * Moves @colours one step towards the parts that explain the trace best. @profile was fitted with the present @colours.
 * 0; -ENODATA: the trace does not determine them; -ENOMEM; -EOVERFLOW.
 */
int trace_picture_step(const struct measured_trace *trace, const struct profile *profile,
                       struct measured_colours *colours);
