/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The storages as a part. A process's counters do not show to which storage its bytes went, so several storages take
 * turns and share one coefficient.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "disk-load.h"
#include "part.h"
#include "util/units.h"
#include "util/util.h"

#define STORAGES_MAX 8
#define FOLDER_DEFAULT "/var/tmp"

/* The device's counters are compared after COMPARE_BYTES, and must show at least the part SEEN_SHARE of them. */
#define COMPARE_BYTES 16e6
#define SEEN_SHARE 0.9
#define SLOW_SHARE 0.5
#define SLOW_AFTER_S 5.0

struct counted {
        uint64_t read_bytes, written_bytes;
};

struct disk_storage {
        struct storage storage;
        struct counted start, start_done; /* when the mode began: the device's counters and our own */
        bool said;                        /* logged that it is not used */
};

struct part_disk {
        struct part part; /* first */
        const struct log *log;
        int root_fd;
        struct disk_storage storages[STORAGES_MAX];
        struct disk_file files[STORAGES_MAX];
        size_t n;
        const volatile sig_atomic_t *stop;
        double left_bytes;       /* left of the write limit, for this load and later ones */
        struct disk_load *load;  /* NULL: not begun */
        struct disk_job job;
        uint64_t start_ns;       /* start of the job */
        struct counted start_io, start_done;
        bool said_limit, said_slow, said_io;
};

static struct part_disk *disk_of(struct part *part)
{
        return (struct part_disk *)part;
}

static int describe(struct part *part, struct hardware_description *description)
{
        struct part_disk *disk = disk_of(part);

        for (size_t i = 0; i < disk->n; i++)
                memcpy(description->disks[i], disk->storages[i].storage.device,
                       sizeof(description->disks[i]));
        description->n_disks = disk->n;
        return 0;
}

static int prepare(struct part *part, struct settings *settings)
{
        struct part_disk *disk = disk_of(part);
        char path[PATH_MAX];
        int err = 0;

        for (size_t i = 0; !err && i < disk->n; i++) {
                err = disk_file_name(&disk->storages[i].storage, &disk->files[i], path, sizeof(path));
                if (!err)
                        err = settings_add_file(settings, path);
        }
        return err;
}

/* ---- messages ---- */

static const char *reason(int err)
{
        switch (err) {
        case -ENOTSUP:
                return "its file system has no direct I/O (O_DIRECT)";
        case -ENOSPC:
                return "it has no room for a file of 256 MB; free some space, or name another folder with "
                       "--disk";
        case -EDQUOT:
                return "the file of 256 MB would exceed --write-limit";
        default:
                return strerror(-err);
        }
}

static void say_errors(struct part_disk *disk)
{
        for (size_t i = 0; i < disk->n; i++) {
                int err = disk_load_error(disk->load, i);

                if (!err || err == -EINTR || disk->storages[i].said)
                        continue;
                disk->storages[i].said = true;
                log_warning(disk->log, "%s: storage %s is no longer measured: %s",
                            disk->storages[i].storage.folder, disk->storages[i].storage.device, reason(err));
        }
}

static void say_limit(struct part_disk *disk)
{
        struct disk_counts counts;

        disk_load_counts(disk->load, &counts);
        if (!counts.limit_reached || disk->said_limit)
                return;
        disk->said_limit = true;
        log_warning(disk->log, "--write-limit is reached: no more writes in this run, and no more "
                               "measurements of disk.write_mj_per_mb");
}

/* ---- counters ---- */

/* Our own "read_bytes: N" and "write_bytes: N" of /proc/self/io: bytes that reached storages. */
static int read_own_io(struct part_disk *disk, struct counted *ret)
{
        char text[512];
        ssize_t n = util_read_at(disk->root_fd, "proc/self/io", text, sizeof(text));
        const char *reads = n > 0 ? strstr(text, "\nread_bytes: ") : NULL;
        const char *writes = n > 0 ? strstr(text, "\nwrite_bytes: ") : NULL;

        if (!reads || !writes)
                return n < 0 ? (int)n : -ENODATA;
        ret->read_bytes = strtoull(reads + strlen("\nread_bytes: "), NULL, 10);
        ret->written_bytes = strtoull(writes + strlen("\nwrite_bytes: "), NULL, 10);
        return 0;
}

static bool sees(uint64_t seen, uint64_t done)
{
        return (double)done < COMPARE_BYTES || (double)seen >= SEEN_SHARE * (double)done;
}

/* A cache or another layer may have done the work instead of the device. */
static void check_device(struct part_disk *disk, size_t i)
{
        struct disk_storage *storage = &disk->storages[i];
        struct counted device, done;

        if (disk_load_error(disk->load, i) || storage_counters(disk->root_fd, storage->storage.device,
                                                               &device.read_bytes, &device.written_bytes) < 0)
                return;
        disk_load_file_counts(disk->load, i, &done.read_bytes, &done.written_bytes);
        done.read_bytes -= storage->start_done.read_bytes;
        done.written_bytes -= storage->start_done.written_bytes;
        if (sees(device.read_bytes - storage->start.read_bytes, done.read_bytes) &&
            sees(device.written_bytes - storage->start.written_bytes, done.written_bytes))
                return;
        log_warning(disk->log,
                    "%s: only a part of the reads and writes reached storage %s, so it is no longer "
                    "measured; name a folder directly on a storage with --disk",
                    storage->storage.folder, storage->storage.device);
        storage->said = true;
        disk_load_drop(disk->load, i, -ENOTSUP);
}

static void check_own_io(struct part_disk *disk, const struct disk_counts *counts)
{
        struct counted io;

        if (disk->said_io || read_own_io(disk, &io) < 0 ||
            (sees(io.read_bytes - disk->start_io.read_bytes,
                  counts->read_bytes - disk->start_done.read_bytes) &&
             sees(io.written_bytes - disk->start_io.written_bytes,
                  counts->written_bytes - disk->start_done.written_bytes)))
                return;
        disk->said_io = true;
        log_bug_kernel(disk->log,
                       "/proc/self/io does not count direct I/O; bytes of apps may be missing, too");
}

static void check_pace(struct part_disk *disk, const struct disk_counts *counts)
{
        double seconds = (double)(util_clock_ns(CLOCK_MONOTONIC) - disk->start_ns) / (double)NS_PER_S;
        double asked = (disk->job.read_bytes_per_s + disk->job.write_bytes_per_s) * seconds;
        double done = (double)(counts->read_bytes + counts->written_bytes - disk->start_done.read_bytes -
                               disk->start_done.written_bytes);

        if (disk->said_slow || counts->limit_reached || seconds < SLOW_AFTER_S || done >= SLOW_SHARE * asked)
                return;
        disk->said_slow = true;
        log_info(disk->log,
                 "the storage does %.1f MB/s of the %.1f asked for; its real rate is used",
                 done / seconds / BYTES_PER_MB, asked / seconds / BYTES_PER_MB);
}

static int check(struct part *part)
{
        struct part_disk *disk = disk_of(part);
        struct disk_counts counts;

        if (!disk->load)
                return 0;
        say_errors(disk);
        say_limit(disk);
        if (!(disk->job.read_bytes_per_s > 0) && !(disk->job.write_bytes_per_s > 0))
                return 0;
        disk_load_counts(disk->load, &counts);
        for (size_t i = 0; i < disk->n; i++)
                check_device(disk, i);
        check_own_io(disk, &counts);
        check_pace(disk, &counts);
        return 0;
}

/* ---- the load ---- */

/*
 * The files are made in full during the first mode, which measures nothing (it gets through the partial
 * step); otherwise their writes would be part of the next mode.
 */
static int begin(struct part_disk *disk)
{
        int err;

        if (disk->load)
                return 0;
        err = disk_load_start(disk->files, disk->n, DISK_FILE_BYTES, disk->left_bytes, &disk->load);
        if (err)
                return err;
        return disk_load_ready(disk->load, disk->stop) < 0 ? -EINTR : 0;
}

static void note_start(struct part_disk *disk)
{
        struct disk_counts counts;

        for (size_t i = 0; i < disk->n; i++) {
                struct disk_storage *storage = &disk->storages[i];

                storage_counters(disk->root_fd, storage->storage.device, &storage->start.read_bytes,
                                 &storage->start.written_bytes);
                disk_load_file_counts(disk->load, i, &storage->start_done.read_bytes,
                                      &storage->start_done.written_bytes);
        }
        read_own_io(disk, &disk->start_io);
        disk_load_counts(disk->load, &counts);
        disk->start_done = (struct counted){ counts.read_bytes, counts.written_bytes };
        disk->start_ns = util_clock_ns(CLOCK_MONOTONIC);
}

/* Can it be done at all? Otherwise a run would wait one percent of charge for nothing. */
static int can_run(struct part_disk *disk)
{
        bool writes = disk->job.write_bytes_per_s > 0;
        ssize_t usable = disk_load_ready(disk->load, disk->stop);
        struct disk_counts counts;

        say_errors(disk);
        say_limit(disk);
        disk_load_counts(disk->load, &counts);
        if (usable < 0)
                return (int)usable;
        return usable > 0 && !(writes && counts.limit_reached) ? 0 : -EOPNOTSUPP;
}

static int apply(struct part *part, const struct mode *mode)
{
        struct part_disk *disk = disk_of(part);
        int err = begin(disk);

        if (err)
                return err;
        disk->job = (struct disk_job){
                .read_bytes_per_s = mode->read_mb_per_s * BYTES_PER_MB,
                .write_bytes_per_s = mode->write_mb_per_s * BYTES_PER_MB,
                .operation_bytes = mode->operation_bytes,
                .operations = mode->operations,
        };
        disk->said_slow = false;
        if (disk->job.read_bytes_per_s > 0 || disk->job.write_bytes_per_s > 0) {
                err = can_run(disk);
                note_start(disk);
        }
        if (err)
                disk->job = (struct disk_job){ 0 };
        disk_load_set(disk->load, &disk->job);
        return err;
}

static void stop(struct part *part)
{
        struct part_disk *disk = disk_of(part);
        struct disk_counts counts;

        if (!disk->load)
                return;
        disk_load_counts(disk->load, &counts);
        disk->left_bytes -= (double)(counts.written_bytes + counts.made_bytes);
        disk_load_end(disk->load);
        disk->load = NULL;
}

static void close_disk(struct part *part)
{
        struct part_disk *disk = disk_of(part);

        stop(part);
        for (size_t i = 0; i < disk->n; i++)
                storage_close(&disk->storages[i].storage);
        closep(&disk->root_fd);
        free(disk);
}

static const struct part_ops disk_ops = {
        .name = "disk",
        .describe = describe,
        .prepare = prepare,
        .apply = apply,
        .check = check,
        .stop = stop,
        .close = close_disk,
};

/* ---- which storages ---- */

static bool is_named(const struct part_disk *disk, const char *device)
{
        for (size_t i = 0; i < disk->n; i++)
                if (!strcmp(disk->storages[i].storage.device, device))
                        return true;
        return false;
}

/* For a folder named by the user, failure is an error. */
static int add_storage(struct part_disk *disk, const char *folder, bool named)
{
        struct storage storage;
        char why[256];
        int err = storage_open(disk->root_fd, folder, &storage, why, sizeof(why));

        if (err && named) {
                log_error(disk->log, "--disk %s: no storage can be measured there: %s", folder, why);
                return -EINVAL;
        }
        if (err) {
                log_warning(disk->log,
                            "%s: no storage is measured there: %s; name a folder on one with --disk", folder,
                            why);
        } else if (is_named(disk, storage.device)) {
                log_warning(disk->log, "%s is on storage %s, which is measured already", folder,
                            storage.device);
                storage_close(&storage);
        } else {
                disk->storages[disk->n++].storage = storage;
        }
        return 0;
}

int hardware_disk_open(const struct machine_hardware *machine, struct part **ret)
{
        struct part_disk *disk = calloc(1, sizeof(*disk));
        int err = 0;

        if (!disk)
                return -ENOMEM;
        disk->part.ops = &disk_ops;
        disk->log = machine->log;
        disk->stop = machine->stop;
        disk->left_bytes = machine->write_limit_bytes;
        disk->root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (disk->root_fd < 0) {
                err = -errno;
                free(disk);
                return err;
        }
        if (machine->n_disks == 0)
                err = add_storage(disk, FOLDER_DEFAULT, false);
        for (size_t i = 0; !err && i < machine->n_disks && disk->n < STORAGES_MAX; i++)
                err = add_storage(disk, machine->disks[i], true);
        for (size_t i = 0; i < STORAGES_MAX; i++)
                disk->files[i].fd = -1;
        if (err || disk->n == 0) {
                close_disk(&disk->part);
                return err ? err : -ENODEV;
        }
        *ret = &disk->part;
        return 0;
}
