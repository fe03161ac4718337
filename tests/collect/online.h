/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The second CPU of this machine goes offline for a moment, and comes back whatever happens. */

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/util.h"

#define ONLINE "/sys/devices/system/cpu/cpu1/online"

static inline bool set_online(const char *text)
{
        _cleanup_close_ int fd = open(ONLINE, O_WRONLY | O_CLOEXEC);

        return fd >= 0 && write(fd, text, 1) == 1;
}

static inline void bring_back(void)
{
        set_online("1");
}

static inline void bring_back_and_end(int number)
{
        bring_back();
        _exit(number == SIGALRM ? 1 : 128 + number);
}

/* Before the first time; it must not take longer than @seconds. */
static inline void promise_to_bring_back(unsigned seconds)
{
        atexit(bring_back);
        signal(SIGALRM, bring_back_and_end);
        signal(SIGINT, bring_back_and_end);
        signal(SIGTERM, bring_back_and_end);
        alarm(seconds);
}
