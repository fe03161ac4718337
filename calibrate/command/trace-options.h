/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* `joulecast fit --trace` and `joulecast learn --trace` share this. */

#include "fit/columns.h"
#include "measured/measured.h"
#include "model/profile.h"

/* Reads a file of voltages: kHz,uV per line, ascending. 0; -EINVAL and others, which are logged. */
int trace_voltages_read(const char *path, const struct log *log, struct voltages *ret);
void trace_voltages_clear(struct voltages *voltages);
/* Makes the screen's colours count by the coefficients of @profile; warns if it has none for them. */
void trace_show(struct measured_trace *trace, const struct profile *profile, const struct log *log);
/* The file's name without its folder and its ending. */
const char *trace_device_name(const char *path, char name[PROFILE_NAME_MAX]);
