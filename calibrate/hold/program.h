/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One of our own programs as a child, connected by two pipes. It ends when its input closes or this process
 * dies. Foreign libraries, and their crashes, stay in the child.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct program {
        pid_t pid;    /* 0: none */
        int to_fd;    /* its standard input; -1: closed */
        int from_fd;  /* its standard output */
        char line[4096];
        size_t length;
};

/*
 * @arguments: the first is the program's name, looked up beside this program in the build folder, in libexec
 * when installed, else in PATH; with a "/" it is a path. Returns 0 also if the program does not exist: the
 * child then exits with 127.
 */
int program_start(char *const arguments[], struct program *ret);
/* Writes @line and a newline. 0; -EPIPE: the child has ended. */
int program_say(struct program *program, const char *line);
/*
 * Reads one line, without its newline, cut to @size. 0; -ETIMEDOUT; -EPIPE: the child has ended; -EMSGSIZE:
 * the line is too long.
 */
int program_hear(struct program *program, int timeout_ms, char *buf, size_t size);
bool program_lives(const struct program *program);
/*
 * Closes the input and waits; kills the child if needed. Its exit status; a negative errno. Safe to repeat.
 */
int program_end(struct program *program);

/* Waits until @fd is readable. 0; -ETIMEDOUT; -errno. */
int program_wait_readable(int fd, int timeout_ms);
