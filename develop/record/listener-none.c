/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>

#include "answer/options.h"
#include "listener.h"

int listener_new(struct listener **ret)
{
        log_error(&program_log, "this build keeps no input of windows: it was made without libxtst or "
                  "libxcb-res; --terminal keeps what is typed in a terminal");
        return -ENOTSUP;
}

void listener_free(struct listener *listener)
{
}

int listener_fd(const struct listener *listener)
{
        return -1;
}

void listener_follow(struct listener *listener, pid_t program)
{
}

int listener_step(struct listener *listener)
{
        return 0;
}

int listener_write(struct listener *listener, const char *path)
{
        return -ENOTSUP;
}
