/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Lists the apps that run on this device now, as far as recorded. */

#include <stddef.h>

#include "store/store.h"

struct running {
        char **names;
        size_t n, capacity;
};

/*
 * Reads the last recorded quarter of an hour. Returns 0; -ENODATA: nothing is recorded; another negative
 * errno.
 */
int running_read(struct store *store, struct running *ret);
void running_clear(struct running *running);
