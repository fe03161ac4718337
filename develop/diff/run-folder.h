/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A folder of `joulecast record`: run.json, runs/N.folded with energy in nJ, and calls.tsv where calls were counted.
 */

#include <stdio.h>

#include "read.h"

/* Adds its runs, and their calls. 0; a negative errno after its sentence. */
int run_folder_read(struct read *read, const char *path);
/*
 * Opens one of its files to be read line by line. It has at most 512 MiB, so that its lines fit into memory. 0;
 * -ENOENT; another negative errno after its sentence.
 */
int run_folder_open(const struct read *read, const char *path, FILE **ret);
