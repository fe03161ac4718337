/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "storage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/stat.h>

#include "source/disk.h"
#include "util/util.h"

/* Unit of the block layer's counters for any device (admin-guide/iostats.rst) */
#define SECTOR_BYTES 512
#define ALIGN_MIN 4096u   /* 4096-byte disks that report 512 would read before each write */
#define ALIGN_MAX 65536u
#define MOUNTINFO_MAX (1 << 20)
#define LAYERS_MAX 8      /* LUKS on LVM on RAID is three */

/* Writes "why", the reason, and returns -ENOTSUP. */
static int refuse(char *why, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int refuse(char *why, size_t size, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(why, size, format, arguments);
        va_end(arguments);
        return -ENOTSUP;
}

/* The last component of a sysfs link's target; @parent: the one before, the disk of a partition. */
static int link_name(int root_fd, const char *path, bool parent, char *ret, size_t size)
{
        char target[PATH_MAX];
        ssize_t length = readlinkat(root_fd, path, target, sizeof(target) - 1);
        char *slash;

        if (length < 0)
                return -errno;
        target[length] = '\0';
        slash = strrchr(target, '/');
        if (parent && slash) {
                *slash = '\0';
                slash = strrchr(target, '/');
        }
        if (!slash || !slash[1] || slash[1] == '.' || strlen(slash + 1) >= size)
                return -EINVAL;
        strcpy(ret, slash + 1);
        return 0;
}

static int whole_device(int root_fd, const char *link, char *ret, size_t size)
{
        char path[PATH_MAX];

        snprintf(path, sizeof(path), "%s/partition", link);
        return link_name(root_fd, link, faccessat(root_fd, path, F_OK, 0) == 0, ret, size);
}

/* The only device below a device mapper or RAID. -ENOENT: none; -E2BIG: several. */
static int only_slave(int root_fd, const char *device, char *ret, size_t size)
{
        _cleanup_closedir_ DIR *dir = NULL;
        char path[PATH_MAX];
        struct dirent *entry;
        int err = -ENOENT;

        snprintf(path, sizeof(path), "sys/block/%s/slaves", device);
        dir = util_opendir_at(root_fd, path);
        if (!dir)
                return -ENOENT;
        while (err != -E2BIG && (entry = readdir(dir))) {
                if (entry->d_name[0] == '.')
                        continue;
                err = err == -ENOENT && strlen(entry->d_name) < size ? 0 : -E2BIG;
                if (!err)
                        strcpy(ret, entry->d_name);
        }
        return err;
}

int storage_device(int root_fd, unsigned major, unsigned minor, char *ret, size_t size)
{
        char path[PATH_MAX], name[64], below[64];
        int err;

        snprintf(path, sizeof(path), "sys/dev/block/%u:%u", major, minor);
        err = whole_device(root_fd, path, name, sizeof(name));
        for (unsigned layer = 0; !err && layer < LAYERS_MAX; layer++) {
                if (only_slave(root_fd, name, below, sizeof(below)) < 0)
                        break;
                snprintf(path, sizeof(path), "sys/class/block/%s", below);
                err = whole_device(root_fd, path, name, sizeof(name));
        }
        if (!err && strlen(name) >= size)
                err = -ENAMETOOLONG;
        if (!err)
                strcpy(ret, name);
        return err;
}

/* A RAID of several disks is not among the sources' storages, but its disks are. */
static bool is_counted(int root_fd, const char *device)
{
        char below[64];

        return disk_is_storage(root_fd, device) ||
               only_slave(root_fd, device, below, sizeof(below)) == -E2BIG;
}

/* A line is "36 35 0:31 / /mnt rw - btrfs /dev/sda1 rw"; the number of fields before the dash varies. */
int storage_parse_mount(char *mountinfo, uint64_t mount, struct storage_mount *ret)
{
        char *state = NULL;

        for (char *line = strtok_r(mountinfo, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
                const char *dash = strstr(line, " - ");
                struct storage_mount found;

                if (strtoull(line, NULL, 10) != mount || !dash ||
                    sscanf(dash, " - %63s %4095s", found.type, found.source) != 2)
                        continue;
                *ret = found;
                return 0;
        }
        return -ENOENT;
}

/* For a file system without a device number of its own (btrfs): the device mounted there. */
static int mounted_device(int root_fd, uint64_t number, struct stat *ret, char *type, size_t size)
{
        _cleanup_free_ char *text = malloc(MOUNTINFO_MAX);
        struct storage_mount mount;
        int err;

        if (!text)
                return -ENOMEM;
        if (util_read_at(root_fd, "proc/self/mountinfo", text, MOUNTINFO_MAX) < 0)
                return -ENOENT;
        err = storage_parse_mount(text, number, &mount);
        if (err)
                return err;
        snprintf(type, size, "%s", mount.type);
        return mount.source[0] == '/' && stat(mount.source, ret) == 0 && S_ISBLK(ret->st_mode) ? 0 : -ENODEV;
}

static int find_device(int root_fd, struct storage *storage, char *why, size_t size)
{
        struct statx info;
        struct stat device;
        char type[64] = "a file system without a device";
        unsigned major, minor;

        if (syscall(SYS_statx, storage->folder_fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &info) < 0)
                return refuse(why, size, "%s", strerror(errno));
        major = info.stx_dev_major;
        minor = info.stx_dev_minor;
        if (major == 0) {
                if (!(info.stx_mask & STATX_MNT_ID) ||
                    mounted_device(root_fd, info.stx_mnt_id, &device, type, sizeof(type)) < 0)
                        return refuse(why, size, "its file system has no storage of its own (%s)", type);
                major = major(device.st_rdev);
                minor = minor(device.st_rdev);
        }
        if (storage_device(root_fd, major, minor, storage->device, sizeof(storage->device)) < 0)
                return refuse(why, size, "the block device %u:%u below it is not in /sys/dev/block", major,
                              minor);
        if (!is_counted(root_fd, storage->device))
                return refuse(why, size, "the device %s below it is in memory or in another file",
                              storage->device);
        return 0;
}

static uint32_t alignment(int root_fd, const char *device)
{
        char path[PATH_MAX], text[32];
        uint64_t logical = 0;

        snprintf(path, sizeof(path), "sys/block/%s/queue/logical_block_size", device);
        if (util_read_at(root_fd, path, text, sizeof(text)) > 0)
                util_parse_u64(text, &logical);
        return (uint32_t)MIN(MAX(logical, ALIGN_MIN), ALIGN_MAX);
}

/* System folders: the unit that removes left files at boot cannot write there (ProtectSystem=full). */
static bool is_systems(const char *folder)
{
        static const char *const folders[] = { "/usr", "/etc", "/boot", "/efi" };

        for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
                size_t length = strlen(folders[i]);

                if (!strncmp(folder, folders[i], length) && (!folder[length] || folder[length] == '/'))
                        return true;
        }
        return false;
}

int storage_open(int root_fd, const char *folder, struct storage *ret, char *why, size_t size)
{
        struct storage storage = { .folder_fd = -1 };
        int err;

        if (!realpath(folder, storage.folder))
                return refuse(why, size, "%s", strerror(errno));
        if (is_systems(storage.folder))
                return refuse(why, size, "nothing is written below /usr, /etc, /boot and /efi");
        storage.folder_fd = open(storage.folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (storage.folder_fd < 0)
                return refuse(why, size, "%s", strerror(errno));
        if (faccessat(storage.folder_fd, ".", W_OK, AT_EACCESS) < 0)
                err = refuse(why, size, "it cannot be written: %s", strerror(errno));
        else
                err = find_device(root_fd, &storage, why, size);
        if (err) {
                storage_close(&storage);
                return err;
        }
        storage.align = alignment(root_fd, storage.device);
        *ret = storage;
        return 0;
}

void storage_close(struct storage *storage)
{
        closep(&storage->folder_fd);
        storage->folder_fd = -1;
}

int storage_counters(int root_fd, const char *device, uint64_t *read_bytes, uint64_t *written_bytes)
{
        unsigned long long read, written;
        char path[PATH_MAX], text[512];
        ssize_t n;

        snprintf(path, sizeof(path), "sys/block/%s/stat", device);
        n = util_read_at(root_fd, path, text, sizeof(text));
        if (n < 0)
                return (int)n;
        /* reads merged SECTORS ms writes merged SECTORS ... */
        if (sscanf(text, "%*u %*u %20llu %*u %*u %*u %20llu", &read, &written) != 2)
                return -EINVAL;
        *read_bytes = read * SECTOR_BYTES;
        *written_bytes = written * SECTOR_BYTES;
        return 0;
}
