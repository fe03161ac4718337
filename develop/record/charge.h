/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Adds the energy of each sample to its stack. */

#include "waking.h"
#include "events.h"
#include "record-parse.h"

struct prices;
struct recording;

struct charged {
        const struct record_sample *sample;
        enum event_kind kind;
        uint32_t stack;
        bool whole, has_app;
};

/* CPU time of one moment, before it is known how many CPUs were busy then. */
struct moment_cpu {
        uint64_t time_ns, period_ns;
        uint32_t cpu, stack;
};

#define CHARGE_CPUS_MAX 1024

struct charge {
        struct prices *prices;
        const struct tracepoints *tracepoints;
        struct waking waking;
        struct moment_cpu *moment;
        size_t n_moment;
        double factor[EVENT_COUNT]; /* by which the period of a sample is multiplied */
        bool receives_by_air; /* WiFi is the only interface that is up besides loopback */
};

int charge_open(struct charge *charge, struct prices *prices, const struct tracepoints *tracepoints);
int charge_add(struct charge *charge, const struct charged *charged, struct recording *recording);
/* Charges the CPU time of the last moment, and the radio's energy until it rests. 0; -ENOMEM. */
int charge_finish(struct charge *charge, struct recording *recording);
/*
 * Charges a GPU's time to the stacks that gave it jobs, in proportion to their jobs; if no jobs are known, to the frame
 * [gpu] at the root. 0; -ENOMEM.
 */
int charge_gpu(struct charge *charge, uint64_t gpu_ns, struct recording *recording);
void charge_clear(struct charge *charge);
