/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/* Where in a file a function that it exports begins. 0; -ENOENT: it has none of that name; another negative errno. */
int symbol_offset(const char *path, const char *function, uint64_t *ret);
