/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Which processes play or record sound through the session's PipeWire, which serves clients of PulseAudio, too. Its
 * protocol is spoken here: the library needs more memory than all of this program, and a thread.
 */

#include "backoff.h"
#include "focus/focus-link.h"
#include "stream.h"
#include "util/log.h"

struct pipewire {
        struct stream stream;
        int watch_fd;            /* inotify: where the daemon's socket appears */
        struct backoff backoff;
        unsigned tries;          /* left, until the socket appears again */
        uint32_t sequence;
        struct pipewire_object *objects;
        size_t n, capacity;
        uint32_t *proxies;       /* the objects of our numbers, from FIRST_PROXY on */
        size_t n_proxies, proxies_capacity;
        const struct log *log;
};

/* Who plays or records now, as far as it is known. */
struct pipewire_sound {
        bool others;             /* somebody else does, whose process is not known */
        pid_t pids[FOCUS_PLAYERS_MAX]; /* ascending */
        size_t n;
};

void pipewire_open(struct pipewire *pipewire, const struct log *log);
void pipewire_close(struct pipewire *pipewire);
int pipewire_fd(const struct pipewire *pipewire); /* changes; -1: there is none */
uint64_t pipewire_deadline(const struct pipewire *pipewire); /* of the next try; UINT64_MAX: none */
void pipewire_connect(struct pipewire *pipewire, uint64_t now_ns); /* if a try is due */
void pipewire_dispatch(struct pipewire *pipewire, uint64_t now_ns);
void pipewire_sound(const struct pipewire *pipewire, int root_fd, struct pipewire_sound *ret);
/* Reads what arrived. 0; -EPROTO; -ECONNRESET; -ENOMEM; -EFBIG. For tests. */
int pipewire_hear(struct pipewire *pipewire);
