/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Leave it as it was: settings and their journal on a machine tree whose drivers this file plays. */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"
#include "journal.h"
#include "settings.h"
#include "tree.h"
#include "util.h"

#define POLICY "/sys/devices/system/cpu/cpufreq/policy0/"
#define BRIGHTNESS "/sys/class/backlight/panel/brightness"
#define SOFT "/sys/class/rfkill/rfkill0/soft"

struct machine {
        char dir[64], journal[96];
        int fd;
        unsigned said; /* sentences to the log */
        struct log log;
};

static void on_log(void *data, enum log_level level, const char *sentence)
{
        struct machine *machine = data;

        machine->said += level == LOG_LEVEL_ERROR || level == LOG_LEVEL_WARNING;
        if (getenv("SHOW"))
                fprintf(stderr, "%s\n", sentence);
}

static void set(const struct machine *machine, const char *name, const char *value)
{
        char line[128];
        int n = snprintf(line, sizeof(line), "%s\n", value);

        check(tree_write(machine->dir, name, line, (size_t)n));
}

static const char *get(const struct machine *machine, const char *name)
{
        static char text[4][128];
        static unsigned turn;
        char *buf = text[turn++ % 4];

        if (util_read_at(machine->fd, name + 1, buf, sizeof(text[0])) < 0)
                return NULL;
        buf[strcspn(buf, "\n")] = '\0';
        return buf;
}

static void boot(const struct machine *machine, const char *id, const char *uptime)
{
        set(machine, "/proc/sys/kernel/random/boot_id", id);
        set(machine, "/proc/uptime", uptime);
}

static void machine_make(struct machine *machine)
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

static void machine_remove(struct machine *machine)
{
        closep(&machine->fd);
        tree_remove(machine->dir);
}

static struct settings *take(struct machine *machine)
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

static struct restore_report restore(struct machine *machine, int want)
{
        struct restore_report report;

        check_int(settings_restore(machine->fd, machine->journal, &machine->log, &report), want);
        return report;
}

static void test_there_and_back(void)
{
        struct machine machine;
        struct settings *settings;
        struct restore_report report;
        struct stat info;

        machine_make(&machine);
        settings = take(&machine);
        check_text(settings_original(settings, BRIGHTNESS), "200");
        check_text(settings_original(settings, POLICY "scaling_setspeed"), "<unsupported>"); /* comes with the governor */
        check(settings_original(settings, "/sys/class/backlight/other/brightness") == NULL);
        check_int(settings_write(settings, POLICY "scaling_max_freq", "600000"), 0);
        check_int(settings_write(settings, BRIGHTNESS, "255"), 0);
        check_int(settings_write(settings, BRIGHTNESS, "10"), 0);
        check_text(get(&machine, BRIGHTNESS), "10");
        check(stat(machine.journal, &info) == 0 && (info.st_mode & 0777) == 0600);
        *strrchr(machine.journal, '/') = '\0';
        check(stat(machine.journal, &info) == 0 && (info.st_mode & 0777) == 0700);
        machine.journal[strlen(machine.journal)] = '/';
        settings_close(settings);
        report = restore(&machine, 0);
        check_int(report.restored, 2);
        check_int(report.left + report.failed, 0);
        check_text(get(&machine, BRIGHTNESS), "200");
        check_text(get(&machine, POLICY "scaling_max_freq"), "1800000");
        check(access(machine.journal, F_OK) < 0);
        report = restore(&machine, 0); /* safe to repeat */
        check_int(report.restored + report.kept + report.left + report.failed, 0);
        check_int(machine.said, 0);
        machine_remove(&machine);
}

static void test_refused(void)
{
        static const char *const names[] = {
                "/etc/passwd",
                "/sys/class/backlight/../../../etc/brightness",
                "/sys/class/backlight/panel/../panel/brightness",
                "/sys/class/backlight//brightness",
                "/sys/class/backlight/a/b/brightness",
                "/sys/class/thermal/thermal_zone0/trip_point_0_temp",
                "/sys/class/power_supply/BAT0/charge_control_end_threshold",
                "/sys/devices/system/cpu/cpu1/online",
                "sys/class/backlight/panel/brightness",
                "",
        };
        static const char *const files[] = { "/etc/passwd", "/var/tmp/.joulecast-disk-", ".joulecast-disk-a",
                                             "/var/../.joulecast-disk-a", "/tmp/x.joulecast-disk-a", "/.joulecast-disk",
                                             "/tmp/.joulecast-disk-a/b" };
        struct machine machine;
        struct settings *settings = NULL;

        machine_make(&machine);
        check_int(settings_open(machine.fd, machine.journal, &machine.log, &settings), 0);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                check_int(settings_add(settings, names[i]), -EPERM);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                check_int(settings_add_file(settings, files[i]), -EPERM);
        check_int(settings_add(settings, "/sys/class/backlight/none/brightness"), -ENOENT);
        check_int(settings_add(settings, BRIGHTNESS), 0);
        check_int(settings_write(settings, BRIGHTNESS, "7"), -EPERM); /* not on the disk yet */
        check_int(settings_commit(settings), 0);
        check_int(settings_write(settings, BRIGHTNESS, "0"), -ERANGE); /* never dark */
        check_int(settings_write(settings, BRIGHTNESS, "1e3"), -ERANGE);
        check_int(settings_write(settings, BRIGHTNESS, "-1"), -ERANGE);
        check_int(settings_write(settings, SOFT, "1"), -EPERM); /* not declared */
        check_text(get(&machine, BRIGHTNESS), "200");
        settings_close(settings);
        check_int(settings_open(machine.fd, machine.journal, &machine.log, &settings), -EEXIST);
        restore(&machine, 0);
        machine_remove(&machine);
}

/* The driver makes 599999 of 600000; both are ours. */
static void test_rounding(const char *now, bool ours)
{
        struct machine machine;
        struct settings *settings;
        struct restore_report report;

        machine_make(&machine);
        settings = take(&machine);
        check_int(settings_before(settings, POLICY "scaling_max_freq", "600000"), 0);
        set(&machine, POLICY "scaling_max_freq", "599999");
        check_int(settings_after(settings, POLICY "scaling_max_freq"), 0);
        settings_close(settings);
        set(&machine, POLICY "scaling_max_freq", now);
        report = restore(&machine, 0);
        check_int(report.restored, ours);
        check_int(report.left, !ours);
        check_int(machine.said, !ours);
        check_text(get(&machine, POLICY "scaling_max_freq"), ours ? "1800000" : now);
        machine_remove(&machine);
}

/* Cut short between the intent and what the driver made of it: anything new is ours. */
static void test_in_flight(bool batch)
{
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        settings = take(&machine);
        if (batch)
                check_int(settings_begin_changes(settings), 0);
        check_int(settings_before(settings, BRIGHTNESS, "100"), 0);
        set(&machine, BRIGHTNESS, "97");
        {
                /* As a kill would: the journal on the disk stays as it is now. */
                _cleanup_free_ char *copy = NULL;
                char text[4096];
                ssize_t n = util_read_at(AT_FDCWD, machine.journal, text, sizeof(text));

                settings_close(settings);
                copy = n > 0 ? strndup(text, (size_t)n) : NULL;
                check(copy && util_write_file(machine.journal, copy, (size_t)n, 0600) == 0);
        }
        check_int(restore(&machine, 0).restored, 1);
        check_text(get(&machine, BRIGHTNESS), "200");
        machine_remove(&machine);
}

int main(void)
{
        test_there_and_back();
        test_refused();
        test_rounding("599999", true);
        test_rounding("600000", true);
        test_rounding("900000", false);
        test_in_flight(false);
        test_in_flight(true);
        return check_result();
}
