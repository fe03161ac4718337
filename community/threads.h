/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Work that is taken by whoever has none, so that it is done however many threads there are. */

#include <stddef.h>

#define THREADS_MAX (size_t)64

/* CPUs that this process may use, and at most THREADS_MAX. */
size_t threads_count(void);

/**
 * threads_run() - call a function once in each of several threads, and wait for all
 * @run: gets @data and the number of its thread; 0 is the caller's. It returns 0 or a negative errno
 * @n:   at most so many: where the system gives fewer, the others are not called
 *
 * Return: 0; the error of the lowest number that had one.
 */
int threads_run(int (*run)(void *data, size_t thread), void *data, size_t n);
