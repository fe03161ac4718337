/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* For people: why the GPU time of some processes is unknown. */

#include "gpu-private.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"
#include "util/words.h"

/* A driver whose counting is off can be switched on, so that explanation comes first. */
static bool explain_off(struct gpu_source *self, char *buf, size_t size)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(self->drm_fd, ".");
        struct dirent *entry;

        while (dir && (entry = readdir(dir))) {
                if (strncmp(entry->d_name, "renderD", 7) != 0 || strlen(entry->d_name) > 15 ||
                    !gpu_node_is_off(self, entry->d_name))
                        continue;
                snprintf(buf, size, _("unknown: profiling is off in the driver of %s; as root, `echo %s > "
                                      "/sys/class/drm/%s/device/profiling` turns it on until the next boot"),
                         entry->d_name, gpu_node_turns_on(self, entry->d_name), entry->d_name);
                return true;
        }
        return false;
}

static int look_at_process(struct gpu_source *self, pid_t pid)
{
        struct holder *holder;

        if (util_grow(&self->list, &self->capacity, self->n + 1, sizeof(*holder)) < 0)
                return -ENOMEM;
        holder = &self->list[self->n++];
        *holder = (struct holder){ .pid = pid };
        return gpu_holder_look(self, holder);
}

static int look_at_processes(struct gpu_source *self)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(self->proc_fd, ".");
        struct dirent *entry;
        int err = 0;

        while (dir && !err && (entry = readdir(dir))) {
                uint64_t pid;

                if (isdigit((unsigned char)entry->d_name[0]) && util_parse_u64(entry->d_name, &pid) == 0 &&
                    pid <= INT32_MAX)
                        err = look_at_process(self, (pid_t)pid);
        }
        return err;
}

static int explain_uncounted(struct gpu_source *self, char *buf, size_t size)
{
        int err = look_at_processes(self);
        char driver[32];

        for (size_t i = 0; !err && !buf[0] && i < self->n; i++)
                if (self->list[i].uncounted[0] && !gpu_holder_counts(self, &self->list[i]))
                        snprintf(buf, size, _("unknown for programs that use the GPU by %s: its driver shows "
                                              "no times of engines in /proc/PID/fdinfo"),
                                 util_printable(self->list[i].uncounted, driver, sizeof(driver)));
        return err;
}

int gpu_explain(int root_fd, char *buf, size_t size)
{
        struct source *source = NULL;
        int err = gpu_open(root_fd, &source);

        buf[0] = '\0';
        if (err)
                return err == -ENODEV ? 0 : err;
        if (!explain_off((struct gpu_source *)source, buf, size))
                err = explain_uncounted((struct gpu_source *)source, buf, size);
        source->ops->close(source);
        return err;
}
