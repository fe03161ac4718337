/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "limit-busy.h"

#include <errno.h>
#include <string.h>

#include "held/sound.h"
#include "unit-manager.h"
#include "util/util.h"

void limit_busy_clear(struct limit_busy *busy)
{
        free(busy->pids);
        *busy = (struct limit_busy){ 0 };
}

/* If memory is missing for an entry, any process may be busy. */
static void add(void *data, pid_t pid)
{
        struct limit_busy *busy = data;

        if (util_grow(&busy->pids, &busy->capacity, busy->n + 1, sizeof(*busy->pids)) < 0)
                busy->somebody = true;
        else
                busy->pids[busy->n++] = pid;
}

/*
 * The stream of a sound server belongs to its clients, which PipeWire reports; if it does not, any process
 * may play.
 */
static int add_sound(int root_fd, const struct pipewire_sound *sound, struct limit_busy *busy)
{
        struct holders holders = { 0 };
        int err = sound_find(root_fd, &holders);

        for (size_t i = 0; i < sound->n; i++)
                add(busy, sound->pids[i]);
        for (size_t i = 0; !err && i < holders.n; i++)
                add(busy, holders.pids[i]);
        busy->somebody = busy->somebody || sound->others || (!err && holders.nobodys > 0 && sound->n == 0);
        holders_clear(&holders);
        return err == -ENOMEM ? err : 0;
}

int limit_busy_read(int root_fd, const struct pipewire_sound *sound, struct limit_busy *ret)
{
        struct limit_busy busy = { 0 };
        int err = add_sound(root_fd, sound, &busy);

        if (err) {
                limit_busy_clear(&busy);
                return err;
        }
        unit_manager_inhibitors(add, &busy); /* machines without logind have none */
        limit_busy_clear(ret);
        *ret = busy;
        return 0;
}

static bool films(int root_fd, pid_t pid)
{
        _cleanup_closedir_ DIR *folder = NULL;
        const struct dirent *entry;
        char path[64], target[64];

        snprintf(path, sizeof(path), "proc/%d/fd", (int)pid);
        folder = util_opendir_at(root_fd, path);
        while (folder && (entry = readdir(folder))) {
                ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);

                target[MAX(length, 0)] = '\0';
                if (strncmp(target, "/dev/video", 10) == 0)
                        return true;
        }
        return false;
}

bool limit_busy_unit(int root_fd, const struct limit_busy *busy, const struct app_units *units, const char *unit)
{
        if (busy->somebody)
                return true;
        for (size_t i = 0; i < units->n_processes; i++) {
                const struct app_unit_process *process = &units->processes[i];

                if (strcmp(units->list[process->at].unit, unit) != 0)
                        continue;
                for (size_t k = 0; k < busy->n; k++)
                        if (busy->pids[k] == process->pid)
                                return true;
                if (films(root_fd, process->pid))
                        return true;
        }
        return false;
}
