/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The records of one run as tables: packets-SEED.csv and others of a run's folder (docs/emulation.md). */

#include "price.h"
#include "util/log.h"
#include "util/units.h"

#define RUN_ROWS_NS_MAX ((int64_t)RADIO_SECONDS_MAX * (int64_t)NS_PER_S)

/* Writes the files of the run's seed. 0; a negative errno after a sentence to @log. */
int run_rows_save(const struct run *run, const char *folder, const struct log *log);
/* @run: has its seed. 0; a negative errno after a sentence. @run is to be cleared in both cases. */
int run_rows_load(const char *folder, const struct log *log, struct run *run);
