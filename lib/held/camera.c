/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "camera.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sound.h"
#include "util/util.h"

#define MOST_DESCRIPTORS 4096

/* Video encoders and decoders have such nodes, too. What udev knows of a node says which is which. */
static bool is_camera(int root_fd, const char *name)
{
        char path[64], text[4096];
        unsigned major, minor;
        const char *capabilities;

        if (strncmp(name, "video", 5) != 0 ||
            snprintf(path, sizeof(path), "sys/class/video4linux/%s/dev", name) >= (int)sizeof(path) ||
            util_read_at(root_fd, path, text, sizeof(text)) <= 0 || sscanf(text, "%u:%u", &major, &minor) != 2)
                return false;
        snprintf(path, sizeof(path), "run/udev/data/c%u:%u", major, minor);
        if (util_read_at(root_fd, path, text, sizeof(text)) <= 0)
                return true;
        capabilities = strstr(text, "E:ID_V4L_CAPABILITIES=");
        return !capabilities || memmem(capabilities, strcspn(capabilities, "\n"), ":capture:", 9);
}

/* Who opens a driver's node holds its module. Unknown where the driver is built in. */
static bool is_idle(int root_fd, const char *name)
{
        char path[96], text[32];
        int length = snprintf(path, sizeof(path), "sys/class/video4linux/%s/device/driver/module/refcnt", name);

        return length < (int)sizeof(path) &&
               util_read_at(root_fd, path, text, sizeof(text)) > 0 && strcmp(text, "0\n") == 0;
}

bool camera_is_there(int root_fd)
{
        return util_has_entry(root_fd, "sys/class/video4linux", "video");
}

static bool any_in_use(int root_fd)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/class/video4linux");
        const struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                if (is_camera(root_fd, entry->d_name) && !is_idle(root_fd, entry->d_name))
                        return true;
        return false;
}

static bool holds(int root_fd, pid_t pid)
{
        _cleanup_closedir_ DIR *dir = NULL;
        const struct dirent *entry;
        char path[32], target[64];

        snprintf(path, sizeof(path), "proc/%d/fd", (int)pid);
        dir = util_opendir_at(root_fd, path);
        for (size_t n = 0; dir && n < MOST_DESCRIPTORS && (entry = readdir(dir)); n++) {
                ssize_t length = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

                if (length <= 0)
                        continue;
                target[length] = '\0';
                if (strncmp(target, "/dev/video", 10) == 0 && is_camera(root_fd, target + 5))
                        return true;
        }
        return false;
}

static int add(int root_fd, pid_t pid, struct holders *ret)
{
        return holds(root_fd, pid) ? holders_add(ret, held_client(root_fd, pid)) : 0;
}

int camera_find(int root_fd, const struct sample *sample, const struct holders *before, struct holders *ret)
{
        bool used = any_in_use(root_fd);
        int err = 0;

        ret->n = ret->nobodys = 0;
        for (size_t i = 0; used && !err && i < sample->n_processes; i++)
                if (sample->processes[i].ended_ns == 0)
                        err = add(root_fd, sample->processes[i].pid, ret);
        for (size_t i = 0; used && sample->partial && !err && i < before->n; i++)
                err = add(root_fd, before->pids[i], ret);
        return err;
}
