/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A run as a folder: run.json, and for each seed the tables of run-rows.h. */

#include "bench.h"
#include "price.h"
#include "util/log.h"

/* A run, and the options that it was emulated with. All texts are free()d by run_file_clear(). */
struct recorded_run {
        char *target, *network;    /* as they were given */
        char *carrier, *signal;    /* NULL: not given */
        char *app;                 /* the program's name; NULL: not known, as in runs of older versions */
        double brightness_percent;
        double speed[BENCH_KERNELS]; /* results of bench_run() on the machine that it ran on; NaN: not measured */
        double cpu_factor;         /* the CPU factor that was given; NaN: it follows from the speeds */
        struct run runs[PRICE_SEEDS_MAX];
        size_t n_runs;
};

void run_file_clear(struct recorded_run *run);
/*
 * May a run be saved there? It is a new folder, an empty one, or one that has a run. 0, or a negative errno
 * after a sentence.
 */
int run_check_folder(const char *folder, const struct log *log);
/* Writes such a folder. 0, or a negative errno after a sentence to @log. */
int run_save(const struct recorded_run *run, const char *folder, const struct log *log);
/* Reads such a folder. 0, and run_file_clear() it; a negative errno after a sentence to @log. */
int run_load(const char *folder, const struct log *log, struct recorded_run *ret);
