/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Built without libsystemd. */

#include "logind.h"

#include <errno.h>

int logind_set_brightness(const char *backlight, uint32_t brightness)
{
        return -ENOSYS;
}

int logind_inhibit(const char *why)
{
        return -ENOSYS;
}
