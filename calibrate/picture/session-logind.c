/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The user of the session on the screen, by logind. */

#include <errno.h>
#include <string.h>
#include <systemd/sd-login.h>

#include "session.h"
#include "util/util.h"

int session_user(uid_t *ret)
{
        _cleanup_free_ char *session = NULL, *type = NULL;
        uid_t uid;
        int err = sd_seat_get_active("seat0", &session, &uid);

        if (err >= 0)
                err = sd_session_get_type(session, &type);
        if (err < 0)
                return err == -ENODATA || err == -ENXIO ? -ENOENT : err;
        if (strcmp(type, "wayland") != 0 && strcmp(type, "x11") != 0 && strcmp(type, "mir") != 0)
                return -ENOENT;
        *ret = uid;
        return 0;
}
