/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Batteries that lie, each in its own way (tests/machines/battery/ has more of them as whole trees); and,
 * where they are, what real devices have shown.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "check.h"
#include "source/battery.h"
#include "tree.h"
#include "util/util.h"

#define P "POWER_SUPPLY_"

struct battery_case {
        const char *what;
        const char *uevent;
        bool ours;
        uint32_t have;
        enum battery_status status;
        uint64_t power_uw;
        uint32_t percent;
        size_t quirks;
};

#define CHARGE (BATTERY_CHARGE_NOW | BATTERY_CHARGE_FULL)
#define ENERGY (BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL)
#define FULL_CHARGE P "CHARGE_NOW=1500000\n" P "CHARGE_FULL=3000000\n"

static const struct battery_case cases[] = {
        { "power from current and voltage, sign of the driver's own",
          P "STATUS=Discharging\n" P "VOLTAGE_NOW=4000000\n" P "CURRENT_NOW=-250000\n" FULL_CHARGE P
            "CAPACITY=50\n",
          true, BATTERY_VOLTAGE | CHARGE | BATTERY_CAPACITY | BATTERY_POWER, BATTERY_DISCHARGING, 1000000, 50,
          0 },
        { "averages alone: the voltage, but no current that is late",
          P "STATUS=Discharging\n" P "VOLTAGE_AVG=3780000\n" P "CURRENT_AVG=-550000\n" FULL_CHARGE P
            "CAPACITY=50\n",
          true, BATTERY_VOLTAGE | CHARGE | BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 50, 0 },
        { "registers that are not known hold their largest number",
          P "STATUS=Discharging\n" P "VOLTAGE_NOW=65535000\n" P "CURRENT_NOW=65535000\n" P
            "CHARGE_NOW=65535000\n" P "CHARGE_FULL=4100000\n" P "CAPACITY=61\n",
          true, BATTERY_CHARGE_FULL | BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 61, 3 },
        { "power in the unit of the full charge, mW",
          P "STATUS=Discharging\n" P "POWER_NOW=7350\n" P "ENERGY_FULL=48100\n" P "CAPACITY=61\n", true,
          BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 61, 2 },
        { "power_now first",
          P "STATUS=Charging\n" P "POWER_NOW=27656000\n" P "ENERGY_FULL=52260000\n" P "ENERGY_NOW=26660000\n",
          true, ENERGY | BATTERY_CAPACITY | BATTERY_POWER, BATTERY_CHARGING, 27656000, 51, 0 },
        { "zero gauge while discharging", P "STATUS=Discharging\n" P "POWER_NOW=0\n" P "CAPACITY=40\n", true,
          BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 40, 1 },
        { "zero gauge while full is true", P "STATUS=Full\n" P "POWER_NOW=0\n" P "CAPACITY=100\n", true,
          BATTERY_CAPACITY | BATTERY_POWER, BATTERY_FULL, 0, 100, 0 },
        { "current in mA",
          P "STATUS=Discharging\n" P "VOLTAGE_NOW=4000000\n" P "CURRENT_NOW=350\n" P "CAPACITY=7\n", true,
          BATTERY_VOLTAGE | BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 7, 1 },
        { "power in mW", P "STATUS=Discharging\n" P "POWER_NOW=4200\n" P "CAPACITY=7\n", true,
          BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 7, 1 },
        { "power beyond all devices", P "STATUS=Discharging\n" P "POWER_NOW=8123000000000\n" P "CAPACITY=7\n",
          true, BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 7, 1 },
        { "smallest of all numbers",
          P "STATUS=Discharging\n" P "POWER_NOW=-9223372036854775808\n" P "CAPACITY=7\n", true,
          BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 7, 1 },
        { "text for a number", P "STATUS=Discharging\n" P "POWER_NOW=n/a\n" P "CAPACITY=7\n", true,
          BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 7, 1 },
        { "voltage in mV",
          P "STATUS=Discharging\n" P "VOLTAGE_NOW=3942\n" P "CURRENT_NOW=350000\n" P "CAPACITY=7\n", true,
          BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 7, 1 },
        { "capacity over 100", P "STATUS=Discharging\n" P "CAPACITY=255\n" FULL_CHARGE, true,
          CHARGE | BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 50, 1 },
        { "capacity missing", P "TYPE=Battery\n" P "STATUS=Discharging\n" FULL_CHARGE, true,
          CHARGE | BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 50, 0 },
        { "full above its design",
          P "STATUS=Discharging\n" P "ENERGY_FULL_DESIGN=20000000\n" P "ENERGY_FULL=60000000\n" P
            "ENERGY_NOW=30000000\n",
          true, ENERGY | BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 50, 1 },
        { "a charge of twelve bytes in the wrong order",
          P "STATUS=Charging\n" P "CHARGE_NOW=56848000\n" P "CHARGE_FULL_DESIGN=4600000\n" P "CAPACITY=87\n",
          true, BATTERY_CAPACITY | BATTERY_CHARGE_FULL, BATTERY_CHARGING, 0, 87, 1 }, /* the design */
        { "a full charge of ten times its design, beside a right percentage",
          P "STATUS=Discharging\n" P "CHARGE_FULL_DESIGN=4000000\n" P "CHARGE_FULL=40000000\n" P
            "CAPACITY=100\n",
          true, BATTERY_CAPACITY | BATTERY_CHARGE_FULL, BATTERY_DISCHARGING, 0, 100, 1 },
        { "a level that contradicts the percentage",
          P "STATUS=Discharging\n" P "ENERGY_FULL=40000000\n" P "ENERGY_NOW=10000000\n" P "CAPACITY=60\n",
          true, BATTERY_CAPACITY | BATTERY_ENERGY_FULL, BATTERY_DISCHARGING, 0, 60, 1 },
        { "a full charge of three times its design, which the percentage contradicts",
          P "STATUS=Discharging\n" P "ENERGY_FULL_DESIGN=42000000\n" P "ENERGY_FULL=121270000\n" P
            "ENERGY_NOW=20000000\n" P "CAPACITY=50\n",
          true, ENERGY | BATTERY_CAPACITY, BATTERY_DISCHARGING, 0, 50, 2 },
        { "a level's average alone", P "STATUS=Charging\n" P "ENERGY_AVG=391000\n" P "ENERGY_FULL=3965000\n", true,
          ENERGY | BATTERY_CAPACITY, BATTERY_CHARGING, 0, 9, 0 },
        { "0 of 0", P "STATUS=Discharging\n" P "CHARGE_FULL=0\n" P "CHARGE_NOW=0\n" P "CAPACITY=0\n", true, 0,
          BATTERY_DISCHARGING, 0, 0, 1 },
        { "a charger's chip", P "TYPE=Battery\n" P "STATUS=Discharging\n" P "ONLINE=1\n", false, 0, 0, 0, 0,
          0 },
        { "a headset without a scope",
          P "TYPE=Battery\n" P "STATUS=Discharging\n" P "ONLINE=1\n" P "CAPACITY=7\n", false, 0, 0, 0, 0, 0 },
        { "no words for its status", P "STATUS=Draining\n" P "CAPACITY=7\n", true, BATTERY_CAPACITY,
          BATTERY_UNKNOWN, 0, 7, 1 },
        { "status missing", P "CAPACITY=7\n", true, BATTERY_CAPACITY, BATTERY_UNKNOWN, 0, 7, 1 },
        { "a mouse", P "TYPE=Battery\n" P "SCOPE=Device\n" P "CAPACITY=7\n", false, 0, 0, 0, 0, 0 },
        { "a charger", P "TYPE=Mains\n" P "ONLINE=1\n", false, 0, 0, 0, 0, 0 },
        { "an empty bay", P "TYPE=Battery\n" P "PRESENT=0\n" P "CAPACITY=7\n", false, 0, 0, 0, 0, 0 },
        { "nothing", "", false, 0, 0, 0, 0, 0 },
        { "garbage", "\xff\xfe=\n====\nPOWER_SUPPLY_\nPOWER_SUPPLY_CAPACITY", false, 0, 0, 0, 0, 0 },
};

static void parse_each(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct battery_case *c = &cases[i];
                struct battery_unit unit;
                int failures = check_failures;

                check_int(battery_parse(c->uevent, &unit), c->ours);
                if (c->ours) {
                        check_int(unit.battery.have, c->have);
                        check_int(unit.battery.status, c->status);
                        check_int(unit.n_quirks, c->quirks);
                        check_int(c->have & BATTERY_POWER ? unit.battery.power_uw : 0, c->power_uw);
                        check_int(unit.battery.capacity_percent, c->percent);
                        if (!strstr(c->uevent, "POWER_NOW="))
                                check((unit.battery.current_ua > 0) == (unit.battery.power_uw > 0));
                        if (!strstr(c->uevent, "CURRENT_NOW="))
                                check_int(unit.battery.current_ua, 0);
                }
                if (check_failures > failures)
                        fprintf(stderr, "in: %s\n", c->what);
        }
}

static void two_are_one(void)
{
        struct battery_unit units[2];
        struct battery sum;

        check(battery_parse(P "STATUS=Unknown\n" P "ENERGY_NOW=0\n" P "ENERGY_FULL=30000000\n", &units[0]));
        check(battery_parse(P "STATUS=Discharging\n" P "ENERGY_NOW=10000000\n" P "ENERGY_FULL=20000000\n" P
                              "POWER_NOW=5000000\n",
                            &units[1]));
        battery_sum(units, 2, &sum);
        check_int(sum.status, BATTERY_DISCHARGING);
        check_int(sum.energy_now_uwh, 10000000);
        check_int(sum.capacity_percent, 20);
        check_int(sum.power_uw, 5000000);
        check(sum.have & BATTERY_POWER); /* the idle battery has no current, and reports none */
        units[0].battery.have &= ~(uint32_t)BATTERY_ENERGY_NOW;
        battery_sum(units, 2, &sum);
        check(!(sum.have & BATTERY_ENERGY_NOW));
        battery_sum(units, 0, &sum);
        check_int(sum.have, 0);
}

/* One of two batteries with a limit: what both hold together when charging ends. */
static void limits_of_two(void)
{
        struct battery_unit units[2];
        struct charge_limit limit;

        check(battery_parse(P "STATUS=Charging\n" P "ENERGY_NOW=0\n" P "ENERGY_FULL=30000000\n" P
                              "CHARGE_CONTROL_END_THRESHOLD=80\n" P "CHARGE_CONTROL_START_THRESHOLD=75\n",
                            &units[0]));
        check(battery_parse(P "STATUS=Charging\n" P "ENERGY_NOW=0\n" P "ENERGY_FULL=10000000\n", &units[1]));
        battery_limit(units, 1, &limit);
        check(limit.end_percent == 80 && limit.start_percent == 75);
        battery_limit(units, 2, &limit);
        check_near(limit.end_percent, 85, 1e-9);
        check_near(limit.start_percent, 81.25, 1e-9);
        units[0].charge_start_percent = 0;
        battery_limit(units, 2, &limit);
        check(limit.end_percent > 80 && limit.start_percent == 0);
        battery_limit(units + 1, 1, &limit);
        check(limit.end_percent == 0 && limit.start_percent == 0);
        battery_limit(units, 0, &limit);
        check(limit.end_percent == 0);
        check(battery_parse(P "STATUS=Charging\n" P "ENERGY_NOW=0\n" P "CHARGE_CONTROL_END_THRESHOLD=100\n"
                            P "CHARGE_CONTROL_START_THRESHOLD=95\n", &units[0]));
        check(units[0].charge_limit_percent == 0 && units[0].charge_start_percent == 0);
        check(battery_parse(P "STATUS=Charging\n" P "ENERGY_NOW=0\n" P "CHARGE_CONTROL_END_THRESHOLD=60\n"
                            P "CHARGE_CONTROL_START_THRESHOLD=90\n", &units[0])); /* nonsense */
        check(units[0].charge_limit_percent == 60 && units[0].charge_start_percent == 0);
}

/*
 * A battery whose driver answers ENODEV, as if it was being removed: the other battery is still read, and this one may
 * come back.
 */
static void one_cannot_be_read(void)
{
        static const char text[] = P "TYPE=Battery\n" P "STATUS=Discharging\n" P "CAPACITY=50\n";
        char tree[64] = "/tmp/joulecast-battery-XXXXXX", path[128];
        struct battery_unit *units = NULL;
        size_t n = 0;
        int root_fd;

        check(mkdtemp(tree) != NULL);
        snprintf(path, sizeof(path), "%s/sys/class/power_supply/BAT1/uevent", tree);
        check(tree_write(tree, "sys/class/power_supply/BAT0/uevent", text, strlen(text)));
        check_int(util_make_parent(path, 0755), 0);
        check_int(mkdir(path, 0755), 0); /* opens, and cannot be read */
        root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(battery_list(root_fd, &units, &n, NULL), 0);
        check_int(n, 1);
        check_text(units[0].name, "BAT0");
        free(units);
        check_int(rmdir(path), 0);
        check(tree_write(tree, "sys/class/power_supply/BAT1/uevent", text, strlen(text)));
        check_int(battery_list(root_fd, &units, &n, NULL), 0);
        check_int(n, 2);
        free(units);
        close(root_fd);
        tree_remove(tree);
}

/* One of two that cannot be read, or shows 0 of 0 after a suspend: the charge of both is unknown, for three minutes. */
static void one_is_silent(void)
{
        static const char text[] = P "TYPE=Battery\n" P "STATUS=Discharging\n" P "ENERGY_NOW=25000000\n" P
                                     "ENERGY_FULL=50000000\n",
                          zero[] = P "TYPE=Battery\n" P "STATUS=Unknown\n" P "ENERGY_NOW=0\n" P
                                     "ENERGY_FULL=0\n" P "CAPACITY=0\n",
                          away[] = P "TYPE=Battery\n" P "PRESENT=0\n";
        const char *const silent[] = { "", P "TYPE=Battery\n", zero };
        const char *const bay = "sys/class/power_supply/BAT1/uevent";
        char tree[] = "/tmp/joulecast-battery-XXXXXX";
        struct sample sample = { 0 };
        struct source *source = NULL;
        int root_fd;

        check(mkdtemp(tree) != NULL);
        check(tree_write(tree, "sys/class/power_supply/BAT0/uevent", text, strlen(text)));
        check(tree_write(tree, bay, text, strlen(text)));
        root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(battery_open(root_fd, &(struct log){ 0 }, &source), 0);
        for (size_t i = 0; source && i < ARRAY_SIZE(silent); i++) {
                check_int(source->ops->read(source, &sample), 0);
                check_int(sample.battery.energy_full_uwh, 100000000);
                check(tree_write(tree, bay, silent[i], strlen(silent[i])));
                check_int(source->ops->read(source, &sample), -ENODATA);
                check(tree_write(tree, bay, text, strlen(text)));
        }
        if (!source)
                return;
        check_int(source->ops->read(source, &sample), 0);
        check(tree_write(tree, bay, away, strlen(away)));
        check_int(source->ops->read(source, &sample), 0); /* it was taken out */
        check_int(sample.battery.energy_full_uwh, 50000000);
        check(tree_write(tree, bay, zero, strlen(zero)));
        for (int i = 0; i < 6; i++)
                check_int(source->ops->read(source, &sample), -ENODATA);
        check_int(source->ops->read(source, &sample), 0); /* it is dead */
        source->ops->close(source);
        close(root_fd);
        tree_remove(tree);
}

/* The first battery is the same at every poll, in whatever order the folder lists them. */
static void are_in_order(void)
{
        static const char text[] = P "STATUS=Discharging\n" P "CAPACITY=50\n";
        char tree[] = "/tmp/joulecast-battery-XXXXXX", path[64], name[32];
        struct battery_unit *units = NULL;
        size_t n = 0;
        int root_fd;

        check(mkdtemp(tree) != NULL);
        for (unsigned i = 0; i < 9; i++) {
                snprintf(path, sizeof(path), "sys/class/power_supply/BAT%u/uevent", (i * 5 + 3) % 9);
                check(tree_write(tree, path, text, strlen(text)));
        }
        root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(battery_list(root_fd, &units, &n, NULL), 0);
        check_int(n, 9);
        for (size_t i = 0; i < n; i++) {
                snprintf(name, sizeof(name), "BAT%zu", i);
                check_text(units[i].name, name);
        }
        free(units);
        close(root_fd);
        tree_remove(tree);
}

/* uevents of real devices: accepted values are in range, and each device is a battery or an empty bay. */
static void real_devices(const char *folder)
{
        DIR *dir = opendir(folder);
        struct dirent *entry;
        size_t n = 0;

        if (!dir) {
                fprintf(stderr, "no recorded devices in %s: skipped\n", folder);
                return;
        }
        while ((entry = readdir(dir))) {
                char path[512], text[4096];
                struct battery_unit unit;
                const char *end = strrchr(entry->d_name, '.');

                if (!end || strcmp(end, ".uevent") != 0)
                        continue;
                snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
                check(util_read_at(-100, path, text, sizeof(text)) > 0);
                if (!battery_parse(text, &unit)) {
                        check(strstr(text, P "PRESENT=0") != NULL);
                        continue;
                }
                n++;
                check(unit.battery.have & BATTERY_CAPACITY);
                check(!(unit.battery.have & BATTERY_POWER) || unit.battery.power_uw < 100000000);
                check(!(unit.energy_have & BATTERY_ENERGY_NOW) || unit.energy_now_uwh < 100000000);
        }
        closedir(dir);
        check(n >= 5);
}

int main(int argc, char **argv)
{
        parse_each();
        two_are_one();
        limits_of_two();
        one_cannot_be_read();
        one_is_silent();
        are_in_order();
        if (argc > 1)
                real_devices(argv[1]);
        return check_result();
}
