/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Bytes that reached storage: whole devices of /proc/diskstats (in sectors of 512 bytes, whatever the device's own;
 * Documentation/admin-guide/iostats.rst). Each byte counts once, where it meets hardware:
 *
 * - Partitions have no folder in /sys/block; they are part of their disk's numbers.
 * - A device on top of other block devices has `slaves` (dm, md, bcache, drbd): those count.
 * - A disk of the machine has `device`. A device without it (zvol, ublk, nbd), or at the end of a network (rbd),
 *   passes its bytes on to a file, a disk or a network. It counts only on a machine without any disk.
 * - An NVMe namespace with paths is their sum: the paths (nvme0c1n1) count, the head (nvme0n1) does not.
 *
 * A machine tree may not have `device` at all; then names decide.
 */

#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "counter.h"
#include "util/util.h"

#define SECTOR_BYTES 512

bool disk_parse_line(const char *line, struct disk_line *ret)
{
        unsigned long long read = 0, written = 0;
        struct disk_line parsed = { 0 };

        /* major minor name  reads merged SECTORS ms  writes merged SECTORS ... */
        if (sscanf(line, " %*u %*u %63s %*u %*u %20llu %*u %*u %*u %20llu", parsed.name, &read, &written) != 3)
                return false;
        if (read > UINT64_MAX >> 16 || written > UINT64_MAX >> 16 || parsed.name[0] == '.')
                return false;
        for (char *at = parsed.name; (at = strchr(at, '/'));)
                *at = '!'; /* as sysfs does: "cciss/c0d0" */
        parsed.read_bytes = read * SECTOR_BYTES;
        parsed.write_bytes = written * SECTOR_BYTES;
        *ret = parsed;
        return true;
}

enum disk_rank {
        RANK_NONE,    /* its bytes are another device's, or stay in memory */
        RANK_VIRTUAL, /* they leave the machine, or reach a file or disk that counts them, too */
        RANK_DISK,
};

/* Ranks that sysfs alone does not show, by names, which a number follows. */
static const struct {
        const char *name;
        enum disk_rank rank;
} ranks[] = {
        { "ram", RANK_NONE },    /* memory */
        { "zram", RANK_NONE },   /* memory */
        { "nullb", RANK_NONE },  /* nothing */
        { "loop", RANK_NONE },   /* a file */
        { "dm-", RANK_NONE },    /* other devices, before it has any */
        { "md", RANK_NONE },     /* other devices, before it has any */
        { "bcache", RANK_NONE }, /* other devices, before it has any */
        { "fd", RANK_NONE },     /* floppy disks: the model has no coefficient for them */
        { "sr", RANK_NONE },     /* optical disks, likewise */
        { "nbd", RANK_VIRTUAL },    /* a network or a file */
        { "rbd", RANK_VIRTUAL },    /* Ceph, by a network; its `device` is a bus of its own */
        { "drbd", RANK_VIRTUAL },   /* a disk, and a network */
        { "zd", RANK_VIRTUAL },     /* a volume of ZFS */
        { "ublkb", RANK_VIRTUAL },  /* a program */
        { "ubiblock", RANK_VIRTUAL }, /* flash without a disk's controller, which is no block device itself */
};

static enum disk_rank rank_by_name(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(ranks); i++) {
                size_t length = strlen(ranks[i].name);

                if (strncmp(name, ranks[i].name, length) == 0 && name[length] >= '0' && name[length] <= '9')
                        return ranks[i].rank;
        }
        return RANK_DISK;
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

static bool has(int root_fd, const char *name, const char *attribute)
{
        char path[128];

        snprintf(path, sizeof(path), "sys/block/%s/%s", name, attribute);
        return faccessat(root_fd, path, F_OK, 0) == 0;
}

static enum disk_rank rank_of(int root_fd, const char *name)
{
        enum disk_rank rank = rank_by_name(name);
        char path[128];

        if (rank == RANK_NONE || !has(root_fd, name, "."))
                return RANK_NONE;
        snprintf(path, sizeof(path), "sys/block/%s/slaves", name);
        return has_entries(root_fd, path) ? RANK_NONE : rank;
}

bool disk_is_storage(int root_fd, const char *name)
{
        return rank_of(root_fd, name) == RANK_DISK;
}

bool disk_head_of(const char *path, char *head, size_t size)
{
        unsigned subsystem, controller, namespace;
        int length = 0;

        if (sscanf(path, "nvme%9uc%9un%9u%n", &subsystem, &controller, &namespace, &length) != 3 || path[length])
                return false;
        snprintf(head, size, "nvme%un%u", subsystem, namespace);
        return true;
}

struct disk_source {
        struct source source;
        int root_fd;
        char *text;
        size_t capacity;
        struct counters counters;
        bool any_disk; /* so far */
};

static uint64_t read_sequence(const struct disk_source *self, const char *name)
{
        char path[128], text[32];
        uint64_t sequence;

        snprintf(path, sizeof(path), "sys/block/%s/diskseq", name);
        return util_read_at(self->root_fd, path, text, sizeof(text)) > 0 &&
               util_parse_u64(text, &sequence) == 0 ? sequence : 0;
}

static int see(struct disk_source *self, const struct disk_line *disk)
{
        struct counter counter = { .class = rank_of(self->root_fd, disk->name),
                                   .value = { disk->read_bytes, disk->write_bytes } };

        if (counter.class == RANK_NONE)
                return 0;
        memcpy(counter.name, disk->name, sizeof(disk->name));
        counter.number = read_sequence(self, disk->name);
        return counter_see(&self->counters, &counter);
}

/* Judged once all are known: where others have `device`, a disk without it is virtual; and the heads of paths. */
static void settle(struct disk_source *self)
{
        struct counters *counters = &self->counters;
        bool shown = false;
        char head[64];

        for (size_t i = 0; i < counters->n_seen; i++)
                shown = shown || has(self->root_fd, counters->seen[i].name, "device");
        for (size_t i = 0; shown && i < counters->n_seen; i++)
                if (!has(self->root_fd, counters->seen[i].name, "device"))
                        counters->seen[i].class = RANK_VIRTUAL;
        for (size_t i = 0; i < counters->n_seen; i++)
                for (size_t j = 0; disk_head_of(counters->seen[i].name, head, sizeof(head)) && j < counters->n_seen;
                     j++)
                        if (strcmp(counters->seen[j].name, head) == 0)
                                counters->seen[j].class = RANK_NONE;
        for (size_t i = 0; i < counters->n_seen; i++)
                self->any_disk = self->any_disk || counters->seen[i].class == RANK_DISK;
}

static int disk_read(struct source *source, struct sample *sample)
{
        struct disk_source *self = (struct disk_source *)source;
        ssize_t n = counter_read_text(self->root_fd, "proc/diskstats", &self->text, &self->capacity);
        const uint64_t *total;
        char *state = NULL;
        int err = 0;

        if (n < 0)
                return (int)n;
        self->counters.n_seen = 0;
        for (char *line = strtok_r(self->text, "\n", &state); !err && line; line = strtok_r(NULL, "\n", &state)) {
                struct disk_line disk;

                if (disk_parse_line(line, &disk))
                        err = see(self, &disk);
        }
        settle(self);
        if (!err)
                err = counter_add_up(&self->counters);
        if (err)
                return err;
        total = self->counters.total[self->any_disk ? RANK_DISK : RANK_VIRTUAL];
        sample->read_bytes = total[0];
        sample->write_bytes = total[1];
        sample->have |= USAGE_DISK;
        return 0;
}

static void disk_close(struct source *source)
{
        struct disk_source *self = (struct disk_source *)source;

        closep(&self->root_fd);
        counter_clear(&self->counters);
        free(self->text);
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
        self->counters.from_zero = true;
        if (self->root_fd < 0) {
                int err = -errno;

                disk_close(&self->source);
                return err;
        }
        *ret = &self->source;
        return 0;
}
