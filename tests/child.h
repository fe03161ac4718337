/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Children of a test, which runs as root: kill() takes the -1 of a fork that failed for every process there is. */

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* fork(), or the end of the test. */
static inline pid_t start_child(void)
{
        pid_t pid = fork();

        if (pid < 0) {
                perror("fork");
                exit(1);
        }
        return pid;
}

/* Killed and reaped, where it is one; false where it was not there. */
static inline bool end_child(pid_t pid)
{
        return pid > 0 && kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid;
}
