/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Starts programs beside the agent. */

#include <stdbool.h>
#include <sys/types.h>

struct helper_options {
        int stdin_fd;   /* its standard input; -1: /dev/null */
        bool quiet;     /* its errors are discarded */
        bool own_group; /* it survives a kill of the agent's process group */
};

/*
 * Starts a program with no signal blocked and its output discarded. @ret: a child. Returns 0 or a negative
 * errno.
 */
int helper_start(const char *program, char *const *arguments, const struct helper_options *options, pid_t *ret);
