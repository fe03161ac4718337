/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* CPU load: a thread on each of some CPUs, pinned there, that computes until it is told to end. */

#include <stddef.h>
#include <stdint.h>

struct spin;

/* -EINVAL: one of @cpus is offline or not ours; another negative errno. Nothing spins then. */
int spin_start(const uint32_t *cpus, size_t n, struct spin **ret);
void spin_stop(struct spin *spin); /* waits for the threads' end, microseconds; NULL is fine */
