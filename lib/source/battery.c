/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads batteries: the source, and the list for people. battery-parse.c interprets the texts. */

#include "battery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

#define UEVENT_MAX 4096

/* Attributes that are missing in uevents of older kernels, or in a copied folder. */
static const char *const attributes[] = {
        "type", "scope", "present", "status", "capacity", "charge_now", "charge_full", "charge_full_design",
        "energy_now", "energy_full", "energy_full_design", "voltage_now", "current_now", "power_now", "temp",
        "charge_control_start_threshold", "charge_control_end_threshold", "charge_behaviour",
};

static bool has_key(const char *uevent, const char *key)
{
        size_t length = strlen(key);

        for (const char *at = uevent; (at = strstr(at, key)); at += length)
                if ((at == uevent || at[-1] == '\n') && at[length] == '=')
                        return true;
        return false;
}

static void make_key(const char *attribute, char *key, size_t size)
{
        snprintf(key, size, "POWER_SUPPLY_%s", attribute);
        for (char *at = key; *at; at++)
                if (*at >= 'a' && *at <= 'z')
                        *at -= 'a' - 'A';
}

/* A charger, by its uevent. The rest of it need not be read; some attributes ask the firmware. */
static bool is_charger(const char *uevent)
{
        static const char battery[] = "POWER_SUPPLY_TYPE=Battery";
        const char *type = strstr(uevent, battery);

        return has_key(uevent, "POWER_SUPPLY_TYPE") && !(type && strchr("\n", type[sizeof(battery) - 1]));
}

/* The whole battery as one text: its uevent, and the attributes that it lacks. */
static void read_unit(int dir_fd, char *text, size_t size)
{
        ssize_t n = util_read_at(dir_fd, "uevent", text, size);
        size_t length = n > 0 ? (size_t)n : 0;

        text[length] = '\0';
        length = strlen(text);
        for (size_t i = 0; i < ARRAY_SIZE(attributes) && !is_charger(text); i++) {
                char key[64], value[128];

                make_key(attributes[i], key, sizeof(key));
                if (has_key(text, key) || util_read_at(dir_fd, attributes[i], value, sizeof(value)) <= 0)
                        continue;
                value[strcspn(value, "\n")] = '\0';
                if (length + strlen(key) + strlen(value) + 4 > size)
                        continue;
                length += (size_t)snprintf(text + length, size - length, "\n%s=%s\n", key, value);
        }
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(((const struct battery_unit *)a)->name, ((const struct battery_unit *)b)->name);
}

/* Adds the batteries found to @list; quirks of what is no battery are dropped. */
static int list_units(int class_fd, struct battery_unit **list, size_t *capacity, size_t *n)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(class_fd, ".");
        struct dirent *entry;

        if (!dir)
                return -errno;
        while ((entry = readdir(dir))) {
                char text[UEVENT_MAX];
                _cleanup_close_ int unit_fd = -1;

                if (entry->d_name[0] == '.')
                        continue;
                unit_fd = openat(class_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (unit_fd < 0)
                        continue;
                if (util_grow(list, capacity, *n + 1, sizeof(**list)) < 0)
                        return -ENOMEM;
                read_unit(unit_fd, text, sizeof(text));
                if (!battery_parse(text, &(*list)[*n]))
                        continue;
                util_printable(entry->d_name, (*list)[*n].name, sizeof((*list)[*n].name));
                (*n)++;
        }
        if (*n > 1)
                qsort(*list, *n, sizeof(**list), compare_names);
        return 0;
}

/*
 * Where it counts charge: its voltage now depends on how full it is, by a fifth, so the cells in series are counted, of
 * 3.8 V over a whole discharge.
 */
#define CELL_MV 3800

double battery_full_mwh(const struct battery *battery)
{
        uint64_t cells = MAX((battery->voltage_uv / 1000 + CELL_MV / 2) / CELL_MV, UINT64_C(1));

        if (battery->have & BATTERY_ENERGY_FULL && battery->energy_full_uwh > 0)
                return (double)battery->energy_full_uwh / 1e3;
        if (battery->have & BATTERY_CHARGE_FULL && battery->have & BATTERY_VOLTAGE && battery->charge_full_uah > 0)
                return (double)battery->charge_full_uah * (double)(cells * CELL_MV) / 1e6;
        return NAN;
}

int battery_list(int root_fd, struct battery_unit **ret, size_t *ret_n)
{
        _cleanup_close_ int class_fd = openat(root_fd, "sys/class/power_supply",
                                              O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct battery_unit *list = NULL;
        size_t capacity = 0, n = 0;
        int err = class_fd < 0 ? 0 : list_units(class_fd, &list, &capacity, &n);

        if (err) {
                free(list);
                return err;
        }
        *ret = list;
        *ret_n = n;
        return 0;
}

struct battery_source {
        struct source source;
        const struct log *log;
        int class_fd;
        struct battery_unit *units;
        size_t capacity;
        char told[BATTERY_QUIRKS_MAX][112]; /* quirks that were logged already */
        size_t n_told;
};

static bool was_told(const struct battery_source *self, const char *quirk)
{
        for (size_t i = 0; i < self->n_told; i++)
                if (strcmp(self->told[i], quirk) == 0)
                        return true;
        return false;
}

static void tell_quirks(struct battery_source *self, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j < self->units[i].n_quirks; j++) {
                        const char *quirk = self->units[i].quirks[j];

                        if (self->n_told == ARRAY_SIZE(self->told) || was_told(self, quirk))
                                continue;
                        log_bug_firmware(self->log, "battery %s: %s", self->units[i].name, quirk);
                        memcpy(self->told[self->n_told++], quirk, sizeof(self->told[0]));
                }
        }
}

/* Batteries come and go: the folder is listed each time, which costs 2 us. */
static int battery_read(struct source *source, struct sample *sample)
{
        struct battery_source *self = (struct battery_source *)source;
        size_t n = 0;
        int err = list_units(self->class_fd, &self->units, &self->capacity, &n);

        if (err)
                return err;
        if (n == 0)
                return -ENODATA;
        tell_quirks(self, n);
        battery_sum(self->units, n, &sample->battery);
        sample->have |= SAMPLE_BATTERY;
        return 0;
}

static void battery_close(struct source *source)
{
        struct battery_source *self = (struct battery_source *)source;

        closep(&self->class_fd);
        free(self->units);
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
        *ret = &self->source;
        return 0;
}
