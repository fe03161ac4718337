/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refresh.h"

/* Used in a build without Wayland. */
uint32_t refresh_read(void)
{
        return 0;
}
