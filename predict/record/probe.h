/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* With what a function is called: programs are run again with a uprobe on it, which fetches arguments and the texts they point to. */

#include <stddef.h>
#include <stdint.h>

#define PROBE_ARGUMENTS 6     /* integers and pointers in registers, by the calling convention */
#define PROBE_CALLS_MAX 100000 /* of one program that are looked at, its first ones */

struct probed;

/**
 * probe_run() - run a program with a probe
 * @argv:   its command
 * @path:   of the file that has the function
 * @offset: where in it the function begins
 * @ret:    what was seen; NULL: nothing yet
 *
 * Return: 0; -EINTR: the user stopped it; a negative errno after its sentence.
 */
int probe_run(char *const argv[], const char *path, uint64_t offset, struct probed **ret);
void probe_free(struct probed *probed);
/* A table of what differs between two programs, or of one (@b NULL) what it is called with. */
void probe_print(const char *function, const struct probed *a, const struct probed *b);
