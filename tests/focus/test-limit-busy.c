/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Apps that must not be frozen: players by PipeWire and by the sound card, films, and apps that inhibit sleep. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "focus/limit-busy.h"
#include "focus/unit-manager.h"
#include "tree.h"
#include "util/util.h"

static struct app_unit list[] = { { .unit = "player.scope" }, { .unit = "other.scope" } };
static struct app_unit_process processes[] = { { 10, 0 }, { 11, 0 }, { 20, 1 } };
static const struct app_units units = { .list = list, .n = 2, .processes = processes, .n_processes = 3 };
static char folder[] = "/tmp/joulecast-busy-XXXXXX";
static int root_fd;
static pid_t inhibitor;

int unit_manager_inhibitors(void (*visit)(void *data, pid_t pid), void *data)
{
        if (inhibitor)
                visit(data, inhibitor);
        return inhibitor ? 0 : -ENOENT; /* like without logind */
}

static void check_busy(const struct pipewire_sound *sound, bool player, bool other)
{
        struct limit_busy busy = { 0 };

        check_int(limit_busy_read(root_fd, sound, &busy), 0);
        check_int(limit_busy_unit(root_fd, &busy, &units, "player.scope"), player);
        check_int(limit_busy_unit(root_fd, &busy, &units, "other.scope"), other);
        limit_busy_clear(&busy);
}

static void write_file(const char *path, const char *text)
{
        check(tree_write(folder, path, text, strlen(text)));
}

static void by_pipewire(void)
{
        check_busy(&(struct pipewire_sound){ 0 }, false, false);
        check_busy(&(struct pipewire_sound){ .pids = { 11 }, .n = 1 }, true, false);
        check_busy(&(struct pipewire_sound){ .pids = { 12 }, .n = 1 }, false, false);
        check_busy(&(struct pipewire_sound){ .others = true }, true, true); /* an unknown app plays */
}

static void by_the_sound_card(void)
{
        write_file("proc/asound/pcm", "00-00: ALC : ALC : playback 1 : capture 1\n");
        write_file("proc/asound/card0/pcm0c/sub0/status", "closed\n");
        write_file("proc/asound/card0/pcm0p/sub0/status", "state: RUNNING\nowner_pid   : 20\n");
        write_file("proc/20/comm", "aplay\n");
        write_file("proc/20/status", "Name:\taplay\nTgid:\t20\n");
        check_busy(&(struct pipewire_sound){ 0 }, false, true);
        write_file("proc/asound/card0/pcm0p/sub0/status", "closed\n");
        check_busy(&(struct pipewire_sound){ 0 }, false, false);
}

/* For example a call: the screen stays on, or the device may not sleep. */
static void by_an_inhibitor(void)
{
        inhibitor = 10;
        check_busy(&(struct pipewire_sound){ 0 }, true, false);
        inhibitor = 0;
}

static void by_a_camera(void)
{
        char path[128];

        write_file("proc/20/fd/README", "");
        snprintf(path, sizeof(path), "%s/proc/20/fd/7", folder);
        check_int(symlink("/dev/video0", path), 0);
        check_busy(&(struct pipewire_sound){ 0 }, false, true);
        check_int(unlink(path), 0);
        check_int(symlink("/dev/null", path), 0);
        check_busy(&(struct pipewire_sound){ 0 }, false, false);
}

int main(void)
{
        check(mkdtemp(folder) != NULL);
        root_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        check(root_fd >= 0);
        by_pipewire();
        by_the_sound_card();
        by_an_inhibitor();
        by_a_camera();
        close(root_fd);
        tree_remove(folder);
        return check_result();
}
