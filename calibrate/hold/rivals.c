/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rivals.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "util/util.h"

/*
 * None of them can be asked to pause: holding a profile at power-profiles-daemon sets a profile. thermald is
 * not listed: it protects against heat.
 */
static const struct rival {
        const char *unit;
        const char *comm;    /* process name; NULL: runs only when the supply changes */
        const char *command; /* stops it for the time of the calibration */
} rivals[] = {
        { "power-profiles-daemon", "power-profiles-",
          "systemctl mask --runtime --now power-profiles-daemon" },
        { "tuned", "tuned", "systemctl stop tuned" },
        { "tuned-ppd", "tuned-ppd", "systemctl mask --runtime --now tuned-ppd" },
        { "tlp", NULL, "systemctl stop tlp" },
        { "auto-cpufreq", "auto-cpufreq", "systemctl stop auto-cpufreq" },
        { "system76-power", "system76-power", "systemctl mask --runtime --now com.system76.PowerDaemon" },
        { "cpufreqd", "cpufreqd", "systemctl stop cpufreqd" },
};

/* systemd has a link there for each active unit, also after its processes have ended. */
static bool is_active(int root_fd, const struct rival *rival)
{
        char path[128];

        snprintf(path, sizeof(path), "run/systemd/units/invocation:%s.service", rival->unit);
        return faccessat(root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static const struct rival *rival_by_comm(const char *comm)
{
        for (size_t i = 0; i < ARRAY_SIZE(rivals); i++)
                if (rivals[i].comm && strcmp(rivals[i].comm, comm) == 0)
                        return &rivals[i];
        return NULL;
}

static const struct rival *find_process(int root_fd)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "proc");
        const struct rival *found = NULL;
        struct dirent *entry;
        char path[300], comm[64];

        while (dir && !found && (entry = readdir(dir))) {
                if (!isdigit((unsigned char)entry->d_name[0]))
                        continue;
                snprintf(path, sizeof(path), "%s/comm", entry->d_name);
                if (util_read_at(dirfd(dir), path, comm, sizeof(comm)) <= 0)
                        continue;
                comm[strcspn(comm, "\n")] = '\0';
                found = rival_by_comm(comm);
        }
        return found;
}

int rivals_refuse(int root_fd, const struct log *log)
{
        const struct rival *found = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(rivals) && !found; i++)
                if (is_active(root_fd, &rivals[i]))
                        found = &rivals[i];
        if (!found)
                found = find_process(root_fd);
        if (!found)
                return 0;
        log_error(log,
                  "%s is active and would change clocks and power saving meanwhile; stop it with `%s` and "
                  "start again",
                  found->unit, found->command);
        return -EBUSY;
}
