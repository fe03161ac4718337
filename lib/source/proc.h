/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Texts of /proc/PID. proc(5); Documentation/filesystems/proc.rst. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
        char comm[32];       /* raw bytes: may hold ") R 1 (" */
        bool kernel_thread;
        pid_t parent;
        uint64_t cpu_ticks;  /* user and system time, with exited threads; in units of 10 ms (USER_HZ) */
        uint64_t reaped_ticks; /* time of children that it waited for, and of their children, likewise */
        uint64_t start_time; /* ticks since boot */
};

/* @length bytes; need not end in NUL. False: not the kernel's format. */
bool proc_parse_stat(const char *text, size_t length, struct proc_stat *ret);

struct proc_io {
        uint64_t read_bytes;  /* fetched from storage */
        uint64_t write_bytes; /* sent to storage, minus cancelled_write_bytes (deleted before) */
};

bool proc_parse_io(const char *text, struct proc_io *ret);

/*
 * The real user of a process, from its status. Neither the effective user (of a setuid program) nor the owner of
 * /proc/PID (root, if a process may not be dumped) is the user who started it. @proc_fd: the folder /proc.
 * 0 or a negative errno.
 */
int proc_read_uid(int proc_fd, pid_t pid, uid_t *ret);

/* Does the kernel's /proc, mounted with hidepid (proc(5)), hide other users' processes from this user? */
bool proc_hides(int root_fd);
#define PROC_HIDES "/proc is mounted with hidepid, which hides other users' processes: with BPF they are counted by " \
                   "their short names, without it not at all; mount it with gid=GROUP, a group of the user joulecast"
