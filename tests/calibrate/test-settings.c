/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Settings that are changed and restored: which values still count as ours. The other half is test-settings-restore.c.
 */

#include <errno.h>

#include "settings-fixture.h"

static void test_there_and_back(void)
{
        struct machine machine;
        struct settings *settings;
        struct restore_report report;
        struct stat info;

        machine_make(&machine);
        settings = take(&machine);
        check_text(settings_original(settings, BRIGHTNESS), "200");
        /* Comes with the governor. */
        check_text(settings_original(settings, POLICY "scaling_setspeed"), "<unsupported>");
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

/* A program that fights for a setting must not make the journal's disk work each time. */
static void test_again(void)
{
        struct stat first, second;
        char text[1024];
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        settings = take(&machine);
        check_int(settings_write(settings, BRIGHTNESS, "10"), 0);
        check_int(stat(machine.journal, &first), 0);
        set(&machine, BRIGHTNESS, "77");
        check_int(settings_write(settings, BRIGHTNESS, "10"), 0);
        check_int(stat(machine.journal, &second), 0);
        check_int(second.st_mtim.tv_nsec, first.st_mtim.tv_nsec);
        check_text(get(&machine, BRIGHTNESS), "10");
        check_int(settings_write(settings, BRIGHTNESS, "11"), 0);
        check(util_read_at(AT_FDCWD, machine.journal, text, sizeof(text)) > 0);
        check(strstr(text, "written = 11\n") != NULL);
        settings_close(settings);
        check_int(restore(&machine, 0).restored, 1);
        check_text(get(&machine, BRIGHTNESS), "200");
        machine_remove(&machine);
}

/* A setting that another program changed is set again; a part of its own watches the brightness. */
static void test_repeat(void)
{
        struct machine machine;
        struct settings *settings;
        char changed[SETTING_NAME_MAX + 1];

        machine_make(&machine);
        settings = take(&machine);
        check_int(settings_repeat(settings, changed), 0);
        check_text(changed, "");
        check_int(settings_write(settings, POLICY "scaling_governor", "userspace"), 0);
        check_int(settings_write(settings, POLICY "scaling_min_freq", "600000"), 0);
        check_int(settings_write(settings, POLICY "scaling_max_freq", "600000"), 0);
        check_int(settings_repeat(settings, changed), 0);
        check_text(changed, "");
        set(&machine, BRIGHTNESS, "77");
        check_int(settings_repeat(settings, changed), 0);
        check_text(changed, "");
        set(&machine, POLICY "scaling_governor", "powersave");
        set(&machine, POLICY "scaling_max_freq", "1800000");
        check_int(settings_repeat(settings, changed), 0);
        check_text(changed, POLICY "scaling_governor");
        check_text(get(&machine, POLICY "scaling_governor"), "userspace");
        check_text(get(&machine, POLICY "scaling_max_freq"), "600000");
        check_int(settings_repeat(settings, changed), 0);
        check_text(changed, "");
        set(&machine, POLICY "scaling_max_freq", "300000"); /* the firmware's limit */
        set(&machine, POLICY "bios_limit", "300000");
        check_int(settings_repeat(settings, changed), 0);
        check_text(changed, "");
        settings_close(settings);
        restore(&machine, 0);
        check_text(get(&machine, POLICY "scaling_governor"), "schedutil");
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

/* The driver rounds 600000 to 599999; both are ours. */
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

/* Interrupted between the intent and reading the driver's value: any new value is ours. */
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
                /* Like a kill: the journal on the disk stays as it is now. */
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

/* Boost changes the limits: its changes count as ours, and an unchanged limit is restored with it. */
static void test_affected(void)
{
        struct machine machine;
        struct settings *settings;
        struct restore_report report;

        machine_make(&machine);
        set(&machine, "/sys/devices/system/cpu/cpufreq/boost", "1");
        check_int(settings_open(machine.fd, machine.journal, &machine.log, &settings), 0);
        check_int(settings_add(settings, "/sys/devices/system/cpu/cpufreq/boost"), 0);
        check_int(settings_add(settings, POLICY "scaling_max_freq"), 0);
        check(settings_original(settings, POLICY "scaling_min_freq") != NULL); /* moves with the maximum */
        check_int(settings_add(settings, SOFT), 0);
        check_int(settings_commit(settings), 0);
        check_int(settings_before(settings, "/sys/devices/system/cpu/cpufreq/boost", "0"), 0);
        set(&machine, "/sys/devices/system/cpu/cpufreq/boost", "0");
        set(&machine, POLICY "scaling_max_freq", "1500000");
        check_int(settings_after(settings, "/sys/devices/system/cpu/cpufreq/boost"), 0);
        settings_close(settings);
        set(&machine, SOFT, "1"); /* never written by us */
        report = restore(&machine, 0);
        check_int(report.restored, 2);
        check_int(report.left, 1);
        check_text(get(&machine, POLICY "scaling_max_freq"), "1800000");
        check_text(get(&machine, SOFT), "1");
        machine_remove(&machine);
}

/* Firmware shows its own limit in place of ours, and in place of the original one. */
static void test_held_down(const char *now, bool ours)
{
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        set(&machine, POLICY "bios_limit", "1800000");
        settings = take(&machine);
        check_int(settings_write(settings, POLICY "scaling_max_freq", "1500000"), 0);
        settings_close(settings);
        set(&machine, POLICY "bios_limit", "1200000");
        set(&machine, POLICY "scaling_max_freq", now);
        check_int(restore(&machine, 0).restored, ours);
        check_text(get(&machine, POLICY "scaling_max_freq"), ours ? "1800000" : now);
        machine_remove(&machine);

        machine_make(&machine);
        set(&machine, POLICY "bios_limit", "1200000");
        set(&machine, POLICY "scaling_max_freq", "1200000");
        settings = take(&machine);
        check_text(settings_original(settings, POLICY "scaling_max_freq"), "1800000"); /* it is hidden by the limit */
        check_int(settings_write(settings, POLICY "scaling_max_freq", "600000"), 0);
        settings_close(settings);
        check_int(restore(&machine, 0).restored, 1);
        check_text(get(&machine, POLICY "scaling_max_freq"), "1800000");
        machine_remove(&machine);
}

/* The kernel lowers a minimum together with the maximum; another minimum is somebody's choice. */
static void test_minimum_follows(const char *now, bool ours)
{
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        settings = take(&machine);
        check_int(settings_write(settings, POLICY "scaling_min_freq", "1500000"), 0);
        settings_close(settings);
        set(&machine, POLICY "scaling_max_freq", "1200000");
        set(&machine, POLICY "scaling_min_freq", now);
        restore(&machine, 0);
        check_text(get(&machine, POLICY "scaling_min_freq"), ours ? "300000" : now);
        machine_remove(&machine);
}

/* The first cooling devices went away with their driver; the heat holds the maximum down all the same. */
static void test_cooled(const char *state, bool ours)
{
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        settings = take(&machine);
        check_int(settings_write(settings, POLICY "scaling_max_freq", "1500000"), 0);
        settings_close(settings);
        set(&machine, "/sys/class/thermal/cooling_device2/type", "Fan");
        set(&machine, "/sys/class/thermal/cooling_device2/cur_state", "1");
        set(&machine, "/sys/class/thermal/cooling_device4/type", "cpufreq-cpu0");
        set(&machine, "/sys/class/thermal/cooling_device4/cur_state", state);
        set(&machine, POLICY "scaling_max_freq", "1000000");
        check_int(restore(&machine, 0).restored, ours);
        check_text(get(&machine, POLICY "scaling_max_freq"), ours ? "1800000" : "1000000");
        machine_remove(&machine);
}

int main(void)
{
        test_there_and_back();
        test_again();
        test_repeat();
        test_refused();
        test_rounding("599999", true);
        test_rounding("600000", true);
        test_rounding("900000", false);
        test_in_flight(false);
        test_in_flight(true);
        test_affected();
        test_minimum_follows("1200000", true);
        test_minimum_follows("1000000", false);
        test_held_down("1200000", true);
        test_held_down("1000000", false); /* not the firmware's limit, but somebody's choice */
        test_cooled("2", true);
        test_cooled("0", false);
        return check_result();
}
