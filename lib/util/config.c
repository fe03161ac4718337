/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "ini-text.h"
#include "paths.h"
#include "text.h"
#include "util.h"
#include "words.h"

#define CONFIG_MAX (64 << 10)

struct key {
        const char *section;
        const char *name;
        const char *unit;     /* unit of a number; NULL: the value is a word */
        const char *standard; /* default */
        double min, max;      /* range of a number */
        const char *sentence;
        const char *words;    /* the allowed words; NULL: any */
        size_t number;        /* offset in struct config of the number, or of the word */
        size_t word;
};

#define NUMBER(field) .number = offsetof(struct config, field)
#define WORD(field) .word = offsetof(struct config, field)

static const struct key keys[] = {
        { "poller", "interval_s", "s", "30", 0.1, 86400, N_("Time between two polls."), NUMBER(interval_s) },
        { "poller", "collector", NULL, "auto", 0, 0,
          N_("How to read processes; `joulecast doctor` lists what this machine has."), WORD(collector) },
        { "poller", "foreground", NULL, "auto", 0, 0,
          N_("Source of the foreground app: auto (joulecast-focus of each session, else the text console), "
             "none, file:/PATH (a file with the app's id) or command:COMMAND (prints the app's id, a line at "
             "each change)."),
          WORD(foreground) },
        { "poller", "backlight", NULL, "auto", 0, 0,
          N_("Name in /sys/class/backlight of the built-in screen's backlight; `joulecast doctor` tells "
             "which one auto takes, and why. A calibration uses it, too."),
          WORD(backlight) },
        { "poller", "counters", NULL, "yes", 0, 0,
          N_("Count cycles, instructions and a cache event of CPUs: yes, or no, which leaves these counters to perf. "
             "A calibration obeys it, too; `joulecast doctor` tells what is counted, and what is lost otherwise."),
          "yes no", WORD(counters) },
        { "store", "raw_hours", "h", "48", 1, 8760,
          N_("How long each poll is kept, in time that was recorded."),
          NUMBER(raw_hours) },
        { "store", "hour_days", "d", "14", 1, 3650, N_("How long hourly sums are kept, likewise."),
          NUMBER(hour_days) },
        { "store", "day_days", "d", "0", 0, 36500, N_("How long daily sums are kept, likewise; 0: for ever."),
          NUMBER(day_days) },
        { "store", "sync_s", "s", "300", 0, 86400,
          N_("The most recorded time that a power cut may lose: a poll after which it would be more waits for the "
             "disk."),
          NUMBER(sync_s) },
        { "warn", "reserve", NULL, "none", 0, 0,
          N_("Let joulecast-focus warn before too little is left for this reserve: APP=TIME, like phone=10m, several "
             "with blanks between; or none."),
          WORD(warn_reserve) },
        { "warn", "minutes", "min", "15", 1, 1440, N_("How long before that to warn."), NUMBER(warn_minutes) },
        { "warn", "background", NULL, "on", 0, 0,
          N_("Warn of an app that takes much more in the background than in the week before: on or off."),
          WORD(warn_background) },
        { "warn", "charger", NULL, "on", 0, 0, N_("Warn of a charger that is too weak: on or off."),
          WORD(warn_charger) },
};

static double *number_of(const struct key *key, struct config *config)
{
        return (double *)(void *)((char *)config + key->number);
}

static char **word_of(const struct key *key, struct config *config)
{
        return (char **)(void *)((char *)config + key->word);
}

void config_clear(struct config *config)
{
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                if (!keys[i].unit)
                        free(*word_of(&keys[i], config));
        *config = (struct config){ 0 };
}

static int set_word(const struct key *key, const char *value, struct config *config)
{
        char *copy = strdup(value);

        if (!copy)
                return -ENOMEM;
        free(*word_of(key, config));
        *word_of(key, config) = copy;
        return 0;
}

static int set_key(void *data, const struct ini_place *place, const char *section, const char *name,
                   const char *value)
{
        struct config *config = data;
        const struct key *key = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(keys) && !key; i++)
                if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0)
                        key = &keys[i];
        if (!key)
                return ini_error(place, "there is no key \"%s\" in [%s]", name, section);
        if (key->unit)
                return ini_number(place, name, value, key->min, key->max, number_of(key, config));
        if (!*value)
                return ini_error(place, "%s has no value", name);
        if (key->words && !util_is_word(key->words, value))
                return ini_error(place, "%s = %.60s is unknown; it may be one of: %s", name, value, key->words);
        return set_word(key, value, config);
}

static int set_defaults(struct config *config)
{
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                int err = keys[i].unit ? util_parse_double(keys[i].standard, number_of(&keys[i], config))
                                       : set_word(&keys[i], keys[i].standard, config);

                if (err)
                        return err;
        }
        return 0;
}

int config_load(const char *path, const struct log *log, struct config *ret)
{
        _cleanup_(config_clear) struct config config = { 0 };
        _cleanup_free_ char *text = NULL;
        size_t length;
        int err = set_defaults(&config);

        if (!err && path && access(path, F_OK) == 0) {
                err = ini_text_read(path, CONFIG_MAX, log, &text, &length);
                if (!err)
                        err = ini_text_parse(text, length, path, log, set_key, &config);
        }
        if (err)
                return err;
        *ret = config;
        config = (struct config){ 0 };
        return 0;
}

/* Loads the joulecast.conf that is in force. */
static int load_present(struct config *ret)
{
        _cleanup_free_ char *path = NULL;
        int err = paths_config(&path);

        return err < 0 ? err : config_load(path, NULL, ret);
}

int config_read_counters(bool *ret)
{
        _cleanup_(config_clear) struct config config = { 0 };
        int err = load_present(&config);

        if (err == -ENOMEM)
                return err;
        *ret = err || config_uses_counters(&config);
        return 0;
}

bool config_uses_counters(const struct config *config)
{
        return strcmp(config->counters, "no") != 0;
}

int config_read_backlight(char **ret)
{
        _cleanup_(config_clear) struct config config = { 0 };
        int err = load_present(&config);

        if (err == -ENOMEM)
                return err;
        *ret = err ? strdup("auto") : TAKE_PTR(config.backlight);
        return *ret ? 0 : -ENOMEM;
}

static bool starts_section(size_t i)
{
        return i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0;
}

/* Prints the sentence of a key with its range, wrapped and indented. */
static void print_sentence(FILE *file, const struct key *key)
{
        char text[640];
        size_t length = (size_t)snprintf(text, sizeof(text), "%s", _(key->sentence));

        if (key->unit && length < sizeof(text))
                snprintf(text + length, sizeof(text) - length, _(" %g to %g %s."), key->min, key->max, key->unit);
        fputs("      ", file);
        text_wrap(file, text, 6, 6, TEXT_COLUMNS);
        fputc('\n', file);
}

void config_print_help(FILE *file)
{
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                if (starts_section(i))
                        fprintf(file, "  [%s]\n", keys[i].section);
                fprintf(file, "  %s = %s\n", keys[i].name, keys[i].standard);
                print_sentence(file, &keys[i]);
        }
}

void config_print_manual(FILE *file)
{
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                if (starts_section(i))
                        fprintf(file, "*[%s]*\n\n", keys[i].section);
                fputc('*', file);
                for (const char *at = keys[i].name; *at; at++)
                        fprintf(file, *at == '_' ? "\\%c" : "%c", *at);
                fprintf(file, "* = %s\n\t%s", keys[i].standard, keys[i].sentence);
                if (keys[i].unit)
                        fprintf(file, " %g to %g %s.", keys[i].min, keys[i].max, keys[i].unit);
                fputs("\n\n", file);
        }
}
