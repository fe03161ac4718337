/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* GPU time from /proc/PID/fdinfo/N of a GPU's descriptor. Documentation/gpu/drm-usage-stats.rst. */

#include <stdbool.h>
#include <stdint.h>

#include "source.h"

struct gpu_client {
        char device[32];     /* drm-pdev; "" if the bus has no addresses */
        char driver[32];     /* drm-driver; "": not shown */
        uint64_t client;     /* drm-client-id: the same in all descriptors that share the client */
        uint64_t busy_ns;    /* busy time of all engines; an engine with several units counts by its share of them */
        uint64_t cycles;     /* busy cycles, and all cycles, of engines without a time (xe); 0: none */
        uint64_t total_cycles;
};

/* False: it is not a GPU's text, or the driver does not count, or (amdgpu) this client has not used an engine yet. */
bool gpu_parse_fdinfo(const char *text, struct gpu_client *ret);
bool gpu_same_client(const struct gpu_client *one, const struct gpu_client *other);
void gpu_parse_driver(const char *text, char *buf, size_t size); /* "": not shown */

int gpu_open(int root_fd, struct source **ret);

/* Why GPU time of some processes is unknown, one sentence, translated; "": it is known. 0; -ENOMEM. */
int gpu_explain(int root_fd, char *buf, size_t size);
