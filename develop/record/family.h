/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define FAMILY_MAX 1024

struct family {
        pid_t list[FAMILY_MAX];
        size_t n;
};

/* The process, and all that descend from it now. @proc_fd: of /proc. */
void family_find(struct family *family, int proc_fd, pid_t pid);
