/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads power supplies into a table: the source, and the list for people. */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "battery-private.h"
#include "util/fnv.h"
#include "util/util.h"

#define UEVENT_MAX 4096

/* Attributes; uevents of older kernels, or a copied folder, may lack some. A charger has only the first ones. */
#define CHARGERS_ATTRIBUTES 3
static const char *const attributes[] = {
        "type", "scope", "online", "present", "status", "capacity", "capacity_level", "charge_now", "charge_full",
        "charge_full_design",
        "energy_now", "energy_full", "energy_full_design", "voltage_now", "current_now", "power_now",
        "charge_avg", "energy_avg", "voltage_avg", "temp",
        "charge_control_start_threshold", "charge_control_end_threshold", "charge_behaviour",
};

static void make_key(const char *attribute, char *key, size_t size)
{
        snprintf(key, size, "%s", attribute);
        for (char *at = key; *at; at++)
                *at = (char)toupper((unsigned char)*at);
}

/* Is it a charger, by its uevent? Then its other attributes are not read, as some query the firmware. */
static bool is_charger(const char *uevent)
{
        char type[32];

        return battery_find(uevent, "TYPE", type, sizeof(type)) && strcmp(type, "Battery") != 0;
}

/* 0: the battery does not show its maker, model and serial number. */
static uint64_t pack_of(const char *uevent)
{
        static const char *const keys[] = { "\nPOWER_SUPPLY_MANUFACTURER=", "\nPOWER_SUPPLY_MODEL_NAME=",
                                            "\nPOWER_SUPPLY_SERIAL_NUMBER=" };
        uint64_t sum = FNV_BEGIN;

        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                const char *line = strstr(uevent, keys[i]);

                if (line)
                        sum = fnv_add(sum, line, 1 + strcspn(line + 1, "\n"));
        }
        return sum == FNV_BEGIN ? 0 : sum;
}

/* Which batteries there are: a level can only be subtracted from one of the same batteries. */
static void add_members(const struct battery_unit *units, size_t n, struct sample *sample)
{
        sample->n_members = MIN(n, (size_t)BATTERY_MEMBERS_MAX);
        for (size_t i = 0; i < sample->n_members; i++) {
                const struct battery *battery = &units[i].battery;

                sample->members[i] = (struct battery_member){
                        .name = fnv_add(FNV_BEGIN, units[i].name, strlen(units[i].name)),
                        .pack = units[i].pack,
                        .charge_full_uah = battery->have & BATTERY_CHARGE_FULL ? battery->charge_full_uah : 0,
                        .energy_full_uwh = battery->have & BATTERY_ENERGY_FULL ? battery->energy_full_uwh : 0,
                };
        }
}

/* The whole battery as one text: its uevent, and the attributes that it lacks. */
static void read_unit(int dir_fd, char *text, size_t size)
{
        ssize_t n = util_read_at(dir_fd, "uevent", text, size);
        size_t length = n > 0 ? (size_t)n : 0;

        text[length] = '\0';
        length = strlen(text);
        for (size_t i = 0; i < ARRAY_SIZE(attributes) && (i < CHARGERS_ATTRIBUTES || !is_charger(text)); i++) {
                char key[64], value[128];

                make_key(attributes[i], key, sizeof(key));
                if (battery_find(text, key, value, sizeof(value)) ||
                    util_read_at(dir_fd, attributes[i], value, sizeof(value)) <= 0)
                        continue;
                value[strcspn(value, "\n")] = '\0';
                if (length + strlen("\n" BATTERY_PREFIX "=\n") + strlen(key) + strlen(value) < size)
                        length += (size_t)snprintf(text + length, size - length, "\n" BATTERY_PREFIX "%s=%s\n", key,
                                                   value);
        }
}

/* A full charge that was shown before stands in for one that is not shown now. */
struct memory {
        char name[32];
        uint64_t full[BATTERY_SCALES]; /* 0: never shown */
};

#define MEMORIES_MAX 8
#define RECALL_PERCENT 3.0
#define SILENT_LOOKS 6 /* three minutes */
#define WAVER_PERCENT 0.9

/*
 * Does a remembered full charge fit the unit's level and percentage? Never a level of 0, which may be unknown, as the
 * full charge is; nor that of another pack in the same bay.
 */
static bool fits(struct battery_unit *unit, size_t scale, uint64_t full)
{
        double percent = 100 * (double)*battery_levels_of(unit, scale).now / (double)full;

        return unit->battery.have & BATTERY_CAPACITY && unit->battery.have & battery_scales[scale].have_now &&
               percent > 0 &&
               percent >= unit->battery.capacity_percent - RECALL_PERCENT &&
               percent <= unit->battery.capacity_percent + 1 + RECALL_PERCENT;
}

/* The memory of a unit, or a free one if @name is empty; NULL: there is none. */
static struct memory *find_memory(struct memory *memories, const char *name)
{
        for (size_t i = 0; memories && i < MEMORIES_MAX; i++)
                if (strcmp(memories[i].name, name) == 0)
                        return &memories[i];
        return NULL;
}

static void recall(struct memory *memories, struct battery_unit *unit)
{
        const struct memory *memory = find_memory(memories, unit->name);

        for (size_t scale = 0; memory && scale < BATTERY_SCALES; scale++) {
                uint32_t bit = battery_scales[scale].have_full;

                if (!(unit->full_unknown & bit) || memory->full[scale] == 0 || !fits(unit, scale, memory->full[scale]))
                        continue;
                *battery_levels_of(unit, scale).full = memory->full[scale];
                unit->battery.have |= bit;
        }
}

static void remember(struct memory *memories, struct battery_unit *unit)
{
        struct memory *memory = find_memory(memories, unit->name);

        memory = memory ? memory : find_memory(memories, "");
        if (!memory || isnan(battery_fine_percent(&unit->battery)))
                return;
        memcpy(memory->name, unit->name, sizeof(memory->name));
        for (size_t scale = 0; scale < BATTERY_SCALES; scale++)
                if (unit->battery.have & battery_scales[scale].have_full)
                        memory->full[scale] = *battery_levels_of(unit, scale).full;
}

struct table {
        struct battery_unit *units;
        size_t capacity;
        size_t n;     /* that count; they come first */
        size_t n_all;
};

static int read_units(int class_fd, struct memory *memories, struct table *table)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(class_fd, ".");
        struct dirent *entry;

        if (!dir)
                return -errno;
        while ((entry = readdir(dir))) {
                char text[UEVENT_MAX];
                _cleanup_close_ int unit_fd = -1;
                struct battery_unit *unit;

                if (entry->d_name[0] == '.')
                        continue;
                unit_fd = openat(class_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (unit_fd < 0)
                        continue;
                if (util_grow(&table->units, &table->capacity, table->n_all + 1, sizeof(*table->units)) < 0)
                        return -ENOMEM;
                unit = &table->units[table->n_all++];
                read_unit(unit_fd, text, sizeof(text));
                battery_read_text(text, unit);
                util_printable(entry->d_name, unit->name, sizeof(unit->name));
                unit->pack = pack_of(text);
                recall(memories, unit);
        }
        return 0;
}

/* @memories: of the units at earlier looks; or NULL */
static int look(int class_fd, struct memory *memories, struct table *table)
{
        int err;

        table->n = table->n_all = 0;
        err = read_units(class_fd, memories, table);
        if (err)
                return err;
        battery_judge(table->units, table->n_all);
        while (table->n < table->n_all && table->units[table->n].role == ROLE_BATTERY)
                table->n++;
        for (size_t i = 0; memories && i < table->n; i++)
                remember(memories, &table->units[i]);
        return 0;
}

int battery_list(int root_fd, struct battery_unit **ret, size_t *ret_n, size_t *ret_n_all)
{
        _cleanup_close_ int class_fd = openat(root_fd, "sys/class/power_supply",
                                              O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct table table = { 0 };
        int err = class_fd < 0 ? 0 : look(class_fd, NULL, &table);

        if (err) {
                free(table.units);
                return err;
        }
        *ret = table.units;
        *ret_n = table.n;
        if (ret_n_all)
                *ret_n_all = table.n_all;
        return 0;
}

int battery_now(int root_fd, struct battery *ret)
{
        _cleanup_free_ struct battery_unit *units = NULL;
        size_t n = 0;
        int err = battery_list(root_fd, &units, &n, NULL);

        if (err || n == 0)
                return err ? err : -ENODEV;
        battery_sum(units, n, ret);
        return 0;
}

enum supply_state battery_supply(int root_fd)
{
        _cleanup_free_ struct battery_unit *units = NULL;
        size_t n, n_all = 0;

        return battery_list(root_fd, &units, &n, &n_all) == 0 && n_all > 0 ? units[0].supply : SUPPLY_UNKNOWN;
}

struct battery_source {
        struct source source;
        const struct log *log;
        int class_fd;
        struct table table;
        struct memory memories[MEMORIES_MAX];
        enum battery_status said;           /* at the last look */
        double turn;                        /* percentage at the latest end of its movement; NaN: unknown */
        bool falls;                         /* did it move last downward? */
        unsigned silent;                    /* looks in a row at which a battery could not be read */
        uint64_t told[BATTERY_QUIRKS_MAX];  /* hashes of quirks that were logged already */
        size_t n_told;
};

static void tell_quirks(struct battery_source *self)
{
        for (size_t i = 0; i < self->table.n; i++) {
                const struct battery_unit *unit = &self->table.units[i];

                for (size_t j = 0; j < unit->n_quirks; j++) {
                        uint64_t quirk = fnv_add(FNV_BEGIN, unit->quirks[j], strlen(unit->quirks[j]));
                        size_t at = 0;

                        while (at < self->n_told && self->told[at] != quirk)
                                at++;
                        if (at < self->n_told || at == ARRAY_SIZE(self->told))
                                continue;
                        log_bug_firmware(self->log, "battery %s: %s", unit->name, unit->quirks[j]);
                        self->told[self->n_told++] = quirk;
                }
        }
}

/*
 * A battery without a status discharges while its level falls. Where all supplies are offline, one with another status
 * discharges, too, once its level has fallen by more than gauges waver.
 */
static void watch_level(struct battery_source *self, struct battery *battery)
{
        double percent = battery_fine_percent(battery);
        bool denies = battery->said > BATTERY_DISCHARGING;

        if ((denies && battery->said != self->said) || isnan(self->turn)) {
                self->turn = percent;
                self->falls = false;
        } else if (self->falls ? percent < self->turn : percent > self->turn) {
                self->turn = percent;
        } else if (fabs(percent - self->turn) > (denies ? WAVER_PERCENT : 0)) {
                self->turn = percent;
                self->falls = !self->falls;
        }
        self->said = battery->said;
        if (!self->falls || !battery_is_to_watch(battery))
                return;
        battery->status = BATTERY_DISCHARGING;
        if (denies)
                battery->have &= ~(uint32_t)BATTERY_POWER; /* it is as wrong as the word */
}

/* The charge of the other batteries is not that of the machine; but a battery that stays silent is dead. */
static bool wait_for_silent(struct battery_source *self)
{
        for (size_t i = self->table.n; i < self->table.n_all; i++) {
                const struct battery_unit *unit = &self->table.units[i];

                /* A unit that counted before is there, and shows nothing that counts. */
                if (unit->role == ROLE_LEFT_OUT && !unit->away && find_memory(self->memories, unit->name))
                        return ++self->silent <= SILENT_LOOKS;
        }
        self->silent = 0;
        return false;
}

/* Batteries come and go: the folder is listed each time, which costs 2 us. */
static int battery_read(struct source *source, struct sample *sample)
{
        struct battery_source *self = (struct battery_source *)source;
        int err = look(self->class_fd, self->memories, &self->table);

        if (err)
                return err;
        if (self->table.n == 0 || wait_for_silent(self))
                return -ENODATA;
        tell_quirks(self);
        battery_sum(self->table.units, self->table.n, &sample->battery);
        watch_level(self, &sample->battery);
        add_members(self->table.units, self->table.n, sample);
        sample->have |= SAMPLE_BATTERY;
        return 0;
}

static void battery_close(struct source *source)
{
        struct battery_source *self = (struct battery_source *)source;

        closep(&self->class_fd);
        free(self->table.units);
        free(self);
}

static const struct source_ops battery_ops = { "battery", battery_read, battery_close };

int battery_open(int root_fd, const struct log *log, struct source **ret)
{
        int class_fd = openat(root_fd, "sys/class/power_supply", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct battery_source *self;

        if (class_fd < 0)
                return -ENODEV;
        self = calloc(1, sizeof(*self));
        if (!self) {
                close(class_fd);
                return -ENOMEM;
        }
        self->source.ops = &battery_ops;
        self->log = log;
        self->class_fd = class_fd;
        self->turn = NAN;
        *ret = &self->source;
        return 0;
}
