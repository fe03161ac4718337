/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The CPUs as a part: cpu-find.c finds them, cpu.c controls them. */

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
        struct hardware_description groups; /* only the policies are used */
        struct frequency_policy policies[POLICIES_MAX];
        struct place places[POLICIES_MAX];
        uint32_t pinned_khz[POLICIES_MAX]; /* 0: not pinned */
        size_t n_policies;
        bool drives;               /* this machine has cpufreq, and this build can drive it */
        bool missing;              /* this machine has cpufreq, and this build cannot drive it */
        struct settings *settings; /* NULL: not prepared */
        struct spin *spin;
};

/* Finds the policies and their groups, and whether they can be pinned. */
int cpu_find(struct cpu_part *self, int root_fd);
