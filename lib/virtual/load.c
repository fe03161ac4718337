/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "util/offer.h"
#include "util/paths.h"
#include "util/util.h"
#include "virtual.h"

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
        err = offer_find("virtual", "virtual device", name, log, &path);
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
