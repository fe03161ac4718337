/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "stop.h"

void stop_hold(struct stop *stop)
{
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGHUP);
        stop->held = sigprocmask(SIG_BLOCK, &signals, &stop->before) == 0;
}

void stop_release(struct stop *stop)
{
        if (stop->held)
                sigprocmask(SIG_SETMASK, &stop->before, NULL);
        stop->held = false;
}

bool stop_asked(void)
{
        sigset_t signals;

        return sigpending(&signals) == 0 &&
               (sigismember(&signals, SIGINT) == 1 || sigismember(&signals, SIGTERM) == 1 ||
                sigismember(&signals, SIGHUP) == 1);
}
