/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "util/util.h"

#define COMM_LENGTH 15 /* TASK_COMM_LEN without its NUL */

/* The kernel marks a file that was replaced by an update. */
static void cut_deleted(char *path)
{
        static const char mark[] = " (deleted)";
        size_t length = strlen(path);

        if (length > strlen(mark) && strcmp(path + length - strlen(mark), mark) == 0)
                path[length - strlen(mark)] = '\0';
}

static bool is_interpreter(const char *name)
{
        static const char *const prefixes[] = { "python", "perl", "ruby", "node", "php", "lua", "bash",
                                                "dash", "sh",
                                                "zsh", "fish", "gjs", "java", "mono", "busybox", "guile",
                                                        "qemu-" };

        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
                if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
                        return true;
        return false;
}

static bool is_named_as(const char *comm, const char *name)
{
        return *name && strncmp(comm, name, COMM_LENGTH) == 0 &&
               strlen(comm) == MIN(strlen(name), (size_t)COMM_LENGTH);
}

/* Base name of the executable file; "": not known. */
static void find_exe(int proc_fd, const char *pid, const struct app_exe *exe, char *name, size_t size)
{
        char path[48], target[PATH_MAX];
        ssize_t n;

        snprintf(path, sizeof(path), "%s/exe", pid);
        n = readlinkat(proc_fd, path, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        if (n < 0 && (errno == EACCES || errno == EPERM) && exe && exe->find &&
            exe->find(exe->data, (pid_t)atoi(pid), name, size))
                return;
        cut_deleted(target);
        snprintf(name, size, "%s", util_base_name(target));
}

void app_program_of(int proc_fd, const char *pid, const char *comm, const struct app_exe *exe, char *name, size_t size)
{
        char path[48], text[PATH_MAX];
        ssize_t n;

        snprintf(path, sizeof(path), "%s/cmdline", pid);
        n = util_read_at(proc_fd, path, text, sizeof(text)); /* argv[0] ends at the first NUL */
        if (n > 0 && is_named_as(comm, util_base_name(text))) {
                util_printable(util_base_name(text), name, size);
                return;
        }
        find_exe(proc_fd, pid, exe, text, sizeof(text));
        util_printable(*text && !is_interpreter(text) ? text : comm, name, size);
        if (!*name)
                snprintf(name, size, "unnamed"); /* an empty id means no app */
}
