/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The charger as a part, for --force-discharge: the firmware runs the device on its battery although the
 * charger is plugged in (charge_behaviour; Documentation/ABI/testing/sysfs-class-power). Restored by the
 * journal, and by restore() at every pause.
 */

#include "charger.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "source/battery.h"
#include "util/util.h"

#define BATTERIES_MAX 4
#define WAIT_S 30 /* embedded controllers take seconds to switch, and gauges as long to show it */

struct charger {
        struct part part; /* first */
        const struct log *log;
        int root_fd;
        char names[BATTERIES_MAX][96]; /* names of the settings */
        size_t n;
        struct settings *settings;     /* set again after each begin() */
        bool forced;
};

static struct charger *charger_of(struct part *part)
{
        return (struct charger *)part;
}

static int describe(struct part *part, struct hardware_description *description)
{
        description->force_discharge = true;
        return 0;
}

static int prepare(struct part *part, struct settings *settings)
{
        struct charger *charger = charger_of(part);

        charger->settings = settings;
        charger->forced = false;
        for (size_t i = 0; i < charger->n; i++) {
                int err = settings_add(settings, charger->names[i]);

                if (err) {
                        log_error(charger->log, "%s: cannot be set: %s", charger->names[i], strerror(-err));
                        return err;
                }
        }
        return 0;
}

static bool discharges(const struct charger *charger)
{
        _cleanup_free_ struct battery_unit *units = NULL;
        struct battery sum;
        size_t n = 0;

        if (battery_list(charger->root_fd, &units, &n, NULL) < 0)
                return false;
        battery_sum(units, n, &sum);
        return sum.status == BATTERY_DISCHARGING;
}

static int force(struct charger *charger)
{
        for (size_t i = 0; i < charger->n; i++) {
                int err = settings_write(charger->settings, charger->names[i], "force-discharge");

                if (err) {
                        log_error(charger->log, "%s: the firmware refused force-discharge: %s",
                                  charger->names[i], strerror(-err));
                        return err;
                }
        }
        for (int i = 0; i < WAIT_S && !discharges(charger); i++)
                if (nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL) < 0)
                        return -errno; /* perhaps a signal to stop */
        if (discharges(charger))
                return 0;
        log_error(charger->log,
                  "the firmware accepted force-discharge, but the battery does not discharge after %d s; "
                  "unplug the charger and omit --force-discharge",
                  WAIT_S);
        return -EIO;
}

static int apply(struct part *part, const struct mode *mode)
{
        struct charger *charger = charger_of(part);
        int err = charger->forced ? 0 : force(charger);

        charger->forced = !err;
        return err;
}

static void stop(struct part *part)
{
        charger_of(part)->forced = false; /* restore() resets it with all other settings */
}

static void close_charger(struct part *part)
{
        closep(&charger_of(part)->root_fd);
        free(part);
}

static const struct part_ops charger_ops = {
        .name = "charger",
        .describe = describe,
        .prepare = prepare,
        .apply = apply,
        .stop = stop,
        .close = close_charger,
};

static int find_batteries(struct charger *charger)
{
        _cleanup_free_ struct battery_unit *units = NULL;
        size_t n = 0;
        int err = battery_list(charger->root_fd, &units, &n, NULL);

        for (size_t i = 0; !err && i < n && charger->n < BATTERIES_MAX; i++)
                if (units[i].force_discharge)
                        snprintf(charger->names[charger->n++], sizeof(charger->names[0]),
                                 "/sys/class/power_supply/%s/charge_behaviour", units[i].name);
        if (!err && charger->n == 0) {
                log_error(charger->log,
                          "--force-discharge: no battery's charge_behaviour supports it; unplug the charger "
                          "and omit it");
                return -ENOTSUP;
        }
        return err;
}

int charger_open(int root_fd, const struct machine_hardware *machine, struct part **ret)
{
        struct charger *charger;
        int err;

        if (!machine->force_discharge)
                return -ENODEV;
        charger = calloc(1, sizeof(*charger));
        if (!charger)
                return -ENOMEM;
        charger->part.ops = &charger_ops;
        charger->log = machine->log;
        charger->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        err = charger->root_fd < 0 ? -errno : find_batteries(charger);
        if (err) {
                close_charger(&charger->part);
                return err;
        }
        *ret = &charger->part;
        return 0;
}

int hardware_charger_open(const struct machine_hardware *machine, struct part **ret)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd < 0 ? -errno : charger_open(root_fd, machine, ret);
}
