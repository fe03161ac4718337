/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Used in a build without sd-bus. */

#include <errno.h>

#include "session.h"

int session_open(struct source *focus, const struct log *log, struct source **ret)
{
        return -ENODEV;
}
