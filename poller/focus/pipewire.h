/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Finds the processes that play or record sound through the session's PipeWire, which also serves clients of
 * PulseAudio. The protocol is implemented here: the library needs more memory than this whole program, and a
 * thread.
 */

#include "backoff.h"
#include "focus/focus-link.h"
#include "stream.h"
#include "util/log.h"

struct pipewire {
        struct stream stream;
        int watch_fd;            /* inotify: folder in which the daemon's socket appears */
        struct backoff backoff;
        unsigned tries;          /* attempts left until the socket appears again */
        uint32_t sequence;
        struct pipewire_object *objects;
        size_t n, capacity;
        uint32_t *proxies;       /* object of each of our numbers, from FIRST_PROXY on */
        size_t n_proxies, proxies_capacity;
        const struct log *log;
};

/* Processes that play or record now, as far as known. */
struct pipewire_sound {
        bool others;             /* an unknown process does, too */
        pid_t pids[FOCUS_PLAYERS_MAX]; /* ascending */
        size_t n;
};

void pipewire_open(struct pipewire *pipewire, const struct log *log);
void pipewire_close(struct pipewire *pipewire);
int pipewire_fd(const struct pipewire *pipewire); /* readable on changes; -1: not connected */
uint64_t pipewire_deadline(const struct pipewire *pipewire); /* time of the next attempt; UINT64_MAX: none */
void pipewire_connect(struct pipewire *pipewire, uint64_t now_ns); /* if an attempt is due */
void pipewire_dispatch(struct pipewire *pipewire, uint64_t now_ns);
void pipewire_sound(const struct pipewire *pipewire, int root_fd, struct pipewire_sound *ret);
/* Reads the available messages; for tests. Returns 0; -EPROTO; -ECONNRESET; -ENOMEM; -EFBIG. */
int pipewire_hear(struct pipewire *pipewire);
