/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* CPU load: one computing thread pinned to each of some CPUs. */

#include <stddef.h>
#include <stdint.h>

struct spin;

/* -EINVAL: one of @cpus is offline or not allowed; another negative errno. No thread runs then. */
int spin_start(const uint32_t *cpus, size_t n, struct spin **ret);
void spin_stop(struct spin *spin); /* waits for the threads, microseconds; NULL does nothing */
