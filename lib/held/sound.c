/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sound.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define MOST_STREAMS 64 /* most streams of a device in each direction */
#define LIST_MAX 32768

/*
 * Lines of "key   : value", of which the first is "state: RUNNING"; or "closed". A draining stream still
 * plays.
 */
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

/* The streams of these servers belong to their clients, which only the servers know. */
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
        line = strstr(text, "\nTgid:"); /* cannot match within the name, where a newline is written as \n */
        if (!line || sscanf(line, " Tgid: %d", &pid) != 1)
                return 0;
        snprintf(path, sizeof(path), "proc/%d/comm", (int)pid);
        if (util_read_at(root_fd, path, comm, sizeof(comm)) <= 0)
                return 0;
        comm[strcspn(comm, "\n")] = '\0';
        return is_server(comm) ? 0 : pid;
}

static int look_at_stream(int root_fd, int asound_fd, const char *path, struct holders *ret)
{
        char text[512];
        pid_t owner;

        if (util_read_at(asound_fd, path, text, sizeof(text)) <= 0 || !sound_parse_status(text, &owner))
                return 0;
        return holders_add(ret, held_client(root_fd, owner));
}

unsigned sound_parse_pcm(const char *line, const char *direction, unsigned *card, unsigned *device)
{
        const char *found = strstr(line, direction);
        unsigned n;

        if (!found || sscanf(line, "%4u-%4u:", card, device) != 2 || sscanf(found + strlen(direction), " %4u", &n) != 1)
                return 0;
        return MIN(n, (unsigned)MOST_STREAMS);
}

static int look_at_pcm(int root_fd, int asound_fd, const char *line, char letter, struct holders *ret)
{
        unsigned card = 0, device = 0;
        unsigned n = sound_parse_pcm(line, letter == 'p' ? " : playback" : " : capture", &card, &device);
        char path[64];
        int err = 0;

        for (unsigned i = 0; !err && i < n; i++) {
                snprintf(path, sizeof(path), "card%u/pcm%u%c/sub%u/status", card, device, letter, i);
                err = look_at_stream(root_fd, asound_fd, path, ret);
        }
        return err;
}

/* /proc/asound/pcm lists the streams; walking the folders takes a third longer. */
int sound_find(int root_fd, struct holders *ret)
{
        _cleanup_close_ int asound_fd = openat(root_fd, "proc/asound", O_PATH | O_DIRECTORY | O_CLOEXEC);
        char text[LIST_MAX], *state = NULL;
        int err = 0;

        ret->n = ret->nobodys = 0;
        if (asound_fd < 0)
                return -ENODATA;
        if (util_read_at(asound_fd, "pcm", text, sizeof(text)) < 0)
                return 0; /* the cards have no streams */
        for (char *line = strtok_r(text, "\n", &state); !err && line; line = strtok_r(NULL, "\n", &state)) {
                err = look_at_pcm(root_fd, asound_fd, line, 'p', ret);
                if (!err)
                        err = look_at_pcm(root_fd, asound_fd, line, 'c', ret);
        }
        return err;
}
