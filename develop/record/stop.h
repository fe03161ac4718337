/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Empty until stop_hold(). */
struct stop {
        bool held;
        sigset_t before;
};

/* Holds SIGINT, SIGTERM and SIGHUP, so that what was begun can be removed first. */
void stop_hold(struct stop *stop);

/* One of them that came in the meantime ends us now. */
void stop_release(struct stop *stop);

/* Did one of them come? */
bool stop_asked(void);
