/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How settings are read and written, and where the kernel shows another value than was set. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "attribute.h"
#include "logind.h"
#include "util/util.h"

#define OPEN_TRIES 100 /* openat2() fails now and then while another process renames folders */

/* Settings that are not files; their names are in the list. */
static const struct setting_medium *const media[] = {
        &screen_medium,
        &power_save_medium,
};

static const struct setting_medium *medium_of(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(media); i++)
                if (strncmp(name, media[i]->prefix, strlen(media[i]->prefix)) == 0)
                        return media[i];
        return NULL;
}

static const char *below_root(const char *name)
{
        return name + strspn(name, "/");
}

bool hold_is_running_machine(int root_fd)
{
        struct stat root, given;

        return stat("/", &root) == 0 && fstat(root_fd, &given) == 0 && root.st_dev == given.st_dev &&
               root.st_ino == given.st_ino;
}

/*
 * Symbolic links may lead anywhere below root_fd (/sys/class is made of them) but not out of it. While a
 * folder is renamed or a file system mounted anywhere, resolving ".." fails with EAGAIN (openat2(2)).
 */
static int open_below(int root_fd, const char *path, int flags)
{
        struct open_how how = { .flags = (uint64_t)flags,
                                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
        int fd = -1;

        for (int i = 0; fd < 0 && i < OPEN_TRIES; i++) {
                fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
                if (fd < 0 && errno == ENOSYS) /* before Linux 5.6 */
                        fd = openat(root_fd, path, flags);
                if (fd < 0 && errno != EAGAIN)
                        return -errno;
        }
        return fd < 0 ? -EAGAIN : fd;
}

static int open_attribute(int root_fd, const char *name, int flags)
{
        _cleanup_close_ int fd = open_below(root_fd, below_root(name),
                                            flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
        struct statfs filesystem;
        struct stat info;

        if (fd < 0)
                return fd;
        if (fstat(fd, &info) < 0)
                return -errno;
        if (!S_ISREG(info.st_mode))
                return -EBADMSG;
        if (hold_is_running_machine(root_fd) &&
            (fstatfs(fd, &filesystem) < 0 || filesystem.f_type != SYSFS_MAGIC))
                return -EBADMSG;
        return take_fd(&fd);
}

/* "auto [force-discharge]" -> "force-discharge" */
static void take_bracketed(char *text)
{
        char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

        if (!close)
                return;
        *close = '\0';
        memmove(text, open + 1, strlen(open + 1) + 1);
}

int attribute_read(int root_fd, const char *name, char value[SETTING_VALUE_MAX])
{
        const struct attribute *attribute = attribute_find(name);
        const struct setting_medium *medium = medium_of(name);
        char text[256];
        ssize_t n;
        int err = 0;

        if (!attribute)
                return -EPERM;
        if (medium) {
                err = medium->read(root_fd, name, text, sizeof(text));
        } else {
                _cleanup_close_ int fd = open_attribute(root_fd, name, O_RDONLY);

                if (fd < 0)
                        return fd;
                n = read(fd, text, sizeof(text) - 1);
                err = n < 0 ? -errno : 0;
                text[MAX(n, 0)] = '\0';
        }
        if (err)
                return err;
        text[strcspn(text, "\n")] = '\0';
        if (attribute->bracketed)
                take_bracketed(text);
        if (!attribute_restorable(attribute, text))
                return -EBADMSG;
        snprintf(value, SETTING_VALUE_MAX, "%.*s", SETTING_VALUE_MAX - 1, text);
        return 0;
}

/* An unprivileged user at the seat may set the brightness through logind only. */
static int ask_logind(int root_fd, const char *name, const char *value, int err)
{
        char backlight[SETTING_NAME_MAX + 1], end;
        uint64_t brightness;

        if (!hold_is_running_machine(root_fd) || util_parse_u64(value, &brightness) < 0 ||
            sscanf(name, "/sys/class/backlight/%180[^/]/brightnes%c", backlight, &end) != 2)
                return err;
        return logind_set_brightness(backlight, (uint32_t)brightness) < 0 ? err : 0;
}

int attribute_write(int root_fd, const char *name, const char *value)
{
        const struct attribute *attribute = attribute_find(name);
        const struct setting_medium *medium = medium_of(name);
        _cleanup_close_ int fd = -1;
        ssize_t n;

        if (!attribute || !attribute_restorable(attribute, value))
                return -EPERM;
        if (medium)
                return medium->write(root_fd, name, value);
        fd = open_attribute(root_fd, name, O_WRONLY | O_TRUNC);
        if (fd < 0)
                return fd == -EACCES ? ask_logind(root_fd, name, value, fd) : fd;
        do
                n = write(fd, value, strlen(value));
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : (size_t)n < strlen(value) ? -EIO : 0;
}

static bool read_number(int root_fd, const char *path, uint64_t *ret)
{
        char text[64];

        return util_read_at(root_fd, below_root(path), text, sizeof(text)) > 0 &&
               util_parse_u64(text, ret) == 0;
}

static bool beside(const char *name, const char *file, char *buf, size_t size)
{
        return snprintf(buf, size, "%.*s/%s", (int)(strrchr(name, '/') - name), name, file) < (int)size;
}

static bool slows(int thermal_fd, const char *device)
{
        char path[300], type[64];
        uint64_t state;

        snprintf(path, sizeof(path), "%s/type", device);
        if (util_read_at(thermal_fd, path, type, sizeof(type)) < 0 ||
            (strncmp(type, "Processor", 9) != 0 && !strstr(type, "cpufreq")))
                return false;
        snprintf(path, sizeof(path), "%s/cur_state", device);
        return read_number(thermal_fd, path, &state) && state > 0;
}

/* Is any cooling device slowing a processor? Numbers of removed devices leave gaps. */
static bool cooled(int root_fd)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/class/thermal");
        const struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                if (strncmp(entry->d_name, "cooling_device", 14) == 0 && slows(dirfd(dir), entry->d_name))
                        return true;
        return false;
}

bool attribute_held_down(int root_fd, const char *name, const char *now, const char *wanted)
{
        const char *last = strrchr(name, '/');
        char path[SETTING_NAME_MAX + 32];
        uint64_t is, was, limit;

        if (!last || util_parse_u64(now, &is) < 0 || util_parse_u64(wanted, &was) < 0 || is >= was)
                return false;
        if (strcmp(last, "/scaling_min_freq") == 0) /* the kernel lowers it with the maximum */
                return beside(name, "scaling_max_freq", path, sizeof(path)) &&
                       read_number(root_fd, path, &limit) && limit == is;
        if (strcmp(last, "/scaling_max_freq"))
                return false;
        return (beside(name, "bios_limit", path, sizeof(path)) && read_number(root_fd, path, &limit) &&
                limit == is) ||
               cooled(root_fd);
}

void attribute_device(int root_fd, const char *name, char *buf, size_t size)
{
        char folder[SETTING_NAME_MAX + 1];
        ssize_t n = -1;

        if (strncmp(name, "/sys/class/", 11) == 0) {
                snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(name, '/') - name), name);
                n = readlinkat(root_fd, below_root(folder), buf, size - 1);
        }
        buf[n < 0 || (size_t)n == size - 1 ? 0 : n] = '\0';
        if (!attribute_plain_text(buf))
                buf[0] = '\0';
}
