/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "own-folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "paths.h"
#include "util.h"

/* Is @path in the folder that is @levels above @file, or below that folder? Frees @file. */
static bool lies_beside(const char *path, char *file, unsigned levels)
{
        _cleanup_free_ char *folder = file;
        char *slash = NULL;

        for (unsigned i = 0; folder && i < levels; i++) {
                slash = strrchr(folder, '/');
                if (slash)
                        *slash = '\0';
        }
        return slash && strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/';
}

static bool is_ours(const char *path)
{
        char *profile = NULL, *usage = NULL, *observations = NULL, *simulated = NULL, *focus = NULL;
        bool ours;

        /* Without a home there is no default, and it stays NULL. */
        paths_profile(NULL, true, &profile);
        paths_usage(NULL, true, &usage);
        paths_observations(NULL, &observations);
        paths_usage("virtual:any", true, &simulated);
        if (paths_focus_socket(&focus) < 0)
                focus = NULL;
        ours = lies_beside(path, profile, 1);
        ours |= lies_beside(path, usage, 1);
        ours |= lies_beside(path, observations, 1);
        ours |= lies_beside(path, simulated, 2);
        ours |= lies_beside(path, focus, 1);
        ours |= lies_beside(path, strdup(PATHS_SERVICE_SOCKET), 1);
        return ours;
}

int own_folder_make(const char *path, unsigned mode)
{
        mode_t mask;
        int err;

        if (!is_ours(path))
                return 0;
        /* Others must have access if @mode allows it: users to a socket, the service to a profile. */
        mask = umask(0777 & ~mode);
        err = util_make_parent(path, mode);
        umask(mask);
        return err;
}

const char *own_folder_why(int err)
{
        if (err == -ELOOP)
                return "it is a link; name the file that it leads to";
        if (err == -EPERM)
                return "it is another user's file";
        return err == -ENOENT ? "its folder does not exist" : util_reason(err);
}
