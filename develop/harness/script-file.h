/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "script.h"
#include "util/log.h"

/* Reads an input script. 0, and script_clear() it; a negative errno after a sentence to @log. */
int script_file_read(const char *path, const struct log *log, struct script *ret);
