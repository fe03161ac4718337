/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "notify-user.h"

#include <errno.h>

int notify_user(const char *summary, const char *body)
{
        (void)summary;
        (void)body;
        return -EOPNOTSUPP;
}
