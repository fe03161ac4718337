/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A calibration in small, for test-restore to kill: holds a machine tree under the watchdog and changes its
 * settings as fast as it can, through drivers that round. Says "WATCHDOG WORKER LOAD" when it is under way.
 *
 *     hold-tree FOLDER            until it is told to stop
 *     hold-tree FOLDER restore    what the next start does
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "child.h"
#include "hold/settings.h"
#include "util/util.h"
#include "hold/watchdog.h"

#define POLICY "/sys/devices/system/cpu/cpufreq/policy0/"
#define BRIGHTNESS "/sys/class/backlight/panel/brightness"
#define SCRATCH "/var/tmp/.joulecast-disk-a1"

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
        stop = 1;
}

/* At once, as the kernel does it: a kill finds the old value or the new one, and no file cut to nothing. */
static bool put(int root_fd, const char *name, const char *value)
{
        _cleanup_close_ int fd = openat(root_fd, "new", O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600);

        return fd >= 0 && dprintf(fd, "%s\n", value) > 0 && renameat(root_fd, "new", root_fd, name + 1) == 0;
}

static int change_one(struct settings *settings, int root_fd, const char *name, const char *wanted,
                      const char *made)
{
        int err = settings_before(settings, name, wanted);

        if (!err && !put(root_fd, name, made))
                err = -EIO;
        return err ? err : settings_after(settings, name);
}

/* A driver that knows steps of 25 MHz. */
static int change_khz(struct settings *settings, int root_fd, const char *name, unsigned khz)
{
        char wanted[16], made[16];

        snprintf(wanted, sizeof(wanted), "%u", khz);
        snprintf(made, sizeof(made), "%u", khz - khz % 25000);
        return change_one(settings, root_fd, name, wanted, made);
}

static int change(struct settings *settings, int root_fd, unsigned turn)
{
        const char *governor = turn % 3 ? "userspace" : "performance";
        unsigned khz = 300000 + (unsigned)(random() % 1500000);
        char brightness[16];
        int err = turn % 2 ? settings_begin_changes(settings) : 0; /* with the batch, and without */

        snprintf(brightness, sizeof(brightness), "%ld", 1 + random() % 255);
        if (!err)
                err = change_one(settings, root_fd, POLICY "scaling_governor", governor, governor);
        if (!err)
                err = change_khz(settings, root_fd, POLICY "scaling_max_freq", khz);
        if (!err)
                err = change_khz(settings, root_fd, POLICY "scaling_min_freq", khz);
        if (!err)
                err = change_one(settings, root_fd, BRIGHTNESS, brightness, brightness);
        if (!err && !put(root_fd, SCRATCH, brightness))
                err = -EIO;
        return err ? err : settings_end_changes(settings);
}

static int prepare(struct settings *settings)
{
        static const char *const names[] = { POLICY "scaling_governor", POLICY "scaling_min_freq",
                                             POLICY "scaling_max_freq", BRIGHTNESS };
        int err = settings_add_file(settings, SCRATCH);

        for (size_t i = 0; !err && i < ARRAY_SIZE(names); i++)
                err = settings_add(settings, names[i]);
        return err ? err : settings_commit(settings);
}

/* One that forgot to die with the worker. */
static pid_t start_load(void)
{
        pid_t load = start_child();

        if (load == 0) {
                signal(SIGTERM, SIG_IGN);
                for (;;)
                        pause();
        }
        return load;
}

static int hold(int root_fd, const char *journal, const struct log *log, pid_t watchdog)
{
        struct restore_report report;
        struct settings *settings;
        unsigned turn = 0;
        int err = settings_open(root_fd, journal, log, &settings);

        if (!err)
                err = prepare(settings);
        if (err)
                return err;
        printf("%d %d %d\n", (int)watchdog, (int)getpid(), (int)start_load());
        fflush(stdout);
        srandom((unsigned)(time(NULL) ^ getpid()));
        while (!stop && !err)
                err = change(settings, root_fd, turn++);
        settings_close(settings);
        return err ? err : settings_restore(root_fd, journal, log, &report);
}

static int restore(int root_fd, const char *journal, const struct log *log)
{
        struct restore_report report;
        int err = settings_restore(root_fd, journal, log, &report);

        printf("%zu %zu %zu %zu\n", report.restored, report.kept, report.left, report.failed);
        return err;
}

int main(int argc, char **argv)
{
        static char name[] = "hold-tree";
        const struct log log = { .handler = log_to_stderr, .data = name };
        struct sigaction action = { .sa_handler = on_signal };
        _cleanup_close_ int root_fd = argc > 1 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        struct watchdog watchdog = { .root_fd = root_fd, .log = &log };
        char journal[512];
        pid_t self = getpid();
        int status = 0, err;

        if (root_fd < 0)
                return 2;
        snprintf(journal, sizeof(journal), "%s/state/restore.ini", argv[1]);
        if (argc > 2)
                return restore(root_fd, journal, &log) ? 1 : 0;
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGINT, &action, NULL);
        if (settings_lock(journal, &log))
                return 1;
        watchdog.journal = journal;
        err = watchdog_start(&watchdog, &status);
        if (err)
                return err > 0 ? status : 1;
        return hold(root_fd, journal, &log, self) ? 1 : 0;
}
