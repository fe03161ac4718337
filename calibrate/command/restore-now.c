/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "restore-now.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hold/lock.h"
#include "hold/settings.h"
#include "util/util.h"
#include "util/words.h"

#define END_TRIES 300 /* attempts, 0.1 s apart: the other process may be writing to a slow disk */

static int restore(const char *journal, const struct log *log, struct restore_report *report)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd < 0 ? -errno : settings_restore(root_fd, journal, log, report);
}

static void say_again(const struct log *log)
{
        log_error(log,
                  "everything is restored, but so soon after a boot systemd may still change radios and "
                  "brightness to what it saved; repeat this in some seconds");
}

int restore_first(const char *journal, const struct log *log)
{
        struct restore_report report;
        bool there = access(journal, F_OK) == 0;
        int err = restore(journal, log, &report);

        if (err == -EIO)
                log_error(log,
                          "an earlier calibration was interrupted, and %zu of its settings could not be "
                          "restored; no calibration starts before they are",
                          report.failed);
        else if (err == -EAGAIN)
                say_again(log);
        else if (!err && there)
                log_warning(log,
                            "an earlier calibration was interrupted; %zu settings were restored, %zu were "
                            "unchanged, %zu were left because another program has changed them",
                            report.restored, report.kept, report.left);
        return err;
}

/* Prints the restored settings; the log is for the user here. */
static void on_sentence(void *data, enum log_level level, const char *sentence)
{
        const struct log *log = data;

        if (level == LOG_LEVEL_DEBUG)
                printf("%s\n", sentence);
        else
                log_write(log, level, "%s", sentence);
}

static void print_json(const struct restore_report *report)
{
        printf("{\"restored\": %zu, \"kept\": %zu, \"left\": %zu, \"failed\": %zu}\n", report->restored,
               report->kept, report->left, report->failed);
}

static void print_text(const struct restore_report *report)
{
        printf(_("%zu restored, %zu unchanged, %zu left because another program has changed them, %zu failed\n"),
               report->restored, report->kept, report->left, report->failed);
}

/* The lock may outlive the watchdog that wrote its pid there by a moment. */
static bool is_calibration(pid_t pid)
{
        char path[32], comm[32];

        snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
        return pid > 0 && util_read_at(AT_FDCWD, path, comm, sizeof(comm)) > 0 &&
               strncmp(comm, "joulecast-", 10) == 0;
}

/* Its watchdog ends in order: the worker stops, and everything is restored before the lock is released. */
static int end_it(const char *journal, const struct log *log)
{
        struct timespec moment = { .tv_nsec = 100000000 };
        pid_t pid = 0;
        int err = lock_take(journal, &pid);

        if (err == -EBUSY && is_calibration(pid))
                kill(pid, SIGTERM);
        for (int i = 0; err == -EBUSY && i < END_TRIES; i++) {
                nanosleep(&moment, NULL);
                err = lock_take(journal, NULL);
        }
        if (err)
                log_error(log, "the running calibration (process %d) does not end: %s", (int)pid,
                          strerror(-err));
        return err; /* held until this process ends */
}

int restore_by_hand(const char *journal, bool json, bool end_running, const struct log *log)
{
        struct log copy = *log, said = { .handler = on_sentence, .data = &copy };
        struct restore_report report;
        bool there = access(journal, F_OK) == 0, ended = there && end_running;
        int err = ended ? end_it(journal, log) : 0;

        if (err)
                return err;
        there = access(journal, F_OK) == 0;
        err = restore(journal, json ? log : &said, &report);
        if (err && err != -EIO && err != -EAGAIN)
                return err; /* logged */
        if (err == -EAGAIN)
                say_again(log);
        if (json)
                print_json(&report);
        else if (there)
                print_text(&report);
        else if (ended)
                puts(_("The running calibration was ended and has restored everything."));
        else
                puts(geteuid() ? _("No calibration of yours (root's are restored by root) was interrupted; "
                                   "there is nothing to restore.")
                               : _("No calibration was interrupted; there is nothing to restore."));
        return err;
}
