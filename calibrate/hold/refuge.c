/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refuge.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "desktop/scope.h"
#include "util/util.h"

#define GROUP_NAME "joulecast-watchdog"

struct refuge {
        int root_fd;           /* root of the cgroup v2 hierarchy; -1: systemd removes the scope */
        char before[512];      /* the group we came from */
};

static int open_hierarchy(void)
{
        static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                _cleanup_close_ int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                struct statfs filesystem;

                if (fd >= 0 && fstatfs(fd, &filesystem) == 0 && filesystem.f_type == CGROUP2_SUPER_MAGIC)
                        return take_fd(&fd);
        }
        return -ENOENT;
}

/* "0::/user.slice/..." is the line of version 2. */
static int find_group(char *buf, size_t size)
{
        char text[8192], *line;

        if (util_read_at(-1, "/proc/self/cgroup", text, sizeof(text)) < 0)
                return -ENOENT;
        line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
        if (!line)
                return -ENOENT;
        line = strchr(line, '/');
        if (!line)
                return -ENOENT;
        line[strcspn(line, "\n")] = '\0';
        return snprintf(buf, size, "%s", line[1] ? line + 1 : ".") < (int)size ? 0 : -ENAMETOOLONG;
}

static int move_to(int root_fd, const char *group)
{
        char path[600];
        _cleanup_close_ int fd = -1;

        snprintf(path, sizeof(path), "%s/cgroup.procs", group);
        fd = openat(root_fd, path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        return dprintf(fd, "0\n") < 0 ? -errno : 0; /* 0: the writing process */
}

static int enter_group(struct refuge *refuge)
{
        int err;

        refuge->root_fd = open_hierarchy();
        if (refuge->root_fd < 0)
                return refuge->root_fd;
        err = find_group(refuge->before, sizeof(refuge->before));
        if (!err && mkdirat(refuge->root_fd, GROUP_NAME, 0755) < 0 && errno != EEXIST)
                err = -errno;
        return err ? err : move_to(refuge->root_fd, GROUP_NAME);
}

struct refuge *refuge_enter(const struct log *log)
{
        const struct scope_plan plan = { "joulecast-watchdog", "Restores what a calibration of joulecast changes",
                                         NULL };
        struct refuge *refuge = calloc(1, sizeof(*refuge));
        int err;

        if (!refuge)
                return NULL;
        refuge->root_fd = -1;
        err = scope_enter(&plan);
        if (err)
                err = enter_group(refuge);
        if (!err)
                return refuge;
        log_info(log,
                 "the watchdog has no control group of its own (%s): if this command's whole group is "
                 "killed, the next start restores the settings",
                 strerror(-err));
        closep(&refuge->root_fd);
        free(refuge);
        return NULL;
}

void refuge_leave(struct refuge *refuge)
{
        if (!refuge)
                return;
        if (refuge->root_fd >= 0 && move_to(refuge->root_fd, refuge->before) == 0)
                unlinkat(refuge->root_fd, GROUP_NAME, AT_REMOVEDIR);
        closep(&refuge->root_fd);
        free(refuge);
}
