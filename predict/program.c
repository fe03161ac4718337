/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/paths.h"
#include "util/util.h"

/* Replaces this process, if there is such a file. */
static void try_exec(const char *folder, const char *middle, const char *program, char **argv)
{
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/%s%s%s", folder, middle, *middle ? "/" : "", program) >= 0)
                execv(path, argv);
}

void program_exec(const char *folder, const char *program, char **argv)
{
        _cleanup_free_ char *build = paths_build_root();
        char exe[PATH_MAX], *slash;
        ssize_t length;

        if (build) {
                try_exec(build, folder, program, argv);
                return;
        }
        length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
        exe[length > 0 ? length : 0] = '\0';
        slash = strrchr(exe, '/');
        try_exec(JOULECAST_LIBEXECDIR, "", program, argv);
        if (slash) {
                *slash = '\0';
                try_exec(exe, "", program, argv);
        }
        execvp(program, argv);
}
