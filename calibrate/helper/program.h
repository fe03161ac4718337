/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One of our own programs as a child, at the other ends of two pipes. It ends with its input, or with us.
 * What speaks of the device stays here; foreign libraries, and their crashes, stay there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct program {
        pid_t pid;    /* 0: none */
        int to_fd;    /* its standard input; -1: closed */
        int from_fd;  /* its standard output */
        char line[512];
        size_t length;
};

/*
 * @arguments: the first is its name: beside this program in the build folder, in libexec when installed, else
 * wherever the user has it; with a "/" it is a path. 0, also where it is not there: then it ends with 127
 * without a word.
 */
int program_start(char *const arguments[], struct program *ret);
/* A line without its end. 0; -EPIPE: it has ended. */
int program_say(struct program *program, const char *line);
/*
 * A line without its end, cut to @size. 0; -ETIMEDOUT; -EPIPE: it has ended; -EMSGSIZE: no line is so long.
 */
int program_hear(struct program *program, int timeout_ms, char *buf, size_t size);
bool program_lives(const struct program *program);
/* Closes its input; it ends by itself, or is ended. Its exit status; a negative errno. Safe to repeat. */
int program_end(struct program *program);

/* Something to read within @timeout_ms? 0; -ETIMEDOUT; -errno. */
int program_wait_readable(int fd, int timeout_ms);
