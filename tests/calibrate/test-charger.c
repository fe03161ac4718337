/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * --force-discharge on trees: devices that can and cannot, the values written, and the charge at which it starts and
 * stops.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>

#include "hardware/charger.h"
#include "check.h"
#include "run/refuse.h"
#include "tree.h"

#define BATTERY "sys/class/power_supply/BAT0/"

static void put_status(const char *dir, const char *status)
{
        char uevent[256];

        snprintf(uevent, sizeof(uevent), "POWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_STATUS=%s\n"
                 "POWER_SUPPLY_PRESENT=1\nPOWER_SUPPLY_CAPACITY=80\n", status);
        check(tree_write(dir, BATTERY "uevent", uevent, strlen(uevent)));
}

static int new_machine(char *dir, size_t size, const char *behaviours)
{
        snprintf(dir, size, "/tmp/joulecast-charger-XXXXXX");
        check(mkdtemp(dir) != NULL);
        put_status(dir, "Discharging");
        if (behaviours)
                check(tree_write(dir, BATTERY "charge_behaviour", behaviours, strlen(behaviours)));
        return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void who_can(void)
{
        static const struct {
                const char *behaviours;
                bool asked;
                int err;
        } cases[] = {
                { "[auto] inhibit-charge force-discharge\n", true, 0 },
                { "[auto] inhibit-charge force-discharge\n", false, -ENODEV },
                { "[auto] inhibit-charge\n", true, -ENOTSUP },
                { NULL, true, -ENOTSUP },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct machine_hardware machine = { .force_discharge = cases[i].asked };
                char dir[64];
                int root_fd = new_machine(dir, sizeof(dir), cases[i].behaviours);
                struct part *part = NULL;

                check_int(charger_open(root_fd, &machine, &part), cases[i].err);
                if (part)
                        part->ops->close(part);
                close(root_fd);
                tree_remove(dir);
        }
}

static void is_forced(void)
{
        const struct machine_hardware machine = { .force_discharge = true };
        struct hardware_description description = { 0 };
        const struct mode idle = { .name = "idle" };
        char dir[64], journal[96], text[96];
        int root_fd = new_machine(dir, sizeof(dir), "[auto] inhibit-charge force-discharge\n");
        struct settings *settings = NULL;
        struct part *part = NULL;

        snprintf(journal, sizeof(journal), "%s/state/restore.ini", dir);
        check_near(refuse_start_percent(&description), 25, 0);
        check_near(refuse_floor_percent(&description), 20, 0);
        check_int(charger_open(root_fd, &machine, &part), 0);
        check_int(part->ops->describe(part, &description), 0);
        check_near(refuse_start_percent(&description), 60, 0);
        check_near(refuse_floor_percent(&description), 40, 0);

        check_int(settings_open(root_fd, journal, NULL, &settings), 0);
        check_int(part->ops->prepare(part, settings), 0);
        check_int(settings_commit(settings), 0);
        check_int(part->ops->apply(part, &idle), 0);
        check(util_read_at(root_fd, BATTERY "charge_behaviour", text, sizeof(text)) > 0);
        check(strncmp(text, "force-discharge", strlen("force-discharge")) == 0);
        part->ops->close(part);
        settings_close(settings);
        close(root_fd);
        tree_remove(dir);
}

static void on_signal(int number)
{
}

/* Whoever asks to stop does not wait for a firmware that never switches over. */
static void a_signal_ends_the_wait(void)
{
        const struct machine_hardware machine = { .force_discharge = true };
        const struct itimerval soon = { .it_value = { .tv_usec = 300000 } };
        const struct sigaction action = { .sa_handler = on_signal };
        const struct mode idle = { .name = "idle" };
        char dir[64], journal[96];
        int root_fd = new_machine(dir, sizeof(dir), "[auto] inhibit-charge force-discharge\n");
        struct settings *settings = NULL;
        struct part *part = NULL;

        snprintf(journal, sizeof(journal), "%s/state/restore.ini", dir);
        put_status(dir, "Charging");
        check_int(charger_open(root_fd, &machine, &part), 0);
        check_int(settings_open(root_fd, journal, NULL, &settings), 0);
        check_int(part->ops->prepare(part, settings), 0);
        check_int(settings_commit(settings), 0);
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &soon, NULL);
        check_int(part->ops->apply(part, &idle), -EINTR);
        put_status(dir, "Discharging"); /* the next one asks again */
        check_int(part->ops->apply(part, &idle), 0);
        part->ops->close(part);
        settings_close(settings);
        close(root_fd);
        tree_remove(dir);
}

int main(void)
{
        who_can();
        is_forced();
        a_signal_ends_the_wait();
        return check_result();
}
