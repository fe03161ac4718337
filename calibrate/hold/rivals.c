/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rivals.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

/*
 * None of them can be asked to pause: holding a profile at power-profiles-daemon sets a profile. thermald is
 * not listed: it protects against heat.
 */
static const struct rival {
        const char *name;
        const char *unit;    /* fnmatch(3) of the service's name, without ".service" */
        const char *comm;    /* process name, cut to 15 letters; NULL: none stays */
        enum {
                REFUSE,      /* sets clocks by rules of its own, at any time */
                WATCH,       /* comes with the device and mostly changes nothing: see settings_repeat() */
        } how;
        const char *command; /* stops it for the time of the calibration */
} rivals[] = {
        { "power-profiles-daemon", "power-profiles-daemon", "power-profiles-", REFUSE,
          "systemctl mask --runtime --now power-profiles-daemon" },
        { "tuned", "tuned", "tuned", REFUSE, "systemctl stop tuned" },
        { "tuned-ppd", "tuned-ppd", "tuned-ppd", REFUSE, "systemctl mask --runtime --now tuned-ppd" },
        { "tlp", "tlp", NULL, REFUSE, "systemctl stop tlp" },
        { "tlp-pd", "tlp-pd", "tlp-pd", REFUSE, "systemctl mask --runtime --now tlp-pd" },
        { "laptop-mode", "laptop-mode", NULL, REFUSE, "systemctl stop laptop-mode" },
        { "tccd", "tccd", "tccd", REFUSE, "systemctl stop tccd" },
        { "auto-cpufreq", "*auto-cpufreq*", "auto-cpufreq", REFUSE, "systemctl stop '*auto-cpufreq*'" }, /* or a snap */
        { "auto-epp", "auto-epp", "auto-epp", REFUSE, "systemctl stop auto-epp" },
        { "system76-power", "system76-power", "system76-power", REFUSE,
          "systemctl mask --runtime --now com.system76.PowerDaemon" },
        { "system76-power", "com.system76.PowerDaemon", NULL, REFUSE,
          "systemctl mask --runtime --now com.system76.PowerDaemon" },
        { "slimbookbattery", "slimbookbattery", "slimbookbattery", REFUSE, "systemctl stop slimbookbattery" },
        { "cpufreqd", "cpufreqd", "cpufreqd", REFUSE, "systemctl stop cpufreqd" },
        { "asusd", "asusd", "asusd", WATCH, "systemctl mask --runtime --now asusd" },
        { "steamos-manager", "steamos-manager", "steamos-manager", WATCH,
          "systemctl mask --runtime --now steamos-manager" },
        { "hhd", "hhd*", "hhd", WATCH, "systemctl stop 'hhd*'" },
        { "powerstation", "powerstation", "powerstation", WATCH, "systemctl mask --runtime --now powerstation" },
        { "tailord", "tailord", "tailord", WATCH, "systemctl stop tailord" },
        { "throttled", "throttled", "throttled", WATCH, "systemctl stop throttled" },
        { "gamemoded", "gamemoded", "gamemoded", WATCH, "systemctl --user stop gamemoded" },
};

_Static_assert(ARRAY_SIZE(rivals) <= 32, "a bit for each");

/* A bit for each that was found. */
static uint32_t find_units(int root_fd)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "run/systemd/units");
        uint32_t found = 0;
        struct dirent *entry;
        char pattern[128];

        /* systemd has a link there for each active unit, also after its processes have ended. */
        while (dir && (entry = readdir(dir)))
                for (size_t i = 0; i < ARRAY_SIZE(rivals); i++) {
                        snprintf(pattern, sizeof(pattern), "invocation:%s.service", rivals[i].unit);
                        if (fnmatch(pattern, entry->d_name, 0) == 0)
                                found |= UINT32_C(1) << i;
                }
        return found;
}

static uint32_t find_processes(int root_fd)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "proc");
        uint32_t found = 0;
        struct dirent *entry;
        char path[300], comm[64];

        while (dir && (entry = readdir(dir))) {
                if (!isdigit((unsigned char)entry->d_name[0]))
                        continue;
                snprintf(path, sizeof(path), "%s/comm", entry->d_name);
                if (util_read_at(dirfd(dir), path, comm, sizeof(comm)) <= 0)
                        continue;
                comm[strcspn(comm, "\n")] = '\0';
                for (size_t i = 0; i < ARRAY_SIZE(rivals); i++)
                        if (rivals[i].comm && strcmp(rivals[i].comm, comm) == 0)
                                found |= UINT32_C(1) << i;
        }
        return found;
}

static const struct rival *first_of(uint32_t found, unsigned how)
{
        for (size_t i = 0; i < ARRAY_SIZE(rivals); i++)
                if (found & UINT32_C(1) << i && rivals[i].how == how)
                        return &rivals[i];
        return NULL;
}

int rivals_refuse(int root_fd, const struct log *log)
{
        const struct rival *found = first_of(find_units(root_fd) | find_processes(root_fd), REFUSE);

        if (!found)
                return 0;
        log_error(log,
                  "%s is active and would change clocks and power saving meanwhile; stop it with `%s` and "
                  "start again",
                  found->name, found->command);
        return -EBUSY;
}

const char *rivals_watched(int root_fd, const char **ret_command)
{
        const struct rival *found = first_of(find_units(root_fd) | find_processes(root_fd), WATCH);

        if (!found)
                return NULL;
        *ret_command = found->command;
        return found->name;
}
