/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs `joulecast warn --notify` now and then, which asks the service and shows what is about to go wrong. */

#include <stdint.h>
#include <sys/types.h>

#include "util/log.h"

struct warner {
        const struct log *log;
        double every_s;   /* 0: never */
        uint64_t next_ns; /* boottime; 0: not set yet */
        pid_t pid;        /* runs; 0: none */
};

uint64_t warner_deadline(const struct warner *warner); /* boottime; UINT64_MAX: never */
/* Starts it if it is time, and the one before has ended. Does not wait. */
void warner_run(struct warner *warner, uint64_t now_ns);
