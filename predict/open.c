/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The two things that answers are made from, and what to say where one is not there. */

#include <errno.h>
#include <string.h>

#include "options.h"
#include "paths.h"
#include "profile.h"
#include "util.h"

static int tell_device(const struct options *options, int err)
{
        char device[128];

        if (!options->device)
                log_error(&program_log, "there is no home folder to look in; say --profile FILE and --database FILE");
        else
                log_error(&program_log, "--device %s: %s", util_printable(options->device, device, sizeof(device)),
                          err == -EINVAL ? "a device is virtual:NAME or virtual:FILE" : strerror(-err));
        return err == -EINVAL ? CODE_USAGE : CODE_FAILED;
}

int open_profile(const struct options *options, struct profile **ret)
{
        _cleanup_free_ char *found = NULL;
        const char *path = options->profile;
        int err;

        if (!path) {
                err = paths_profile(options->device, false, &found);
                if (err < 0)
                        return tell_device(options, err);
                path = found;
        }
        if (access(path, F_OK) < 0 && errno == ENOENT) {
                log_error(&program_log, "there is no profile %s; run joulecast calibrate, or joulecast profile use NAME",
                          path);
                return CODE_NO_DATA;
        }
        return profile_load(path, &program_log, ret) < 0 ? CODE_FAILED : CODE_OK;
}
