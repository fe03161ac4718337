/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Runs work in several threads. Each takes the next piece when it is free, so the work is done with any
 * number of threads.
 */

#include <stddef.h>

#define THREADS_MAX (size_t)64

/* Number of CPUs that this process may use, at most THREADS_MAX. */
size_t threads_count(void);

/**
 * threads_run() - call a function once in each of several threads, and wait for all
 * @run: gets @data and the number of its thread, where 0 is the caller; returns 0 or a negative errno
 * @n:   number of threads; if the system provides fewer, the others are not called
 *
 * Return: 0; or the error of the thread with the lowest number that failed.
 */
int threads_run(int (*run)(void *data, size_t thread), void *data, size_t n);
