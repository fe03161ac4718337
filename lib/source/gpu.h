/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Texts of /proc/PID/fdinfo/N of a GPU. Documentation/gpu/drm-usage-stats.rst. */

#include <stdbool.h>
#include <stdint.h>

#include "source.h"

struct gpu_client {
        char device[32];     /* drm-pdev, or "" where the bus has no addresses */
        uint64_t client;     /* drm-client-id: the same in all descriptors that share it */
        uint64_t busy_ns;    /* of all engines; an engine of several units counts by its share of them */
        uint64_t cycles;     /* of engines without a time (xe): busy cycles, and all cycles; 0: none */
        uint64_t total_cycles;
};

/* False: not a GPU's, or its driver does not count. */
bool gpu_parse_fdinfo(const char *text, struct gpu_client *ret);

int gpu_open(int root_fd, struct source **ret);
