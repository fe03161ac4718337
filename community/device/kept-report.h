/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The last report of a server or a folder, community-report.json beside @state, for when there is no other. */

#include "util/log.h"

/* Keeps the text; if it cannot be written, that is said, and the one before is gone. */
void kept_report_write(const char *state, const char *text, const struct log *log);
/* free() it. 0; -ENOENT: none is kept; another negative errno. */
int kept_report_read(const char *state, char **ret);
void kept_report_drop(const char *state);
