/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "first-day.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "machine/machine.h"
#include "model/profile-class.h"
#include "model/profile-match.h"
#include "util/paths.h"
#include "util/util.h"
#include "util/words.h"
#include "virtual/virtual.h"

static int open_root(const char *root)
{
        int fd = open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

static int look_at(const char *device, const char *root, const struct log *log, struct class_facts *ret)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        _cleanup_close_ int root_fd = -1;
        int err;

        if (device) {
                err = virtual_load(device, log, &truth);
                return err ? err : virtual_facts(truth, log, ret);
        }
        root_fd = open_root(root);
        return root_fd < 0 ? root_fd : machine_facts(root_fd, ret);
}

static int load_from(const char *folder, const char *name, const struct log *log, struct profile **ret)
{
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/%s.ini", folder, name) < 0)
                return -ENOMEM;
        return profile_load(path, log, ret);
}

static int load_shipped(const char *folder, const char *root, const struct log *log, char *why, size_t size,
                        struct profile **ret)
{
        _cleanup_close_ int root_fd = open_root(root);
        _cleanup_free_ char *name = NULL;
        int err = root_fd < 0 ? -ENOENT : profile_match_shipped(folder, root_fd, false, &name);

        if (err)
                return err;
        snprintf(why, size, _("it is for devices that are called %s"), name);
        return load_from(folder, name, log, ret);
}

static int load_class(const char *folder, const char *device, const char *root, const struct log *log, char *why,
                      size_t size, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *class = NULL;
        _cleanup_(class_facts_clear) struct class_facts facts = { 0 };
        _cleanup_close_ int root_fd = device ? -1 : open_root(root);
        _cleanup_free_ char *named = NULL;
        const char *name;
        int err = root_fd < 0 ? 0 : profile_match_shipped(folder, root_fd, true, &named);

        if (err && err != -ENOENT)
                return err;
        err = look_at(device, root, log, &facts);
        if (err)
                return err;
        name = profile_class_choose(&facts, why, size);
        if (!name) {
                log_error(log, "no battery shows what kind of device this is, so there is no power model to answer by: "
                          "joulecast profile use class-laptop takes a usual laptop's, joulecast --device "
                          "virtual:laptop simulate --scenario office tries a virtual one");
                return -ENOENT;
        }
        if (named)
                snprintf(why, size, "%s", _("its firmware's name is one of that class"));
        err = load_from(folder, named ? named : name, log, &class);
        return err ? err : profile_from_class(class, &facts, ret);
}

int first_day_profile(const char *device, const char *root, const struct log *log, char *why, size_t size,
                      struct profile **ret)
{
        _cleanup_free_ char *folder = NULL;
        char unused[8];
        int err = paths_data("profiles", &folder);

        if (!why) {
                why = unused;
                size = sizeof(unused);
        }
        if (!err && !device) {
                err = load_shipped(folder, root, log, why, size, ret);
                if (err != -ENOENT)
                        return err;
                err = 0;
        }
        return err ? err : load_class(folder, device, root, log, why, size, ret);
}

int first_day_class(const char *device, const char *root, const struct log *log, struct profile **ret)
{
        _cleanup_free_ char *folder = NULL;
        char unused[8];
        int err = paths_data("profiles", &folder);

        return err ? err : load_class(folder, device, root, log, unused, sizeof(unused), ret);
}

int first_day_adapt(const char *device, const char *root, const struct log *log, struct profile **profile)
{
        _cleanup_(class_facts_clear) struct class_facts facts = { 0 };
        struct profile *adapted = NULL;
        int err;

        if (!profile_is_class_file(*profile))
                return 0;
        err = look_at(device, root, log, &facts);
        if (!err)
                err = profile_from_class(*profile, &facts, &adapted);
        if (err)
                return err;
        profile_free(*profile);
        *profile = adapted;
        return 0;
}
