/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "safe-folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "util.h"

#define LINKS_MAX 40 /* as many as the kernel follows */
#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct walk {
        int fd;              /* descriptor of the folder reached so far */
        uid_t root;          /* owner of "/": not 0 in a user namespace without uid 0, as in a sandbox */
        bool shared;         /* the folder is sticky */
        char done[PATH_MAX]; /* its path; "": the root */
        char todo[PATH_MAX]; /* the rest of the path */
        unsigned links;
        unsigned mode;
};

static bool is_ours(uid_t uid)
{
        return uid == 0 || uid == geteuid();
}

static bool is_trusted(const struct walk *walk, uid_t uid)
{
        return is_ours(uid) || uid == walk->root;
}

static int judge(struct walk *walk, int fd)
{
        struct stat status;
        bool others;

        if (fstat(fd, &status) < 0)
                return -errno;
        if (!S_ISDIR(status.st_mode))
                return -ENOTDIR;
        others = status.st_mode & S_IWOTH || (status.st_mode & S_IWGRP && status.st_gid != status.st_uid);
        if (!is_trusted(walk, status.st_uid) || (others && !(status.st_mode & S_ISVTX)))
                return -ENOLINK;
        walk->shared = others;
        return 0;
}

static int enter(struct walk *walk, int fd)
{
        int err = judge(walk, fd);

        if (err) {
                close(fd);
                return err;
        }
        closep(&walk->fd);
        walk->fd = fd;
        return 0;
}

static int enter_root(struct walk *walk)
{
        _cleanup_close_ int fd = open("/", FOLDER_FLAGS);
        struct stat status;

        walk->done[0] = '\0';
        if (fd < 0 || fstat(fd, &status) < 0)
                return -errno;
        walk->root = status.st_uid;
        return enter(walk, take_fd(&fd));
}

static int enter_parent(struct walk *walk)
{
        char *slash = strrchr(walk->done, '/');
        int fd = openat(walk->fd, "..", FOLDER_FLAGS);

        if (slash)
                *slash = '\0';
        return fd < 0 ? -errno : enter(walk, fd);
}

static int put_together(char to[PATH_MAX], const char *a, const char *b)
{
        int n = snprintf(to, PATH_MAX, "%s/%s", a, b);

        return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int follow_link(struct walk *walk, int fd, uid_t owner)
{
        char target[PATH_MAX], rest[PATH_MAX];
        ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);

        if (n < 0)
                return -errno;
        target[n] = '\0';
        if (!is_trusted(walk, owner))
                return -ENOLINK;
        if (++walk->links > LINKS_MAX)
                return -ELOOP;
        strcpy(rest, walk->todo);
        if (put_together(walk->todo, target, rest) < 0)
                return -ENAMETOOLONG;
        return target[0] == '/' ? enter_root(walk) : 0;
}

static int enter_child(struct walk *walk, const char *name)
{
        _cleanup_close_ int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct stat status;
        char path[PATH_MAX];

        if (fd < 0 && errno == ENOENT && walk->mode) {
                if (mkdirat(walk->fd, name, walk->mode) < 0 && errno != EEXIST)
                        return -errno;
                fd = openat(walk->fd, name, FOLDER_FLAGS);
        }
        if (fd < 0 || fstat(fd, &status) < 0)
                return -errno;
        if (S_ISLNK(status.st_mode))
                return follow_link(walk, fd, status.st_uid);
        if (put_together(path, walk->done, name) < 0)
                return -ENAMETOOLONG;
        strcpy(walk->done, path);
        return enter(walk, take_fd(&fd));
}

/* Removes the first name from the rest of the path; "": there is none. */
static int take_name(struct walk *walk, char name[NAME_MAX + 1])
{
        char *first = walk->todo + strspn(walk->todo, "/");
        size_t length = strcspn(first, "/");

        if (length > NAME_MAX)
                return -ENAMETOOLONG;
        memcpy(name, first, length);
        name[length] = '\0';
        memmove(walk->todo, first + length, strlen(first + length) + 1);
        return 0;
}

static int walk_to(struct walk *walk, char name[NAME_MAX + 1])
{
        int err = enter_root(walk);

        while (!err) {
                err = take_name(walk, name);
                if (err)
                        break;
                if (!*walk->todo)
                        return !*name || !strcmp(name, ".") || !strcmp(name, "..") ? -EISDIR : 0;
                if (strcmp(name, "..") == 0)
                        err = enter_parent(walk);
                else if (*name && strcmp(name, "."))
                        err = enter_child(walk, name);
        }
        return err;
}

int safe_folder_open(const char *path, unsigned mode, struct safe_folder *ret)
{
        struct walk walk = { .fd = -1, .mode = mode };
        char here[PATH_MAX] = "";
        int err = *path ? 0 : -ENOENT;

        if (!err && *path != '/' && !getcwd(here, sizeof(here)))
                err = -errno;
        if (!err)
                err = put_together(walk.todo, here, path);
        if (!err)
                err = walk_to(&walk, ret->name);
        if (!err)
                err = put_together(ret->path, walk.done, ret->name);
        if (err) {
                closep(&walk.fd);
                return err;
        }
        ret->fd = walk.fd;
        ret->shared = walk.shared;
        return 0;
}

void safe_folder_close(struct safe_folder *folder)
{
        closep(&folder->fd);
        folder->fd = -1;
}

int safe_folder_database(const char *path, char **ret)
{
        static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
        _cleanup_(safe_folder_close) struct safe_folder folder = { .fd = -1 };
        int err = safe_folder_open(path, 0, &folder);

        if (err)
                return err;
        for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
                char name[sizeof(folder.name) + 16];
                struct stat status;

                snprintf(name, sizeof(name), "%s%s", folder.name, suffixes[i]);
                if (fstatat(folder.fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (S_ISLNK(status.st_mode))
                        return -ELOOP;
                if (!is_ours(status.st_uid))
                        return -EPERM;
        }
        *ret = strdup(folder.path);
        return *ret ? 0 : -ENOMEM;
}
