/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The CPUs as a part, in two files: which there are (cpu-find.c), and what is done with them (cpu.c). */

#include "frequency.h"
#include "part.h"
#include "spin.h"

#define POLICIES_MAX 64

/* Where a policy is in the description. */
struct place {
        size_t group, member;
};

struct cpu_part {
        struct part part; /* first */
        const struct log *log;
        struct hardware_description groups; /* its policies alone */
        struct frequency_policy policies[POLICIES_MAX];
        struct place places[POLICIES_MAX];
        uint32_t pinned_khz[POLICIES_MAX]; /* 0: as we found it */
        size_t n_policies;
        bool drives;               /* there is cpufreq, and this build can drive it */
        bool missing;              /* there is, and it cannot */
        struct settings *settings; /* once prepared */
        struct spin *spin;
};

/* Fills the policies, their groups, and whether they can be pinned. */
int cpu_find(struct cpu_part *self, int root_fd);
