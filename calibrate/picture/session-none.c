/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Built without libsystemd: the caller of sudo counts as the user at the screen. */

#include <errno.h>
#include <stdlib.h>

#include "session.h"
#include "util/util.h"

int session_user(uid_t *ret)
{
        const char *text = getenv("SUDO_UID");
        uint64_t uid;

        if (!text || util_parse_u64(text, &uid) < 0 || uid >= UINT32_MAX)
                return -ENOENT;
        *ret = (uid_t)uid;
        return 0;
}
