/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Shows the arguments with which a function is called: programs are run again with a uprobe on it, which fetches the
 * arguments and the texts that they point to.
 */

#include <stddef.h>
#include <stdint.h>

#define PROBE_ARGUMENTS 6     /* integers and pointers in registers, by the calling convention */
#define PROBE_CALLS_MAX 100000 /* only so many calls of a program are looked at: its first ones */

struct probed;

/**
 * probe_run() - run a program with a probe
 * @argv:   its command
 * @path:   path of the file that has the function
 * @offset: where in the file the function begins
 * @ret:    the arguments seen, to probe_free()
 *
 * Return: 0; -EINTR: the user stopped it; a negative errno after its sentence.
 */
int probe_run(char *const argv[], const char *path, uint64_t offset, struct probed **ret);
void probe_free(struct probed *probed);
/* Prints a table of the arguments that differ between two programs; if @b is NULL, of the arguments in one program. */
void probe_print(const char *function, const struct probed *a, const struct probed *b);
