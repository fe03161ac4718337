/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Does a collector open here? Each is tried in a process of its own, and all at once: the kernel takes 0.1
 * s and more to check the programs of each that uses BPF.
 */

#include <stdint.h>
#include <sys/types.h>

#include "process/collector.h"

struct trial {
        const struct collector *collector;
        pid_t pid;
        int fd; /* its answer comes there; -1: it was not begun */
};

struct trial_result {
        int err;         /* 0: it opens; -errno */
        uint32_t counts; /* as of struct source */
        uint32_t net_by;
};

void trial_begin(const struct collector *collector, const struct collector_options *how, struct trial *ret);
/* Waits for it. */
struct trial_result trial_end(struct trial *trial);
