/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "util/paths.h"
#include "util/util.h"
#include "virtual.h"

#define SUFFIX ".ini"

static bool is_file_name(const char *name)
{
        size_t length = strlen(name);

        return strchr(name, '/') ||
               (length > strlen(SUFFIX) && strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0);
}

int virtual_path(const char *folder, const char *name, const struct log *log, char **ret)
{
        _cleanup_free_ char *data = NULL, *path = NULL;
        int err;

        if (is_file_name(name)) {
                *ret = strdup(name);
                return *ret ? 0 : -ENOMEM;
        }
        err = paths_data("virtual", &data);
        if (err < 0)
                return err;
        if (asprintf(&path, "%s/%s%s" SUFFIX, data, folder, name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (access(path, F_OK) < 0) {
                log_error(log, "there is no %s%s (looked for %s); a file needs a / or " SUFFIX " in its name",
                          *folder ? "scenario " : "virtual device ", name, path);
                return -ENOENT;
        }
        *ret = TAKE_PTR(path);
        return 0;
}

int virtual_load(const char *name_or_file, const struct log *log, struct profile **ret)
{
        const char *name = paths_virtual(name_or_file) ? paths_virtual(name_or_file) : name_or_file;
        _cleanup_(profile_freep) struct profile *truth = NULL;
        _cleanup_free_ char *path = NULL;
        int err;

        if (*name == '\0') {
                log_error(log, "virtual: needs the name of a shipped device, or a file");
                return -EINVAL;
        }
        err = virtual_path("", name, log, &path);
        if (!err)
                err = profile_load(path, log, &truth);
        if (err < 0)
                return err;
        if (!truth->virtual_device.present) {
                log_error(log, "%s: no [virtual] section, so this is no virtual device", path);
                return -EINVAL;
        }
        *ret = TAKE_PTR(truth);
        return 0;
}
