/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A machine of files with settings to change, for the tests of the journal. */

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "hold/settings.h"
#include "tree.h"
#include "util/util.h"

#define POLICY "/sys/devices/system/cpu/cpufreq/policy0/"
#define BRIGHTNESS "/sys/class/backlight/panel/brightness"
#define SOFT "/sys/class/rfkill/rfkill0/soft"

struct machine {
        char dir[64], journal[96];
        int fd;
        unsigned said; /* sentences to the log */
        struct log log;
};

static inline void on_log(void *data, enum log_level level, const char *sentence)
{
        struct machine *machine = data;

        machine->said += level == LOG_LEVEL_ERROR || level == LOG_LEVEL_WARNING;
        if (getenv("SHOW"))
                fprintf(stderr, "%s\n", sentence);
}

static inline void set(const struct machine *machine, const char *name, const char *value)
{
        char line[128];
        int n = snprintf(line, sizeof(line), "%s\n", value);

        check(tree_write(machine->dir, name, line, (size_t)n));
}

static inline const char *get(const struct machine *machine, const char *name)
{
        static char text[4][128];
        static unsigned turn;
        char *buf = text[turn++ % 4];

        if (util_read_at(machine->fd, name + 1, buf, sizeof(text[0])) < 0)
                return NULL;
        buf[strcspn(buf, "\n")] = '\0';
        return buf;
}

static inline void boot(const struct machine *machine, const char *id, const char *uptime)
{
        set(machine, "/proc/sys/kernel/random/boot_id", id);
        set(machine, "/proc/uptime", uptime);
}

static inline void machine_make(struct machine *machine)
{
        *machine = (struct machine){ .dir = "/tmp/joulecast-settings-XXXXXX" };
        machine->log = (struct log){ .handler = on_log, .data = machine };
        check(mkdtemp(machine->dir) != NULL);
        machine->fd = open(machine->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        snprintf(machine->journal, sizeof(machine->journal), "%s/state/restore.ini", machine->dir);
        boot(machine, "0e1d1ef5-3a0c-4b62-a1ea-3b83b0c7f5d2", "5000.00 9000.00");
        set(machine, POLICY "scaling_governor", "schedutil");
        set(machine, POLICY "scaling_min_freq", "300000");
        set(machine, POLICY "scaling_max_freq", "1800000");
        set(machine, POLICY "scaling_setspeed", "<unsupported>");
        set(machine, POLICY "cpuinfo_max_freq", "1800000");
        set(machine, BRIGHTNESS, "200");
        set(machine, SOFT, "0");
}

static inline void machine_remove(struct machine *machine)
{
        closep(&machine->fd);
        tree_remove(machine->dir);
}

static inline struct settings *take(struct machine *machine)
{
        struct settings *settings = NULL;

        check_int(settings_open(machine->fd, machine->journal, &machine->log, &settings), 0);
        check_int(settings_add(settings, POLICY "scaling_governor"), 0);
        check_int(settings_add(settings, POLICY "scaling_min_freq"), 0);
        check_int(settings_add(settings, POLICY "scaling_max_freq"), 0);
        check_int(settings_add(settings, BRIGHTNESS), 0);
        check_int(settings_add(settings, SOFT), 0);
        check_int(settings_commit(settings), 0);
        return settings;
}

static inline struct restore_report restore(struct machine *machine, int want)
{
        struct restore_report report;

        check_int(settings_restore(machine->fd, machine->journal, &machine->log, &report), want);
        return report;
}
