/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Choice of the event of perf script that counts, where files have several. */

#include "read.h"

/*
 * Chooses an event that all files of perf script have: cpu-clock or task-clock, else the first of the first file.
 * @sides: ends with NULL; each is one file, or several with commas between. @event: empty if no file is of perf
 * script. 0; -EINVAL after its sentence: they have none in common; -ENOMEM.
 */
int perf_event_choose(const char *const *sides, const struct log *log, char event[PERF_EVENT_SIZE]);
