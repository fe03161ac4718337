/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The answer about a run, as emulate, whatif and compare print it. */

#include <stdbool.h>

#include "harness/daily-use.h"
#include "price.h"
#include "run-file.h"

/* A run, and its cost under conditions, which may differ from those that it was emulated with. */
struct answer_run {
        struct recorded_run *recorded;
        struct network network;
        struct target target;
        struct condition condition;
        struct price prices[PRICE_SEEDS_MAX];
        struct price price;          /* mean over all seeds */
        const struct daily_use *use; /* how much the app is used on this device; NULL: not known */
};

/*
 * Loads target and network, and prices each seed and their mean. 0, and answer_run_clear() it; a negative errno after
 * its sentence, -ENOMEM without.
 */
int answer_run_make(struct recorded_run *recorded, double battery_mwh, const struct log *log, struct answer_run *ret);
void answer_run_clear(struct answer_run *answer);

/* The component of the radio that carries the packets: Wi-Fi or cellular. */
enum component answer_run_air(const struct answer_run *answer);
/* Options for the app's battery use a day; @at: a const char *. */
#define ANSWER_RUN_SHARED (SHARED_JSON | SHARED_PROFILE | SHARED_DATABASE | SHARED_DEVICE)
#define ANSWER_RUN_APP(at)                                                                                   \
        { "app", "NAME", N_("its name on this device, for what it is worth a day; else the program's"), .text = (at) }

struct cJSON *answer_run_json(const struct answer_run *answer);
/*
 * Writes an HTML page with all that, which also prices the first run again for another brightness, signal or
 * battery. 0; a negative errno.
 */
int answer_run_page(const struct answer_run *answer, const char *path);
/*
 * Writes the page to @path, or prints JSON or the table. If the database of @options has the app (as @app, or if that
 * is NULL by its program's name), also says what it takes of the target's battery a day. Returns an exit code.
 */
int answer_run_say(struct answer_run *answer, const char *path, const struct options *options, const char *app);
