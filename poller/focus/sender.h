/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The agent's end of the link to the service: connects, reconnects and sends the state. */

#include "backoff.h"
#include "backend.h"
#include "pipewire.h"

struct sender {
        const char *path; /* NULL: the default, looked up at each attempt */
        int fd; /* -1: not connected */
        struct backoff backoff;
        bool refused; /* logged already */
        const struct log *log;
};

/* Connects if a try is due. true: connected just now, so the state has to be sent. */
bool sender_connect(struct sender *sender, uint64_t now_ns);
void sender_send(struct sender *sender, const struct focus_state *state, uint64_t since_ns, bool tick,
                 uint64_t now_ns);
void sender_send_sound(struct sender *sender, const struct pipewire_sound *sound, uint64_t now_ns);
void sender_send_screen(struct sender *sender, uint32_t refresh_mhz, uint64_t now_ns);
/* Reads a message. true: a tick. Closes the sender if the service is gone. */
bool sender_dispatch(struct sender *sender, uint64_t now_ns);
void sender_close(struct sender *sender);
