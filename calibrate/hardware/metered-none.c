/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Built without libsystemd. */

#include "metered.h"

#include <errno.h>

int metered(const char *interface)
{
        return -ENOSYS;
}
