/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A folder of `joulecast record`: run.json, runs/N.folded with energy in nJ, and calls.tsv where calls were counted.
 */

#include "read.h"

struct calls;

/* Adds its runs. @calls: in and out, may become something. 0; a negative errno after its sentence. */
int run_folder_read(struct read *read, const char *path, struct calls **calls);
double run_folder_calls(const struct calls *calls, const char *frame); /* NAN: not counted */
void run_folder_free_calls(struct calls *calls);
