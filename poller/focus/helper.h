/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Programs that the agent starts beside itself. */

#include <stdbool.h>
#include <sys/types.h>

struct helper_options {
        int stdin_fd;   /* what it reads; -1: nothing */
        bool quiet;     /* nobody gets its errors */
        bool own_group; /* a kill of the agent's group leaves it alive */
};

/* With no signal blocked, and nobody gets its output. @ret: a child. 0; a negative errno. */
int helper_start(const char *program, char *const *arguments, const struct helper_options *options, pid_t *ret);
