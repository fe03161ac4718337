/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sound.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define MOST_STREAMS 256

/* Lines of "key   : value", the first "state: RUNNING"; or "closed". A stream that drains still plays. */
bool sound_parse_status(const char *text, pid_t *owner)
{
        const char *line = strstr(text, "\nowner_pid");
        char state[16];

        if (sscanf(text, "state: %15s", state) != 1 ||
            (strcmp(state, "RUNNING") != 0 && strcmp(state, "DRAINING") != 0))
                return false;
        if (!line || sscanf(line, " owner_pid : %d", owner) != 1 || *owner < 0)
                *owner = 0;
        return true;
}

/* Their streams are those of clients, which they alone know. */
static bool is_server(const char *comm)
{
        static const char *const servers[] = { "pipewire", "pipewire-pulse", "wireplumber",
                                               "pulseaudio", "jackd", "jackdbus" };

        for (size_t i = 0; i < ARRAY_SIZE(servers); i++)
                if (strcmp(comm, servers[i]) == 0)
                        return true;
        return false;
}

pid_t held_client(int root_fd, pid_t thread)
{
        char path[48], text[4096], comm[32];
        const char *line;
        pid_t pid;

        snprintf(path, sizeof(path), "proc/%d/status", (int)thread);
        if (thread <= 0 || util_read_at(root_fd, path, text, sizeof(text)) <= 0)
                return 0;
        line = strstr(text, "\nTgid:"); /* a name's newline is written as \n there */
        if (!line || sscanf(line, " Tgid: %d", &pid) != 1)
                return 0;
        snprintf(path, sizeof(path), "proc/%d/comm", (int)pid);
        if (util_read_at(root_fd, path, comm, sizeof(comm)) <= 0)
                return 0;
        comm[strcspn(comm, "\n")] = '\0';
        return is_server(comm) ? 0 : pid;
}

static int look_at_stream(int root_fd, int pcm_fd, const char *name, struct holders *ret)
{
        char path[64], text[512];
        pid_t owner;

        if (strncmp(name, "sub", 3) != 0 || snprintf(path, sizeof(path), "%s/status", name) >= (int)sizeof(path) ||
            util_read_at(pcm_fd, path, text, sizeof(text)) <= 0 || !sound_parse_status(text, &owner))
                return 0;
        return holders_add(ret, held_client(root_fd, owner));
}

static int look_at_pcm(int root_fd, int card_fd, const char *name, struct holders *ret)
{
        _cleanup_closedir_ DIR *dir = strncmp(name, "pcm", 3) == 0 ? util_opendir_at(card_fd, name) : NULL;
        const struct dirent *entry;
        int err = 0;

        for (size_t n = 0; dir && !err && n < MOST_STREAMS && (entry = readdir(dir)); n++)
                err = look_at_stream(root_fd, dirfd(dir), entry->d_name, ret);
        return err;
}

static int look_at_card(int root_fd, int asound_fd, const char *name, struct holders *ret)
{
        /* "card0", but not the links by name, nor "cards" */
        _cleanup_closedir_ DIR *dir = strncmp(name, "card", 4) == 0 && name[4] >= '0' && name[4] <= '9' ?
                                              util_opendir_at(asound_fd, name) : NULL;
        const struct dirent *entry;
        int err = 0;

        while (dir && !err && (entry = readdir(dir)))
                err = look_at_pcm(root_fd, dirfd(dir), entry->d_name, ret);
        return err;
}

int sound_find(int root_fd, struct holders *ret)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "proc/asound");
        const struct dirent *entry;
        int err = 0;

        ret->n = ret->nobodys = 0;
        if (!dir)
                return -ENODATA;
        while (!err && (entry = readdir(dir)))
                err = look_at_card(root_fd, dirfd(dir), entry->d_name, ret);
        return err;
}
