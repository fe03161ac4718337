/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shows the arguments of a task's calls: `joulecast record --probe` runs the commands of both folders again. */

#include "comparison.h"

/* @folders: two folders of `joulecast record`. Returns only if it fails: an exit code after its sentence. */
int probe_become(const struct comparison *comparison, const char *const folders[2], const char *task);
