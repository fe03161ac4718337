/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Bytes that reached storage: whole devices of /proc/diskstats (in sectors of 512 bytes, whatever the device's own;
 * Documentation/admin-guide/iostats.rst). Partitions are part of their disk's numbers. Devices on top of other
 * devices (dm, md, loop) or of memory (zram, ram) are not counted.
 */

#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define SECTOR_BYTES 512
#define DISKSTATS_MAX (256 << 10)

bool disk_parse_line(const char *line, struct disk_line *ret)
{
        unsigned long long read = 0, written = 0;
        struct disk_line parsed = { 0 };

        /* major minor name  reads merged SECTORS ms  writes merged SECTORS ... */
        if (sscanf(line, " %*u %*u %63s %*u %*u %20llu %*u %*u %*u %20llu", parsed.name, &read, &written) != 3)
                return false;
        if (read > UINT64_MAX >> 16 || written > UINT64_MAX >> 16 || strchr(parsed.name, '/'))
                return false;
        parsed.read_bytes = read * SECTOR_BYTES;
        parsed.write_bytes = written * SECTOR_BYTES;
        *ret = parsed;
        return true;
}

static bool is_memory_or_loop(const char *name)
{
        static const char *const prefixes[] = { "loop", "ram", "zram", "dm-", "md", "nbd", "fd", "sr" };

        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
                size_t length = strlen(prefixes[i]);

                if (strncmp(name, prefixes[i], length) == 0 && name[length] >= '0' && name[length] <= '9')
                        return true;
        }
        return false;
}

/* A folder with anything in it besides "." and "..". */
static bool has_entries(int root_fd, const char *path)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, path);
        struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                if (entry->d_name[0] != '.')
                        return true;
        return false;
}

bool disk_is_storage(int root_fd, const char *name)
{
        char path[128];

        if (is_memory_or_loop(name))
                return false;
        snprintf(path, sizeof(path), "sys/block/%s", name);
        if (faccessat(root_fd, path, F_OK, 0) < 0)
                return false; /* a partition */
        snprintf(path, sizeof(path), "sys/block/%s/slaves", name);
        return !has_entries(root_fd, path);
}

struct known_disk {
        char name[64];
        bool storage;
};

struct disk_source {
        struct source source;
        int root_fd;
        char *text;
        struct known_disk *known;
        size_t n_known, capacity;
};

/* Checked once per name: a disk does not become a partition. */
static int is_storage(struct disk_source *self, const char *name, bool *ret)
{
        for (size_t i = 0; i < self->n_known; i++) {
                if (strcmp(self->known[i].name, name) == 0) {
                        *ret = self->known[i].storage;
                        return 0;
                }
        }
        if (util_grow(&self->known, &self->capacity, self->n_known + 1, sizeof(*self->known)) < 0)
                return -ENOMEM;
        snprintf(self->known[self->n_known].name, sizeof(self->known->name), "%s", name);
        *ret = self->known[self->n_known++].storage = disk_is_storage(self->root_fd, name);
        return 0;
}

static int disk_read(struct source *source, struct sample *sample)
{
        struct disk_source *self = (struct disk_source *)source;
        ssize_t n = util_read_at(self->root_fd, "proc/diskstats", self->text, DISKSTATS_MAX);
        char *state = NULL;

        if (n < 0)
                return (int)n;
        for (char *line = strtok_r(self->text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
                struct disk_line disk;
                bool storage;

                if (!disk_parse_line(line, &disk))
                        continue;
                if (is_storage(self, disk.name, &storage) < 0)
                        return -ENOMEM;
                if (!storage)
                        continue;
                sample->read_bytes += disk.read_bytes;
                sample->write_bytes += disk.write_bytes;
        }
        sample->have |= USAGE_DISK;
        return 0;
}

static void disk_close(struct source *source)
{
        struct disk_source *self = (struct disk_source *)source;

        closep(&self->root_fd);
        free(self->text);
        free(self->known);
        free(self);
}

static const struct source_ops disk_ops = { "disk", disk_read, disk_close };

int disk_open(int root_fd, struct source **ret)
{
        struct disk_source *self;

        if (faccessat(root_fd, "proc/diskstats", R_OK, 0) < 0)
                return -ENODEV;
        self = calloc(1, sizeof(*self));
        if (!self)
                return -ENOMEM;
        self->source.ops = &disk_ops;
        self->root_fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        self->text = malloc(DISKSTATS_MAX);
        if (self->root_fd < 0 || !self->text) {
                int err = self->text ? -errno : -ENOMEM;

                disk_close(&self->source);
                return err;
        }
        *ret = &self->source;
        return 0;
}
