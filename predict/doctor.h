/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What doctor finds, and how it is shown. */

#include <limits.h>

#include "battery.h"
#include "cpu.h"
#include "display.h"
#include "machine.h"
#include "options.h"

struct missing {
        const char *what;
        char why[256];
};

struct findings {
        struct battery_unit *batteries;
        size_t n_batteries;
        struct cpu_policy *policies;
        size_t n_policies;
        const struct collector *collectors[8];
        size_t n_collectors;
        bool has_display, has_disk, has_net;
        struct display_state display;
        char profile[PATH_MAX], database[PATH_MAX];
        struct missing missing[48];
        size_t n_missing;
};

void findings_clear(struct findings *findings);
void findings_miss(struct findings *findings, const char *what, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* What the batteries that were found do not show. */
void findings_check_batteries(struct findings *findings);

/* A virtual device shows itself through the same samples as a real one. An exit code. */
int look_at_virtual(const struct options *options, struct findings *findings);

int doctor_json(const struct findings *findings);
int doctor_table(const struct findings *findings);
