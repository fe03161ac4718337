/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "shared/card.h"
#include "card-folder.h"
#include "util/util.h"

#define MARK ".quarantined"
#define NAME_SIZE 64

/* Calls @act with the client's file in the folder, and in each folder inside it. Links are not followed. */
static int each_card(const char *folder, const char *hex, int (*act)(int fd, const char *name))
{
        _cleanup_closedir_ DIR *dir = opendir(folder);
        const struct dirent *entry;
        char name[NAME_SIZE];
        int found = 0, err = 0;

        if (!dir)
                return errno == ENOENT ? 0 : -errno;
        snprintf(name, sizeof(name), "%s" CARD_SUFFIX, hex);
        while ((entry = readdir(dir))) {
                bool here = entry->d_name[0] == '.' && !entry->d_name[1];
                _cleanup_close_ int fd = !here && entry->d_name[0] == '.' ? -1 :
                                         openat(dirfd(dir), entry->d_name,
                                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

                if (fd < 0)
                        continue;
                if (act(fd, name) == 0)
                        found = 1;
                else if (errno != ENOENT)
                        err = -errno;
        }
        return err ? err : found;
}

static int remove_card(int fd, const char *name)
{
        return unlinkat(fd, name, 0);
}

static int see_card(int fd, const char *name)
{
        return faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

int card_folder_forget(const char *folder, const char *hex)
{
        return folder ? each_card(folder, hex, remove_card) : 0;
}

int card_folder_quarantine(const char *folder, const char *hex, bool quarantined)
{
        _cleanup_close_ int dir_fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        _cleanup_close_ int fd = -1;
        char name[NAME_SIZE];

        if (!folder)
                return 0;
        if (dir_fd < 0)
                return -errno;
        snprintf(name, sizeof(name), "%s" MARK, hex);
        if (quarantined)
                fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
        if (quarantined ? fd < 0 : unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
                return -errno;
        return each_card(folder, hex, see_card);
}

bool card_folder_is_quarantined(int folder_fd, const char *hex)
{
        char name[NAME_SIZE];

        snprintf(name, sizeof(name), "%s" MARK, hex);
        return faccessat(folder_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}
