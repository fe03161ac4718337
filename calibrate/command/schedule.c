/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schedule.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "schedule-bus.h"
#include "util/text.h"
#include "util/util.h"

#define UNIT "joulecast-calibrate-night"
#define TIMER UNIT ".timer"
#define SERVICE UNIT ".service"
#define WRITTEN_BY \
        "# Written by `joulecast calibrate --schedule`; `joulecast calibrate --schedule off` removes it.\n"

time_t schedule_next(const char *clock, time_t now)
{
        struct tm parts;
        time_t when;

        localtime_r(&now, &parts);
        if (sscanf(clock, "%d:%d", &parts.tm_hour, &parts.tm_min) != 2)
                return (time_t)-1;
        parts.tm_sec = 0;
        parts.tm_isdst = -1;
        when = mktime(&parts);
        if (when > now)
                return when;
        parts.tm_mday++; /* mktime() knows the length of months and daylight saving */
        parts.tm_isdst = -1;
        return mktime(&parts);
}

/*
 * One word of a command line by systemd.syntax(7) and systemd.service(5): within double quotes, backslash and
 * quote are escaped; "%" is doubled, so that nothing is expanded (the ":" before the program protects "$").
 * Text that is not printable is refused.
 */
static bool print_word(FILE *file, const char *word, bool quoted)
{
        char clean[4096];

        if (strlen(word) >= sizeof(clean) || strcmp(util_printable(word, clean, sizeof(clean)), word))
                return false;
        if (quoted)
                fputs(" \"", file);
        for (; *word; word++) {
                if (quoted && (*word == '\\' || *word == '"'))
                        fputc('\\', file);
                if (*word == '%')
                        fputc(*word, file);
                fputc(*word, file);
        }
        if (quoted)
                fputc('"', file);
        return true;
}

/*
 * The run has the rights of root, who scheduled it, except those that no calibration needs. It needs /sys, all devices
 * of screens, GPUs and input (ProtectClock= would hide these), the sockets of sessions in /run/user and /tmp, and any
 * folder of --disk.
 */
#define SANDBOX \
        "NoNewPrivileges=yes\n" \
        "CapabilityBoundingSet=~CAP_SYS_MODULE CAP_SYS_RAWIO CAP_SYS_TIME CAP_SYS_BOOT CAP_SYS_CHROOT CAP_SYS_PACCT " \
        "CAP_SYSLOG CAP_MKNOD CAP_NET_BIND_SERVICE CAP_NET_RAW CAP_NET_BROADCAST CAP_IPC_OWNER CAP_LEASE " \
        "CAP_LINUX_IMMUTABLE CAP_SETFCAP CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_AUDIT_CONTROL CAP_AUDIT_READ " \
        "CAP_AUDIT_WRITE\n" \
        "ConfigurationDirectory=joulecast\n" \
        "ProtectSystem=full\n" \
        "ProtectControlGroups=yes\n" \
        "ProtectHostname=yes\n" \
        "ProtectKernelLogs=yes\n" \
        "ProtectKernelModules=yes\n" \
        "RestrictAddressFamilies=AF_UNIX AF_NETLINK AF_INET AF_INET6\n" \
        "RestrictNamespaces=yes\n" \
        "RestrictRealtime=yes\n" \
        "RestrictSUIDSGID=yes\n" \
        "LockPersonality=yes\n" \
        "SystemCallArchitectures=native\n" \
        "SystemCallFilter=~@clock @cpu-emulation @debug @module @mount @obsolete @raw-io @reboot @swap " \
        "process_vm_readv process_vm_writev\n" \
        "SystemCallErrorNumber=EPERM\n"

static bool print_service(FILE *file, const struct schedule *schedule)
{
        fputs(WRITTEN_BY
              "[Unit]\n"
              "Description=Measure a power model of this machine\n"
              "Documentation=man:joulecast-calibrate(1)\n"
              "\n"
              "[Service]\n"
              "Type=exec\n"
              "KillMode=mixed\n"
              "TimeoutStopSec=60\n"
              SANDBOX
              "WorkingDirectory=", file);
        /* A line that ends in a backslash continues, and trailing blanks are dropped. */
        if (strchr("\\ ", schedule->working[strlen(schedule->working) - 1]) ||
            !print_word(file, schedule->working, false))
                return false;
        fputs("\nExecStart=:", file);
        if (strpbrk(schedule->program, " \t\"'\\%$") || !print_word(file, schedule->program, false))
                return false;
        for (char *const *argument = schedule->arguments; *argument; argument++)
                if (!print_word(file, *argument, true))
                        return false;
        /* systemd may kill the main process, the watchdog: then this restores the machine. */
        fprintf(file, " \"--yes\"\nExecStopPost=:%s --restore\n", schedule->program);
        return true;
}

char *schedule_service(const struct schedule *schedule)
{
        struct text_kept kept;
        FILE *file = text_open(&kept);
        bool good = file && print_service(file, schedule);
        char *text = file ? text_close(file, &kept) : NULL;

        if (text && good)
                return text;
        errno = text ? EINVAL : ENOMEM;
        free(text);
        return NULL;
}

char *schedule_timer(const struct schedule *schedule)
{
        char *text, when[64];
        struct tm parts;

        localtime_r(&schedule->when, &parts);
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &parts);
        if (asprintf(&text,
                     WRITTEN_BY
                     "[Unit]\n"
                     "Description=Start the calibration of this machine\n"
                     "Documentation=man:joulecast-calibrate(1)\n"
                     "\n"
                     "[Timer]\n"
                     "OnCalendar=%s\n"
                     "AccuracySec=1s\n"
                     "WakeSystem=yes\n"
                     "\n"
                     "[Install]\n"
                     "WantedBy=timers.target\n", when) < 0)
                return NULL;
        return text;
}

static int write_unit(const char *folder, const char *name, char *text, const struct log *log)
{
        _cleanup_free_ char *path = NULL, *owned = text;
        int err = text ? 0 : -errno;

        if (err == -EINVAL)
                log_error(log, "an option or the current folder contains characters that a systemd unit "
                               "cannot contain; use plain names");
        if (err)
                return err;
        if (asprintf(&path, "%s/%s", folder, name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        err = util_write_file(path, owned, strlen(owned), 0644);
        if (err)
                log_error(log, "%s: cannot be written: %s", path, util_reason(err));
        return err;
}

static int remove_unit(const char *folder, const char *name)
{
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/%s", folder, name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        return unlink(path) < 0 ? -errno : 0;
}

static int check_systemd(const struct log *log)
{
        int err = schedule_bus_there();

        if (err)
                log_error(log,
                          "--schedule needs systemd, which does not run here (or joulecast was built "
                          "without it); start `joulecast calibrate --yes` by another scheduler");
        return err;
}

int schedule_arm(const struct schedule *schedule, const struct log *log)
{
        int err = check_systemd(log);

        if (!err)
                err = write_unit(schedule->folder, SERVICE, schedule_service(schedule), log);
        if (err)
                return err;
        err = write_unit(schedule->folder, TIMER, schedule_timer(schedule), log);
        if (!err) {
                err = schedule_bus_enable(TIMER);
                if (err)
                        log_error(log, "systemd does not take the timer %s: %s", TIMER, strerror(-err));
        }
        if (err) {
                schedule_bus_disable(TIMER); /* it may be enabled and not started */
                remove_unit(schedule->folder, SERVICE);
                remove_unit(schedule->folder, TIMER);
                schedule_bus_reload();
        }
        return err;
}

int schedule_disarm(const char *folder, const struct log *log)
{
        _cleanup_free_ char *path = NULL;
        int err;

        if (asprintf(&path, "%s/%s", folder, TIMER) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (access(path, F_OK) < 0)
                return -ENOENT;
        err = check_systemd(log);
        if (err)
                return err;
        err = schedule_bus_disable(TIMER);
        if (!err)
                err = remove_unit(folder, TIMER);
        if (!err)
                err = remove_unit(folder, SERVICE);
        if (!err)
                err = schedule_bus_reload();
        if (err)
                log_error(log, "%s: cannot be removed: %s", path, strerror(-err));
        return err;
}
