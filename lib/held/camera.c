/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "camera.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sound.h"
#include "util/units.h"
#include "util/util.h"

#define MOST_DESCRIPTORS 4096
#define BEGIN_SLACK_NS (20 * NS_PER_MS) /* /proc shows start times in steps of 10 ms */

struct camera_fd {
        pid_t pid;
        int fd;
};

/*
 * Video encoders and decoders have such nodes, too; udev's record of the node shows whether it is a camera.
 */
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

/* A camera that is suspended is off, even if a process has it open. */
static bool is_suspended(int root_fd, const char *name)
{
        char path[96], text[32];

        return snprintf(path, sizeof(path), "sys/class/video4linux/%s/device/power/runtime_status", name) <
               (int)sizeof(path) &&
               util_read_at(root_fd, path, text, sizeof(text)) > 0 && strcmp(text, "suspended\n") == 0;
}

/*
 * Reads the use count of the driver's module, as each open node counts. Unknown ("?") if the driver is built
 * in.
 */
static void read_users(int root_fd, const char *name, char *text, size_t size)
{
        char path[96];
        int length = snprintf(path, sizeof(path), "sys/class/video4linux/%s/device/driver/module/refcnt", name);

        if (length >= (int)sizeof(path) || util_read_at(root_fd, path, text, size) <= 0)
                snprintf(text, size, "?");
        text[strcspn(text, "\n")] = '\0';
}

bool camera_is_there(int root_fd)
{
        return util_has_entry(root_fd, "sys/class/video4linux", "video");
}

/* Is a camera in use? @use: the use counts of all cameras, "" if one is unknown. */
static bool any_in_use(int root_fd, char use[CAMERA_USE_MAX])
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/class/video4linux");
        const struct dirent *entry;
        bool any = false, known = true;
        size_t length = 0;

        while (dir && (entry = readdir(dir))) {
                char users[16];

                if (!is_camera(root_fd, entry->d_name) || is_suspended(root_fd, entry->d_name))
                        continue;
                read_users(root_fd, entry->d_name, users, sizeof(users));
                any = any || strcmp(users, "0") != 0;
                length += (size_t)snprintf(use + length, CAMERA_USE_MAX - length, "%s %s;", entry->d_name, users);
                known = known && strcmp(users, "?") != 0 && length < CAMERA_USE_MAX;
                length = MIN(length, (size_t)CAMERA_USE_MAX - 1);
        }
        use[known ? length : 0] = '\0';
        return any;
}

static bool is_camera_fd(int root_fd, int dir_fd, const char *name)
{
        char target[64];
        ssize_t length = readlinkat(dir_fd, name, target, sizeof(target) - 1);

        if (length <= 0)
                return false;
        target[length] = '\0';
        return strncmp(target, "/dev/video", 10) == 0 && is_camera(root_fd, target + 5);
}

/* First descriptor of a camera in the process, or -1. */
static int find_fd(int root_fd, pid_t pid)
{
        _cleanup_closedir_ DIR *dir = NULL;
        const struct dirent *entry;
        char path[32];

        snprintf(path, sizeof(path), "proc/%d/fd", (int)pid);
        dir = util_opendir_at(root_fd, path);
        for (size_t n = 0; dir && n < MOST_DESCRIPTORS && (entry = readdir(dir)); n++)
                if (is_camera_fd(root_fd, dirfd(dir), entry->d_name))
                        return atoi(entry->d_name);
        return -1;
}

static int add(int root_fd, pid_t pid, struct cameras *cameras)
{
        struct camera_fd found = { .pid = pid };

        for (size_t i = 0; i < cameras->n_fds; i++)
                if (cameras->fds[i].pid == pid)
                        return 0;
        found.fd = find_fd(root_fd, pid);
        if (found.fd < 0)
                return 0;
        if (util_grow(&cameras->fds, &cameras->capacity, cameras->n_fds + 1, sizeof(found)) < 0)
                return -ENOMEM;
        cameras->fds[cameras->n_fds++] = found;
        return holders_add(&cameras->holders, held_client(root_fd, pid));
}

/* Keeps the entries whose descriptors are still open. Returns whether all are. */
static bool keep(int root_fd, struct cameras *cameras)
{
        size_t n = cameras->n_fds;
        int err = 0;

        cameras->holders.n = cameras->holders.nobodys = cameras->n_fds = 0;
        for (size_t i = 0; !err && i < n; i++) {
                const struct camera_fd *fd = &cameras->fds[i];
                char path[48];

                snprintf(path, sizeof(path), "proc/%d/fd/%d", (int)fd->pid, fd->fd);
                if (!is_camera_fd(root_fd, root_fd, path))
                        continue;
                cameras->fds[cameras->n_fds++] = *fd;
                err = holders_add(&cameras->holders, held_client(root_fd, fd->pid));
        }
        return !err && cameras->n_fds == n;
}

void camera_clear(struct cameras *cameras)
{
        holders_clear(&cameras->holders);
        free(cameras->fds);
        *cameras = (struct cameras){ 0 };
}

int camera_find(int root_fd, const struct sample *sample, struct cameras *cameras)
{
        char use[CAMERA_USE_MAX] = "";
        uint64_t since_ns = cameras->looked_ns > BEGIN_SLACK_NS ? cameras->looked_ns - BEGIN_SLACK_NS : 0;
        bool used = any_in_use(root_fd, use), kept = keep(root_fd, cameras);
        bool all = !kept || !*use || strcmp(use, cameras->use) != 0 || ++cameras->looks >= CAMERA_LOOKS;
        int err = 0;

        if (!used)
                cameras->n_fds = cameras->holders.n = cameras->holders.nobodys = 0;
        for (size_t i = 0; used && !err && i < sample->n_processes; i++) {
                const struct process *process = &sample->processes[i];

                if (process->ended_ns == 0 && (all || process->began_ns == 0 || process->began_ns >= since_ns))
                        err = add(root_fd, process->pid, cameras);
        }
        if (all)
                cameras->looks = 0;
        memcpy(cameras->use, use, sizeof(use));
        cameras->looked_ns = sample->boottime_ns;
        return err;
}
