/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* With what a task is called: `joulecast record --probe` runs the commands of both folders again. */

#include "comparison.h"

/* @folders: of `joulecast record`. Does not come back unless it fails: an exit code after its sentence. */
int probe_become(const struct comparison *comparison, const char *const folders[2], const char *task);
