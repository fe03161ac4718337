/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Which apps run on this device now, as far as is recorded. */

#include <stddef.h>

#include "store/store.h"

struct running {
        char **names;
        size_t n, capacity;
};

/* In the last quarter of an hour that was recorded. 0; -ENODATA: nothing is recorded; another negative errno. */
int running_read(struct store *store, struct running *ret);
void running_clear(struct running *running);
