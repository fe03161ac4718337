/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * joulecast-fit computes as an unprivileged user, even if root starts it. Then a separate process keeps the
 * right to write to the profile's folder; it receives the profile's text and does nothing else.
 */

#include "outcome.h"

struct profile_writer {
        const char *path;
        bool always;
        pid_t pid; /* 0: this process writes */
        int fd;
};

/*
 * Before root is given up. @path must outlive it; NULL: nothing is written. @always: also in the place of one
 * that is better.
 * 0 or a negative errno.
 */
int profile_writer_start(const char *path, bool always, struct profile_writer *ret);
/* Once. Says in @written where the profile is. 0 or a negative errno, as of profile_history_replace(). */
int profile_writer_put(struct profile_writer *writer, struct profile *profile, struct written *written);
void profile_writer_end(struct profile_writer *writer);
