/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs `joulecast warn --notify` at intervals, which asks the service and shows expected problems. */

#include <stdint.h>
#include <sys/types.h>

#include "util/log.h"

struct warner {
        const struct log *log;
        double every_s;   /* 0: never */
        uint64_t next_ns; /* boottime; 0: not set yet */
        pid_t pid;        /* running process; 0: none */
};

uint64_t warner_deadline(const struct warner *warner); /* boottime; UINT64_MAX: never */
/* Starts it if it is due and the previous one has ended. Does not wait. */
void warner_run(struct warner *warner, uint64_t now_ns);
