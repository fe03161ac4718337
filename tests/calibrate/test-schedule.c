/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The units of --schedule. With a folder as its argument it writes them there, for test-units to have
 * systemd's own parser read them.
 */

#include <dirent.h>
#include <errno.h>

#include "check.h"
#include "command/schedule-bus.h"
#include "command/schedule.h"
#include "tree.h"
#include "util/util.h"

int __wrap_schedule_bus_there(void);
int __wrap_schedule_bus_enable(const char *timer);
int __wrap_schedule_bus_disable(const char *timer);
int __wrap_schedule_bus_reload(void);

/* The manager, in the place of systemd's. */
static bool enabled;
static int start_err; /* it enables the timer, and cannot start it */

int __wrap_schedule_bus_there(void)
{
        return 0;
}

int __wrap_schedule_bus_enable(const char *timer)
{
        enabled = true;
        return start_err;
}

int __wrap_schedule_bus_disable(const char *timer)
{
        enabled = false;
        return 0;
}

int __wrap_schedule_bus_reload(void)
{
        return 0;
}

static char *const nasty[] = { (char[]){ "--profile" },  (char[]){ "a \"b\" \\ $HOME %h 'c'; d" },
                               (char[]){ "--wifi-url" }, (char[]){ "http://h/ä?x=1&y=%20" },
                               (char[]){ "" },           NULL };

static struct schedule some(void)
{
        return (struct schedule){ .program = "/usr/libexec/joulecast/joulecast-calibrate",
                                  .working = "/root/a b%",
                                  .arguments = nasty,
                                  .when = 1795224600 };
}

static void test_service(void)
{
        struct schedule schedule = some();
        char *const bad[] = { (char[]){ "a\nExecStartPre=/bin/sh" }, NULL }, *const byte[] = {
                (char[]){ "\xff" }, NULL
        };
        _cleanup_free_ char *text = schedule_service(&schedule);

        check(text && strstr(text, "\nExecStart=:/usr/libexec/joulecast/joulecast-calibrate \"--profile\" "
                             "\"a \\\"b\\\" \\\\ $HOME %%h 'c'; d\" \"--wifi-url\" \"http://h/ä?x=1&y=%%20\" "
                             "\"\" \"--yes\"\n"));
        check(text && strstr(text, "\nExecStopPost=:/usr/libexec/joulecast/joulecast-calibrate --restore\n"));
        check(text && strstr(text, "\nWorkingDirectory=/root/a b%%\n"));
        schedule.arguments = bad;
        check(schedule_service(&schedule) == NULL);
        check_int(errno, EINVAL);
        schedule.arguments = byte;
        check(schedule_service(&schedule) == NULL);
        schedule = some();
        schedule.program = "/opt/my programs/joulecast-calibrate";
        check(schedule_service(&schedule) == NULL);
        schedule = some();
        schedule.working = "/root/a\\";
        check(schedule_service(&schedule) == NULL);
        schedule.working = "/root/a ";
        check(schedule_service(&schedule) == NULL);
}

static void test_timer(void)
{
        struct schedule schedule = some();
        _cleanup_free_ char *text = schedule_timer(&schedule);

        check(text && strstr(text, "\nOnCalendar=2026-11-21 01:30:00\n"));
        check(text && strstr(text, "\nWantedBy=timers.target\n"));
}

static void test_next(void)
{
        const time_t evening = 1795211400; /* 2026-11-20 21:50 UTC */

        check_int(schedule_next("01:30", evening), 1795224600);
        check_int(schedule_next("23:00", evening), evening + 70 * 60);
        check_int(schedule_next("21:50", evening), evening + 24 * 3600); /* that one is over */
        check_int(schedule_next("0:5", evening), evening + 135 * 60);
}

static bool write_units(const char *folder)
{
        struct schedule schedule = some();
        _cleanup_free_ char *service = NULL, *timer = schedule_timer(&schedule), *path = NULL, *other = NULL;

        schedule.program = "/bin/true";
        schedule.working = "/";
        service = schedule_service(&schedule);
        return service && timer && asprintf(&path, "%s/joulecast-calibrate-night.service", folder) > 0 &&
               asprintf(&other, "%s/joulecast-calibrate-night.timer", folder) > 0 &&
               util_write_file(path, service, strlen(service), 0644) == 0 &&
               util_write_file(other, timer, strlen(timer), 0644) == 0;
}

static size_t count_files(const char *folder)
{
        _cleanup_closedir_ DIR *dir = opendir(folder);
        const struct dirent *entry;
        size_t n = 0;

        while (dir && (entry = readdir(dir)))
                n += entry->d_name[0] != '.';
        return n;
}

/* A schedule that cannot be armed leaves nothing behind: the unit is neither installed nor enabled. */
static void test_arm(void)
{
        struct schedule schedule = some();
        char folder[] = "/tmp/joulecast-schedule-XXXXXX";

        check(mkdtemp(folder) != NULL);
        schedule.folder = folder;
        check_int(schedule_disarm(folder, NULL), -ENOENT);
        check_int(schedule_arm(&schedule, NULL), 0);
        check(enabled && count_files(folder) == 2);
        check_int(schedule_disarm(folder, NULL), 0);
        check(!enabled && count_files(folder) == 0);
        start_err = -EIO;
        check_int(schedule_arm(&schedule, NULL), -EIO);
        check(!enabled && count_files(folder) == 0);
        tree_remove(folder);
}

int main(int argc, char **argv)
{
        setenv("TZ", "UTC", 1);
        if (argc > 1)
                return write_units(argv[1]) ? 0 : 1;
        test_service();
        test_timer();
        test_next();
        test_arm();
        return check_result();
}
