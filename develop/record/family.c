/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "family.h"
#include "util/util.h"

/* The children of each of its threads. */
static void add_children(struct family *family, int proc_fd, pid_t pid)
{
        _cleanup_closedir_ DIR *folder = NULL;
        struct dirent *entry;
        char path[300], text[8192];

        snprintf(path, sizeof(path), "%d/task", (int)pid);
        folder = util_opendir_at(proc_fd, path);
        while (folder && (entry = readdir(folder))) {
                snprintf(path, sizeof(path), "%d/task/%s/children", (int)pid, entry->d_name);
                if (*entry->d_name == '.' || util_read_at(proc_fd, path, text, sizeof(text)) <= 0)
                        continue;
                for (char *at = text, *end; family->n < FAMILY_MAX; at = end) {
                        long child = strtol(at, &end, 10);

                        if (end == at || child <= 0 || child > INT32_MAX)
                                break;
                        family->list[family->n++] = (pid_t)child;
                }
        }
}

void family_find(struct family *family, int proc_fd, pid_t pid)
{
        family->list[0] = pid;
        family->n = 1;
        for (size_t i = 0; i < family->n; i++)
                add_children(family, proc_fd, family->list[i]);
}
