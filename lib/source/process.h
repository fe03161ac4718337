/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Texts of /proc/PID. proc(5); Documentation/filesystems/proc.rst. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_stat {
        char comm[32];       /* bytes as they come: it may hold ") R 1 (" */
        bool kernel_thread;
        pid_t parent;
        uint64_t cpu_ticks;  /* user and system, with exited threads; of 10 ms (USER_HZ) */
        uint64_t reaped_ticks; /* user and system of children that it waited for, and of theirs */
        uint64_t start_time; /* ticks since boot */
};

/* @length bytes; need not end in NUL. False: not what the kernel writes. */
bool process_parse_stat(const char *text, size_t length, struct process_stat *ret);

struct process_io {
        uint64_t read_bytes;  /* fetched from storage */
        uint64_t write_bytes; /* sent to storage, minus cancelled_write_bytes (deleted before they got there) */
};

bool process_parse_io(const char *text, struct process_io *ret);

/*
 * The real user, whose it is: a program that runs with another's rights is still the one's who
 * started it, and /proc/PID is root's where a process may not be dumped. @proc_fd: of the folder
 * /proc. 0 or a negative errno.
 */
int process_read_uid(int proc_fd, pid_t pid, uid_t *ret);

/* Of the folder /proc: the kernel's own, and not the copy in a machine tree. */
bool process_is_procfs(int proc_fd);

/**
 * program_of_process() - what a process runs, by its name
 * @proc_fd: of the folder /proc
 * @pid:     as text
 * @comm:    of the process
 * @name:    gets it, printable
 *
 * What it was called as where that is its own doing (argv[0] agrees with comm), a script's own name, else the
 * file that runs. The app it belongs to is another matter (app.h).
 */
void program_of_process(int proc_fd, const char *pid, const char *comm, char *name, size_t size);
