/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bluetooth.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"
#include "util/util.h"

#define BLUETOOTH_DIR "sys/class/bluetooth"

struct bluetooth_source {
        struct source source; /* first */
        int root_fd;
};

static int bluetooth_read(struct source *source, struct sample *sample)
{
        const struct bluetooth_source *self = (struct bluetooth_source *)source;
        _cleanup_closedir_ DIR *dir = util_opendir_at(self->root_fd, BLUETOOTH_DIR);
        const struct dirent *entry;

        if (!dir)
                return errno == ENOENT ? 0 : -errno;
        while ((entry = readdir(dir)))
                if (strncmp(entry->d_name, "hci", 3) == 0 && strchr(entry->d_name, ':'))
                        sample->bluetooth_on = true;
        sample->have |= USAGE_BLUETOOTH;
        return 0;
}

static void bluetooth_close(struct source *source)
{
        struct bluetooth_source *self = (struct bluetooth_source *)source;

        closep(&self->root_fd);
        free(self);
}

static const struct source_ops bluetooth_ops = { "bluetooth", bluetooth_read, bluetooth_close };

int bluetooth_open(int root_fd, struct source **ret)
{
        struct bluetooth_source *self;

        if (faccessat(root_fd, BLUETOOTH_DIR, R_OK, 0) < 0)
                return -ENODEV;
        self = calloc(1, sizeof(*self));
        if (!self)
                return -ENOMEM;
        self->source.ops = &bluetooth_ops;
        self->root_fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (self->root_fd < 0) {
                int err = -errno;

                free(self);
                return err;
        }
        *ret = &self->source;
        return 0;
}
