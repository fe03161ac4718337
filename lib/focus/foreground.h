/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "source/source.h"

/* @what: "file:PATH" or "command:COMMAND". 0; -EINVAL: something else; another negative errno. */
int foreground_open(const char *what, const struct log *log, struct source **ret);
