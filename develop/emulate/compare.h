/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs of joulecast emulate beside each other. */

#include "answer-run.h"

struct compared {
        const char *name; /* the run's folder */
        struct recorded_run recorded;
        struct answer_run answer;
        struct span difference_j; /* from the first one */
};

/* A difference in percent of the first run's energy. */
double compare_percent(const struct compared *first, double difference_j);
/* A page of HTML: @n runs with their differences, and what each takes by component. 0; a negative errno. */
int compare_page(const struct compared *list, size_t n, const char *path);
