/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "source/proc.h"
#include "util/util.h"

int app_process_read(int root_fd, pid_t pid, struct app_process *process, char *comm, size_t size)
{
        char path[64], text[1024];
        struct proc_stat stat;
        struct stat status;
        ssize_t n;

        snprintf(path, sizeof(path), "proc/%d/stat", (int)pid);
        n = util_read_at(root_fd, path, text, sizeof(text));
        if (n < 0)
                return (int)n;
        if (!proc_parse_stat(text, (size_t)n, &stat))
                return -EBADMSG;
        *strrchr(path, '/') = '\0';
        if (fstatat(root_fd, path, &status, 0) < 0)
                return -errno;
        snprintf(comm, size, "%s", stat.comm);
        *process = (struct app_process){
                .pid = pid, .ppid = stat.parent, .start_time = stat.start_time, .uid = status.st_uid, .comm = comm,
        };
        return 0;
}

int app_process_read_cgroup(int root_fd, pid_t pid, char *path, size_t size)
{
        char file[64], text[8192];
        ssize_t n;

        snprintf(file, sizeof(file), "proc/%d/cgroup", (int)pid);
        n = util_read_at(root_fd, file, text, sizeof(text));
        return n < 0 ? (int)n : app_cgroup_choose_path(text, path, size);
}

ssize_t app_words_read(int dir_fd, const char *path, char *buf, size_t size)
{
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        ssize_t n;

        if (fd < 0)
                return -errno;
        n = read(fd, buf, size - 1);
        if (n < 0)
                return -errno;
        buf[n] = '\0';
        return n;
}

ssize_t app_process_read_words(int root_fd, pid_t pid, const char *file, char *buf, size_t size)
{
        char path[64];

        snprintf(path, sizeof(path), "proc/%d/%s", (int)pid, file);
        return app_words_read(root_fd, path, buf, size);
}

const char *app_process_words_value(const char *words, ssize_t length, const char *name)
{
        size_t wanted = strlen(name);

        for (const char *word = words; word < words + length; word += strlen(word) + 1)
                if (strncmp(word, name, wanted) == 0 && word[wanted] == '=')
                        return word + wanted + 1;
        return NULL;
}

bool app_process_is_kernel(int root_fd, const struct app_entry *entry)
{
        char path[64], text[1024];
        struct proc_stat stat;
        ssize_t n;

        if (entry->pid != 2 && entry->ppid != 2)
                return false;
        snprintf(path, sizeof(path), "proc/%d/stat", (int)entry->pid);
        n = util_read_at(root_fd, path, text, sizeof(text));
        return n > 0 && proc_parse_stat(text, (size_t)n, &stat) && stat.kernel_thread;
}

/* From the arguments of Steam's parent of each game, "reaper SteamLaunch AppId=N -- ...", or the environment. */
int app_process_read_steam(int root_fd, const struct app_entry *entry, unsigned *number)
{
        char words[16384];
        const char *value = NULL;
        ssize_t n;

        if (strcmp(entry->comm, "reaper") == 0) {
                n = app_process_read_words(root_fd, entry->pid, "cmdline", words, sizeof(words));
                if (n > 0 && memmem(words, (size_t)n, "SteamLaunch", 11))
                        value = app_process_words_value(words, n, "AppId");
        } else if (strcasestr(entry->cgroup->parsed.id, "steam")) {
                n = app_process_read_words(root_fd, entry->pid, "environ", words, sizeof(words));
                if (n > 0)
                        value = app_process_words_value(words, n, "SteamAppId");
        }
        return value && sscanf(value, "%10u", number) == 1 && *number > 0 ? 0 : -ENODATA;
}
