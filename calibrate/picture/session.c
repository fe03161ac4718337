/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "util/util.h"

#define ENVIRON_MAX (128 << 10)

static const char *const names[] = { "WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR" };

static bool has_display(void)
{
        return getenv("WAYLAND_DISPLAY") || getenv("DISPLAY");
}

/* The value of @name in an environment of @length bytes; NULL: unset. */
static const char *find(const char *environment, size_t length, const char *name)
{
        size_t n = strlen(name);

        for (const char *at = environment; at < environment + length; at += strlen(at) + 1)
                if (strncmp(at, name, n) == 0 && at[n] == '=')
                        return at + n + 1;
        return NULL;
}

/* A display of this machine, not of a remote login. */
static bool is_local(const char *environment, size_t length)
{
        const char *x11 = find(environment, length, "DISPLAY");

        return find(environment, length, "WAYLAND_DISPLAY") || (x11 && *x11 == ':');
}

static bool take_from(int proc_fd, const char *pid, char *buf)
{
        _cleanup_close_ int fd = -1;
        char path[300];
        ssize_t n, length = 0;

        snprintf(path, sizeof(path), "%s/environ", pid);
        fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return false;
        while (length < ENVIRON_MAX - 1 &&
               (n = read(fd, buf + length, (size_t)(ENVIRON_MAX - 1 - length))) > 0)
                length += n;
        buf[length] = '\0';
        if (!is_local(buf, (size_t)length))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                const char *value = find(buf, (size_t)length, names[i]);

                if (value)
                        setenv(names[i], value, true);
        }
        return true;
}

/* The first process of the user with a display. */
static int take_environment(void)
{
        _cleanup_free_ char *buf = malloc(ENVIRON_MAX);
        DIR *dir = opendir("/proc");
        const struct dirent *entry;
        bool found = false;

        while (buf && dir && !found && (entry = readdir(dir))) {
                struct stat info;

                if (isdigit((unsigned char)entry->d_name[0]) &&
                    fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 && info.st_uid == geteuid())
                        found = take_from(dirfd(dir), entry->d_name, buf);
        }
        if (dir)
                closedir(dir);
        return !buf ? -ENOMEM : found ? 0 : -ENOENT;
}

static int become(uid_t uid)
{
        const struct passwd *user = getpwuid(uid);

        if (!user)
                return -ESRCH;
        if (setgroups(0, NULL) < 0 || setresgid(user->pw_gid, user->pw_gid, user->pw_gid) < 0 ||
            setresuid(uid, uid, uid) < 0)
                return -errno;
        return setenv("HOME", user->pw_dir, true) < 0 ? -errno : 0;
}

/* sudo keeps DISPLAY and drops WAYLAND_DISPLAY: ask for the seat's session instead. */
int session_enter(void)
{
        uid_t uid;
        int err;

        if (getenv("WAYLAND_DISPLAY") || (geteuid() != 0 && has_display()))
                return 0;
        if (geteuid() != 0)
                return -ENOENT;
        err = session_user(&uid);
        if (err)
                return has_display() ? 0 : err;
        if (uid != 0)
                err = become(uid);
        return err ? err : take_environment();
}
