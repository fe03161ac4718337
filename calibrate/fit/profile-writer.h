/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * joulecast-fit computes as nobody, also if root starts it. What may write the profile's folder is a process of its own
 * then, which gets the profile's text and does nothing else.
 */

#include "outcome.h"

struct profile_writer {
        const char *path;
        pid_t pid; /* 0: this process writes */
        int fd;
};

/* Before root is given up. @path must outlive it; NULL: nothing is written. 0 or a negative errno. */
int profile_writer_start(const char *path, struct profile_writer *ret);
/* Once. Says in @written where the profile is. 0 or a negative errno, as of profile_history_replace(). */
int profile_writer_put(struct profile_writer *writer, struct profile *profile, struct written *written);
void profile_writer_end(struct profile_writer *writer);
