/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "util.h"

#define VALUE_MAX 256

struct setting {
        char *name;
        char original[VALUE_MAX];
};

struct settings {
        int root_fd;
        const struct log *log;
        struct setting *list;
        size_t n, capacity;
};

int settings_open(int root_fd, const char *journal, const struct log *log, struct settings **ret)
{
        struct settings *settings = calloc(1, sizeof(*settings));

        if (!settings)
                return -ENOMEM;
        settings->root_fd = root_fd;
        settings->log = log;
        *ret = settings;
        return 0;
}

void settings_close(struct settings *settings)
{
        if (!settings)
                return;
        for (size_t i = 0; i < settings->n; i++)
                free(settings->list[i].name);
        free(settings->list);
        free(settings);
}

static const char *below_root(const char *name)
{
        return name + strspn(name, "/");
}

static int read_now(const struct settings *settings, const char *name, char *buf)
{
        ssize_t n = util_read_at(settings->root_fd, below_root(name), buf, VALUE_MAX);

        if (n < 0)
                return (int)n;
        buf[strcspn(buf, "\n")] = '\0';
        return 0;
}

int settings_add(struct settings *settings, const char *name)
{
        struct setting *setting;
        int err;

        if (settings_original(settings, name))
                return 0;
        if (util_grow(&settings->list, &settings->capacity, settings->n + 1, sizeof(*settings->list)) < 0)
                return -ENOMEM;
        setting = &settings->list[settings->n];
        err = read_now(settings, name, setting->original);
        if (err)
                return err;
        setting->name = strdup(name);
        if (!setting->name)
                return -ENOMEM;
        settings->n++;
        return 0;
}

int settings_add_file(struct settings *settings, const char *path)
{
        return 0;
}

int settings_commit(struct settings *settings)
{
        return 0;
}

int settings_before(struct settings *settings, const char *name, const char *value)
{
        return settings_original(settings, name) ? 0 : -EPERM;
}

int settings_after(struct settings *settings, const char *name)
{
        return 0;
}

int settings_write(struct settings *settings, const char *name, const char *value)
{
        _cleanup_close_ int fd = -1;
        int err = settings_before(settings, name, value);

        if (err)
                return err;
        fd = openat(settings->root_fd, below_root(name), O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (fd < 0 || write(fd, value, strlen(value)) < 0)
                return -errno;
        return settings_after(settings, name);
}

const char *settings_original(const struct settings *settings, const char *name)
{
        for (size_t i = 0; i < settings->n; i++)
                if (strcmp(settings->list[i].name, name) == 0)
                        return settings->list[i].original;
        return NULL;
}

int settings_restore(int root_fd, const char *journal, const struct log *log, struct restore_report *ret)
{
        *ret = (struct restore_report){ 0 };
        return 0;
}
