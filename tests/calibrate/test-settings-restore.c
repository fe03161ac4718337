/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Restoring from a journal that is old, of another boot, or somebody else's: which journals are trusted, and which
 * settings are left alone.
 */

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "child.h"
#include "hold/journal.h"
#include "settings-fixture.h"
#include "hold/shutdown.h"

static void test_reboot(void)
{
        struct machine machine;
        struct settings *settings;
        struct restore_report report;

        machine_make(&machine);
        settings = take(&machine);
        check_int(settings_write(settings, POLICY "scaling_max_freq", "600000"), 0);
        check_int(settings_write(settings, BRIGHTNESS, "10"), 0);
        check_int(settings_write(settings, SOFT, "1"), 0);
        settings_close(settings);
        boot(&machine, "ffffffff-3a0c-4b62-a1ea-3b83b0c7f5d2", "30.00 50.00");
        set(&machine, POLICY "scaling_max_freq", "600000"); /* which happens to be the firmware's value */
        check_int(unlink(strcat(strcpy((char[128]){ 0 }, machine.dir), SOFT)), 0);
        report = restore(&machine, -EIO); /* its driver is not there yet */
        check_int(report.failed, 1);
        check_int(report.restored, 1);
        check_text(get(&machine, POLICY "scaling_max_freq"), "600000");
        check_text(get(&machine, BRIGHTNESS), "200");
        check_int(settings_open(machine.fd, machine.journal, &machine.log, &settings), -EEXIST);
        set(&machine, SOFT, "1");
        report = restore(&machine, -EAGAIN);
        check_int(report.restored, 1);
        check_text(get(&machine, SOFT), "0");
        check_int(settings_open(machine.fd, machine.journal, &machine.log, &settings), -EEXIST);
        set(&machine, POLICY "scaling_max_freq", "700000"); /* somebody's */
        set(&machine, SOFT, "1");       /* systemd's, which was later than our first look */
        report = restore(&machine, 0);
        check_int(report.restored, 1);
        check_int(report.kept, 1);
        check_text(get(&machine, SOFT), "0");
        check_text(get(&machine, POLICY "scaling_max_freq"), "700000");
        check(access(machine.journal, F_OK) < 0);
        machine_remove(&machine);
}

/*
 * Long after the boot no files can appear any more, and one attempt is enough; the same holds if no files of ours
 * remain.
 */
static void test_reboot_once(void)
{
        struct machine machine;
        struct settings *settings;

        for (int early = 0; early < 2; early++) {
                machine_make(&machine);
                settings = take(&machine);
                check_int(settings_write(settings, early ? POLICY "scaling_max_freq" : SOFT,
                                         early ? "600000" : "1"),
                          0);
                settings_close(settings);
                boot(&machine, "ffffffff-3a0c-4b62-a1ea-3b83b0c7f5d2", early ? "30.00 50.00" : "120.00 50.00");
                check_int(restore(&machine, 0).failed, 0);
                check(access(machine.journal, F_OK) < 0);
                machine_remove(&machine);
        }
}

/* A setting that another program changed meanwhile is not mistaken for ours at the second attempt. */
static void test_reboot_left(void)
{
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        settings = take(&machine);
        check_int(settings_write(settings, BRIGHTNESS, "10"), 0);
        check_int(settings_write(settings, SOFT, "1"), 0);
        settings_close(settings);
        boot(&machine, "ffffffff-3a0c-4b62-a1ea-3b83b0c7f5d2", "30.00 50.00");
        set(&machine, BRIGHTNESS, "77");
        check_int(restore(&machine, -EAGAIN).left, 1);
        check_int(restore(&machine, 0).kept, 1);
        check_text(get(&machine, BRIGHTNESS), "77");
        check_text(get(&machine, SOFT), "0");
        machine_remove(&machine);
}

/* The power failed after the radio was on again, and before systemd saved that. */
static void test_power_cut(void)
{
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        settings = take(&machine);
        check_int(settings_write(settings, SOFT, "1"), 0);
        check_int(settings_write(settings, SOFT, "0"), 0);
        settings_close(settings);
        boot(&machine, "ffffffff-3a0c-4b62-a1ea-3b83b0c7f5d2", "30.00 50.00");
        set(&machine, SOFT, "1");
        check_int(restore(&machine, -EAGAIN).restored, 1);
        check_text(get(&machine, SOFT), "0");
        machine_remove(&machine);
}

static bool shuts_down;

bool __wrap_shutdown_is_under_way(int root_fd);
bool __wrap_shutdown_is_under_way(int root_fd)
{
        return shuts_down;
}

/* The next boot brings radio and brightness as they were saved before all was put back. */
static void test_shutdown(void)
{
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        settings = take(&machine);
        check_int(settings_write(settings, POLICY "scaling_max_freq", "600000"), 0);
        check_int(settings_write(settings, SOFT, "1"), 0);
        settings_close(settings);
        shuts_down = true;
        for (int again = 0; again < 2; again++) { /* the worker, and the watchdog after it */
                check_int(restore(&machine, 0).restored, again ? 0 : 2);
                check_int(access(machine.journal, F_OK), 0);
        }
        shuts_down = false;
        check_text(get(&machine, SOFT), "0");
        boot(&machine, "ffffffff-3a0c-4b62-a1ea-3b83b0c7f5d2", "30.00 50.00");
        set(&machine, POLICY "scaling_max_freq", "600000"); /* this boot's own */
        set(&machine, SOFT, "1");
        set(&machine, BRIGHTNESS, "100"); /* never ours */
        check_int(restore(&machine, -EAGAIN).restored, 1);
        check_text(get(&machine, SOFT), "0");
        check_int(restore(&machine, 0).kept, 1);
        check_text(get(&machine, BRIGHTNESS), "100");
        check_text(get(&machine, POLICY "scaling_max_freq"), "600000");
        check(access(machine.journal, F_OK) < 0);
        machine_remove(&machine);
}

static void test_gone(void)
{
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        settings = take(&machine);
        check_int(settings_write(settings, SOFT, "1"), 0);
        settings_close(settings);
        check_int(unlink(strcat(strcpy((char[128]){ 0 }, machine.dir), SOFT)), 0);
        check_int(restore(&machine, 0).left, 1); /* long after boot: it was taken away */
        check(access(machine.journal, F_OK) < 0);
        machine_remove(&machine);
}

static void in_tree(const struct machine *machine, const char *path, char buf[256])
{
        snprintf(buf, 256, "%s%s", machine->dir, path);
}

/*
 * A file on a storage that is mounted when somebody logs in: it is waited for after a boot, and named if it stays away.
 */
static void test_gone_folder(void)
{
        struct machine machine;
        struct settings *settings = NULL;
        char path[256];

        machine_make(&machine);
        check_int(settings_open(machine.fd, machine.journal, &machine.log, &settings), 0);
        check_int(settings_add_file(settings, "/media/stick/.joulecast-disk-a1"), 0);
        check_int(settings_commit(settings), 0);
        settings_close(settings);
        boot(&machine, "ffffffff-1111", "30.00 20.00");
        machine.said = 0;
        check_int(restore(&machine, -EIO).failed, 1);
        check_int(machine.said, 1);
        check(tree_write(machine.dir, "/media/stick/.joulecast-disk-a1", "x", 1));
        check_int(restore(&machine, 0).restored, 1);
        in_tree(&machine, "/media/stick/.joulecast-disk-a1", path);
        check(access(path, F_OK) < 0);
        machine_remove(&machine);

        machine_make(&machine);
        check_int(settings_open(machine.fd, machine.journal, &machine.log, &settings), 0);
        check_int(settings_add_file(settings, "/media/stick/.joulecast-disk-a1"), 0);
        check_int(settings_commit(settings), 0);
        settings_close(settings);
        machine.said = 0;
        check_int(restore(&machine, 0).left, 1);
        check_int(machine.said, 1);
        machine_remove(&machine);
}

/* Names that lead elsewhere by now. */
static void test_links(void)
{
        char attribute[256], victim[256], scratch[256], folder[256];
        struct machine machine;
        struct settings *settings;
        struct restore_report report;

        machine_make(&machine);
        in_tree(&machine, BRIGHTNESS, attribute);
        in_tree(&machine, "/etc/victim", victim);
        in_tree(&machine, "/var/tmp/.joulecast-disk-a1", scratch);
        in_tree(&machine, "/var/tmp", folder);
        set(&machine, "/etc/victim", "10");
        set(&machine, "/var/tmp/other", "");
        check_int(settings_open(machine.fd, machine.journal, &machine.log, &settings), 0);
        check_int(settings_add(settings, BRIGHTNESS), 0);
        check_int(settings_add_file(settings, "/var/tmp/.joulecast-disk-a1"), 0);
        check_int(settings_add_file(settings, "/var/tmp/.joulecast-disk-b2"), 0);
        check_int(settings_commit(settings), 0);
        check_int(settings_write(settings, BRIGHTNESS, "10"), 0);
        settings_close(settings);
        set(&machine, "/var/tmp/.joulecast-disk-b2", "ours");
        check(unlink(attribute) == 0 && symlink("../../../../etc/victim", attribute) == 0);
        check(symlink("../../etc/victim", scratch) == 0);
        report = restore(&machine, -EIO);
        check_int(report.failed, 1);
        check_int(report.left, 1);
        check_int(report.restored, 1);
        check_text(get(&machine, "/etc/victim"), "10");
        check(get(&machine, "/var/tmp/.joulecast-disk-b2") == NULL);
        check(get(&machine, "/var/tmp/other") != NULL);
        machine_remove(&machine);
}

/* /sys/class is made of links with "..", which the kernel gives up on while folders are renamed elsewhere. */
static void test_renames(void)
{
        char link[256], folder[256], other[256], value[SETTING_VALUE_MAX];
        struct machine machine;
        unsigned failed = 0;
        pid_t child;

        machine_make(&machine);
        in_tree(&machine, "/sys/class/backlight/screen", link);
        in_tree(&machine, "/tmp/a", folder);
        in_tree(&machine, "/tmp/b", other);
        set(&machine, "/sys/devices/screen/brightness", "10");
        set(&machine, "/tmp/a/file", "");
        check_int(symlink("../../devices/screen", link), 0);
        child = start_child();
        if (child == 0)
                for (;;)
                        if (rename(folder, other) < 0 || rename(other, folder) < 0)
                                _exit(1);
        for (unsigned i = 0; i < 100000; i++)
                failed += attribute_read(machine.fd, "/sys/class/backlight/screen/brightness", value) != 0;
        check_int(failed, 0);
        check(waitpid(child, NULL, WNOHANG) == 0); /* it went on all the while */
        check(end_child(child));
        machine_remove(&machine);
}

/* Drivers may choose any names of devices; those in our journal have to be readable again. */
static void test_odd_device(void)
{
        char link[256];
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        in_tree(&machine, "/sys/class/backlight/lid", link);
        set(&machine, "/sys/devices/a ;b/lid/brightness", "80");
        check_int(symlink("../../devices/a ;b/lid", link), 0);
        check_int(settings_open(machine.fd, machine.journal, &machine.log, &settings), 0);
        check_int(settings_add(settings, "/sys/class/backlight/lid/brightness"), 0);
        check_int(settings_commit(settings), 0);
        check_int(settings_write(settings, "/sys/class/backlight/lid/brightness", "10"), 0);
        settings_close(settings);
        check_int(restore(&machine, 0).restored, 1);
        check_text(get(&machine, "/sys/devices/a ;b/lid/brightness"), "80");
        machine_remove(&machine);
}

/* Another device has the name now: its setting is not ours. */
static void test_other_device(void)
{
        char link[256];
        struct machine machine;
        struct settings *settings;

        machine_make(&machine);
        in_tree(&machine, "/sys/class/backlight/lid", link);
        set(&machine, "/sys/devices/a/lid/brightness", "80");
        set(&machine, "/sys/devices/b/lid/brightness", "10");
        check_int(symlink("../../devices/a/lid", link), 0);
        check_int(settings_open(machine.fd, machine.journal, &machine.log, &settings), 0);
        check_int(settings_add(settings, "/sys/class/backlight/lid/brightness"), 0);
        check_int(settings_commit(settings), 0);
        check_int(settings_write(settings, "/sys/class/backlight/lid/brightness", "10"), 0);
        check_text(get(&machine, "/sys/devices/a/lid/brightness"), "10");
        settings_close(settings);
        check(unlink(link) == 0 && symlink("../../devices/b/lid", link) == 0);
        check_int(restore(&machine, 0).left, 1);
        check_text(get(&machine, "/sys/devices/b/lid/brightness"), "10");
        machine_remove(&machine);
}

static uint64_t fnv(const char *text)
{
        uint64_t hash = UINT64_C(0xcbf29ce484222325);

        for (; *text; text++)
                hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
        return hash;
}

#define HEAD "[journal]\nversion = 1\nboot_id = 0e1d1ef5\n"

/* Journals with a valid end section: their fault is not the checksum. */
static void test_hostile(void)
{
        static const struct {
                const char *text;
                unsigned entries;
                bool good;
        } cases[] = {
                { HEAD, 0, true },
                { HEAD "[setting 1]\nname = " BRIGHTNESS "\noriginal = 10\nstate = ours\nwritten = 1\n"
                                                         "read = 1\n", 1, true },
                { HEAD "[file 1]\nname = /var/tmp/.joulecast-disk-a\n", 1, true },
                { HEAD "[file 1]\nname = /var/tmp/.joulecast-disk-a\n", 2, false },
                { "[journal]\nboot_id = 0e1d1ef5\n", 0, false },
                { "[journal]\nversion = 2\n", 0, false },
                { HEAD "[file 1]\nname = /etc/shadow\n", 1, false },
                { HEAD "[file 1]\nname = /var/tmp/../.joulecast-disk-a\n", 1, false },
                { HEAD "[file 1]\nname = var/.joulecast-disk-a\n", 1, false },
                { HEAD "[file 1]\n", 0, true }, /* it is empty */
                { HEAD "[setting 1]\nname = /etc/passwd\noriginal = 1\nstate = ours\nread = 1\n", 1, false },
                { HEAD "[setting 1]\nname = /sys/class/backlight/../brightness\noriginal = 1\n", 1, false },
                { HEAD "[setting 1]\nname = " BRIGHTNESS "\noriginal = x\n", 1, false },
                { HEAD "[setting 1]\nname = " BRIGHTNESS "\noriginal = 99999999999999\n", 1, false },
                { HEAD "[setting 1]\nname = " POLICY "scaling_governor\noriginal = a b\n", 1, false },
                { HEAD "[setting 1]\nname = " POLICY "scaling_governor\noriginal = ../x\n", 1, false },
                { HEAD "[setting 1]\nname = " SOFT "\noriginal = 2\n", 1, false },
                { HEAD "[setting 1]\nname = " SOFT "\nstate = ours\nread = 1\n", 1, false },
                { HEAD "[setting 1]\nname = " SOFT "\noriginal = 1\nstate = ours\n", 1, false },
                { HEAD "[setting 1]\nname = " SOFT "\noriginal = 1\nstate = file\n", 1, false },
                { HEAD "[setting 1]\noriginal = 1\nname = " SOFT "\n", 1, false },
                { HEAD "[setting 2]\nname = " SOFT "\noriginal = 1\n", 1, false },
                { HEAD "[setting 1]\nname = " SOFT "\noriginal = 1\n[setting 2]\nname = "
                  SOFT "\noriginal = 1\n", 2, false },
                { HEAD "[setting 1]\nname = " SOFT "\noriginal = 1\nmore = 1\n", 1, false },
                { "[setting 1]\nname = " SOFT "\noriginal = 1\n", 1, false },
                { "name = " SOFT "\n", 0, false },
                { "", 0, false },
        };
        struct machine machine;

        machine_make(&machine);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct journal journal = { 0 };
                char text[1024];
                int n = snprintf(text, sizeof(text), "%s[end]\nentries = %u\nchecksum = %016llx\n",
                                 cases[i].text, cases[i].entries, (unsigned long long)fnv(cases[i].text));
                int err = journal_parse(text, (size_t)n, "case", &machine.log, &journal);

                if (err != (cases[i].good ? 0 : -EBADMSG))
                        fprintf(stderr, "case %zu: %d\n", i, err);
                check_int(err, cases[i].good ? 0 : -EBADMSG);
                journal_clear(&journal);
                for (int cut = 0; cases[i].good && cut < n; cut++) /* truncated anywhere */
                        check_int(journal_parse(text, (size_t)cut, "cut", NULL, &journal), -EBADMSG);
        }
        machine_remove(&machine);
}

/* A journal that others could have written is not used. */
static void test_untrusted(void)
{
        struct machine machine;
        char folder[96];

        machine_make(&machine);
        settings_close(take(&machine));
        snprintf(folder, sizeof(folder), "%s/state", machine.dir);
        check_int(chmod(machine.journal, 0666), 0);
        check_int(restore(&machine, -EPERM).restored, 0);
        check(chmod(machine.journal, 0600) == 0 && chmod(folder, 0777) == 0);
        check_int(restore(&machine, -ENOLINK).restored, 0);
        check_int(chmod(folder, 0700), 0);
        check_int(restore(&machine, 0).failed, 0);
        machine_remove(&machine);
}

/* A journal that a bad disk truncated: the message says what is wrong, and then what to do. */
static void test_unreadable(void)
{
        struct machine machine;

        machine_make(&machine);
        settings_close(take(&machine));
        check_int(truncate(machine.journal, 100), 0);
        machine.said = 0;
        check_int(restore(&machine, -EBADMSG).restored, 0);
        check_int(machine.said, 2);
        check_int(access(machine.journal, F_OK), 0);
        machine_remove(&machine);
}

int main(void)
{
        test_reboot();
        test_reboot_once();
        test_reboot_left();
        test_power_cut();
        test_shutdown();
        test_gone();
        test_gone_folder();
        test_links();
        test_renames();
        test_odd_device();
        test_other_device();
        test_hostile();
        test_untrusted();
        test_unreadable();
        return check_result();
}
