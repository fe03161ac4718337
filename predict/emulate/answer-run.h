/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What emulate, whatif and compare print of a run. */

#include <stdbool.h>

#include "price.h"
#include "run-file.h"

/* A run, and what it costs under conditions, which may not be those that it was emulated with. */
struct answer_run {
        struct recorded_run *recorded;
        struct network network;
        struct target target;
        struct condition condition;
        struct price prices[PRICE_SEEDS_MAX];
        struct price price;          /* of all seeds */
};

/* Loads target and network, and prices. 0; a negative errno after its sentence, -ENOMEM without. answer_run_clear() it. */
int answer_run_make(struct recorded_run *recorded, double battery_mwh, const struct log *log, struct answer_run *ret);
void answer_run_clear(struct answer_run *answer);

struct cJSON *answer_run_json(const struct answer_run *answer);
/* A table, a picture of the power over time, the hungriest parts, and how well it was emulated. 0; -ENOMEM. */
int answer_run_print(const struct answer_run *answer);
/* A page of HTML with all that, which also prices the first run again for another brightness, signal or battery. 0; a negative errno. */
int answer_run_page(const struct answer_run *answer, const char *path);
/* The page, if @path is one, else JSON or the table. An exit code. */
int answer_run_say(const struct answer_run *answer, const char *path, bool json);
