/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The agent's end of the link: connects, says what is known,
 * and tries again where the service is not there.
 */

#include "backoff.h"
#include "backend.h"

struct sender {
        const char *path; /* NULL: where the service is by default, which is asked at each attempt */
        int fd; /* -1: not connected */
        struct backoff backoff;
        bool refused; /* was said once */
        const struct log *log;
};

/* Connects if it is time to. true: connected just now, so say what is known. */
bool sender_connect(struct sender *sender, uint64_t now_ns);
void sender_send(struct sender *sender, const struct focus_state *state, uint64_t since_ns, bool tick,
                 uint64_t now_ns);
/* What came: true for a tick. A service that is gone closes the sender. */
bool sender_dispatch(struct sender *sender, uint64_t now_ns);
void sender_close(struct sender *sender);
