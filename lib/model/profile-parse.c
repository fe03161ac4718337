/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A profile's keys, one after another; profile-finish.c makes the whole of them. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profile-keys.h"
#include "profile-parse.h"
#include "util/util.h"

/*
 * A night with two policies of twenty operating points has 90 coefficients and 4,000 pairs of covariance,
 * about 400 kB. The limits keep a hostile file from costing more than a moment.
 */
#define EXTRAS_MAX 256
#define APP_NUMBER_MAX 65535

static int copy_word(const struct ini_place *place, const char *key, const char *value, char *buf,
                     size_t size)
{
        if (strlen(value) >= size)
                return ini_error(place, "%s has %zu bytes; %zu are the most", key, strlen(value), size - 1);
        util_printable(value, buf, size);
        if (strcmp(buf, value) != 0)
                return ini_error(place, "%s is not valid UTF-8 text", key);
        return 0;
}

static int copy_match(const struct ini_place *place, const char *value, char **ret)
{
        char clean[INI_LINE_MAX];
        int err = copy_word(place, "match", value, clean, sizeof(clean));

        if (err)
                return err;
        *ret = strdup(clean);
        return *ret ? 0 : -ENOMEM;
}

static int parse_method(const struct ini_place *place, const char *value, char *buf)
{
        static const char *const methods[] = { "percent", "gauge", "ticks", "import", "virtual", "class" };

        for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
                if (strcmp(value, methods[i]) == 0) {
                        strcpy(buf, value);
                        return 0;
                }
        }
        return ini_error(place, "method = %.60s is unknown; it may be percent, gauge, ticks, import, virtual "
                                "or class", value);
}

/* 2026-11-20T03:12:44Z */
static int parse_time(const struct ini_place *place, const char *key, const char *value, char *buf)
{
        static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";

        for (size_t i = 0; i < sizeof(shape); i++)
                if (shape[i] == 'd' ? value[i] < '0' || value[i] > '9' : value[i] != shape[i])
                        return ini_error(place, "%s = %.60s is not a time like 2026-11-20T03:12:44Z", key, value);
        strcpy(buf, value);
        return 0;
}

static int parse_version(struct parser *parser, const struct ini_place *place, const char *value)
{
        uint64_t version;

        if (util_parse_u64(value, &version) < 0)
                return ini_error(place, "version = %.60s is not a number", value);
        if (version != PROFILE_VERSION)
                return ini_error(place, "this profile has version %.60s, and this joulecast reads version %d",
                                 value, PROFILE_VERSION);
        parser->version_seen = true;
        return 0;
}

/* max_brightness, gauge_pieces and seed. 0 is no brightness; a seed may be. */
static int parse_whole(const struct ini_place *place, const char *key, const char *value, uint64_t min,
                       uint64_t max, uint64_t *ret)
{
        uint64_t number;

        if (util_parse_u64(value, &number) < 0 || number < min || number > max)
                return ini_error(place, "%s = %.60s is not a whole number from %llu to %llu", key, value,
                                 (unsigned long long)min, (unsigned long long)max);
        *ret = number;
        return 0;
}

/* The keys that are neither numbers of the table nor coefficients. 1: not one of them. */
static int parse_word(struct parser *parser, const struct ini_place *place, const char *section,
                      const char *key, const char *value)
{
        static const struct {
                const char *section, *key;
        } words[] = { { "profile", "version" }, { "profile", "device" },         { "profile", "match" },
                      { "profile", "method" },  { "profile", "created" },        { "virtual", "seed" },
                      { "display", "max_brightness" }, { "virtual", "gauge_pieces" }, { "virtual", "governor" },
                      { "virtual", "collector" }, { "virtual", "frequencies" }, { "virtual", "cycles" },
                      { "virtual", "gauge_derived" }, { "learned", "until" },          { "virtual", "counters" },
                      { "virtual", "idle_states" } };
        struct profile *profile = parser->profile;
        uint64_t number = 0;
        size_t i = 0;
        int err;

        while (i < ARRAY_SIZE(words) &&
               (strcmp(words[i].section, section) != 0 || strcmp(words[i].key, key) != 0))
                i++;
        if (i == ARRAY_SIZE(words))
                return 1;
        if (parser->words_seen & (1u << i))
                return profile_twice(place, key);
        parser->words_seen |= 1u << i;
        switch (i) {
        case 0:
                return parse_version(parser, place, value);
        case 1:
                return copy_word(place, key, value, profile->device, sizeof(profile->device));
        case 2:
                return copy_match(place, value, &profile->match);
        case 3:
                return parse_method(place, value, profile->method);
        case 4:
                return parse_time(place, key, value, profile->created);
        case 5:
                return parse_whole(place, key, value, 0, UINT64_MAX, &profile->virtual_device.seed);
        case 6:
                err = parse_whole(place, key, value, 1, INT32_MAX, &number);
                if (!err)
                        profile->max_brightness = (uint32_t)number;
                return err;
        case 7:
                err = parse_whole(place, key, value, 0, PROFILE_GAUGE_PIECES_MAX, &number);
                if (!err)
                        profile->virtual_device.gauge_pieces = (uint32_t)number;
                return err;
        case 8:
                return profile_parse_governor(parser, place, value);
        case 9:
                return profile_parse_only(place, key, value, "proc", &profile->virtual_device.proc);
        case 10:
                return profile_parse_only(place, key, value, "hidden", &profile->virtual_device.hidden_khz);
        case 11:
                return profile_parse_only(place, key, value, "none", &profile->virtual_device.no_cycles);
        case 12:
                return profile_parse_only(place, key, value, "yes", &profile->virtual_device.gauge_derived);
        case 13:
                return parse_time(place, key, value, profile->learned.until);
        case 14:
                return profile_parse_counters(place, value, &profile->virtual_device.counters);
        default:
                return profile_parse_idle_states(place, value, &profile->virtual_device.idle_states);
        }
}

static int parse_number(struct parser *parser, const struct ini_place *place, const char *section,
                        const char *key, const char *value)
{
        for (size_t i = 0; i < n_number_keys; i++) {
                const struct number_key *number = &number_keys[i];
                double parsed;
                int err;

                if (strcmp(number->section, section) != 0 || strcmp(number->key, key) != 0)
                        continue;
                if (parser->numbers_seen[i])
                        return profile_twice(place, key);
                parser->numbers_seen[i] = true;
                err = ini_number(place, key, value, number->min, number->max, &parsed);
                if (!err)
                        memcpy((char *)parser->profile + number->offset, &parsed, sizeof(parsed));
                return err;
        }
        return 1;
}

/* "value" or "value standard_error" */
static int parse_value(const struct ini_place *place, const char *key, const char *value, struct coefficient *ret)
{
        char first[INI_LINE_MAX];
        size_t length = strcspn(value, " \t");
        const char *second = value + length + strspn(value + length, " \t");
        int err;

        memcpy(first, value, length);
        first[length] = '\0';
        err = ini_number(place, key, first, profile_least(ret->term), PROFILE_COEFFICIENT_MAX, &ret->value);
        ret->standard_error = NAN;
        if (!err && *second)
                err = ini_number(place, "the standard error", second, 0, PROFILE_COEFFICIENT_MAX,
                                 &ret->standard_error);
        return err;
}

bool profile_parse_index(const char *text, uint64_t max, uint32_t *ret)
{
        uint64_t number;

        if (*text < '0' || *text > '9' || (*text == '0' && text[1]) || util_parse_u64(text, &number) < 0 ||
            number > max || strspn(text, "0123456789") != strlen(text))
                return false;
        *ret = (uint32_t)number;
        return true;
}

static bool is_disk_name(const char *name)
{
        return *name && strlen(name) < PROFILE_NAME_MAX && util_only_has(name, "_.+!-");
}

/* Which coefficient "[section instance] key" is. False: none. */
static bool match_coefficient(const char *section, const char *instance, const char *key,
                              struct coefficient *ret)
{
        for (int term = 0; term < TERM_COUNT; term++) {
                const struct term_key *t = &term_keys[term];
                struct coefficient found = { .term = (enum term)term };
                size_t length = strlen(t->key);

                if (strcmp(t->section, section) != 0 || strncmp(t->key, key, length) != 0)
                        continue;
                if (t->by_point ? key[length] != '.' || !profile_parse_index(key + length + 1, INT32_MAX, &found.point)
                                : key[length] != '\0')
                        continue;
                if (t->by_policy ? !profile_parse_index(instance, 65535, &found.policy)
                                 : !t->by_disk && *instance)
                        continue;
                if (t->by_disk && *instance) {
                        if (!is_disk_name(instance))
                                continue;
                        strcpy(found.disk, instance);
                }
                if (t->by_policy && t->by_point && found.point == 0) /* no CPU runs at 0 kHz */
                        continue;
                *ret = found;
                return true;
        }
        return false;
}

static int parse_coefficient(struct parser *parser, const struct ini_place *place, const char *section,
                             const char *instance, const char *key, const char *value)
{
        struct placed placed = { .line = place->line };
        int err;

        if (!match_coefficient(section, instance, key, &placed.coefficient))
                return 1;
        err = parse_value(place, key, value, &placed.coefficient);
        if (err)
                return err;
        if (parser->n_coefficients >= PROFILE_COEFFICIENTS_MAX)
                return ini_error(place, "more than %d coefficients", PROFILE_COEFFICIENTS_MAX);
        err = util_grow(&parser->coefficients, &parser->coefficient_capacity, parser->n_coefficients + 1,
                        sizeof(placed));
        if (err)
                return err;
        parser->coefficients[parser->n_coefficients++] = placed;
        if (placed.coefficient.term == TERM_CPU_ACTIVE || placed.coefficient.term == TERM_CPU_SHARED ||
            placed.coefficient.term == TERM_CPU_IDLE || placed.coefficient.term == TERM_CPU_INSTRUCTIONS ||
            placed.coefficient.term == TERM_CPU_MISSES)
                return profile_add_policy(parser->profile, placed.coefficient.policy, NULL);
        return 0;
}

static int parse_cpus(struct parser *parser, const struct ini_place *place, const char *instance,
                      const char *value)
{
        uint32_t policy;
        int err;

        if (!profile_parse_index(instance, 65535, &policy))
                return 1;
        err = *value ? profile_add_policy(parser->profile, policy, value) : -EINVAL;
        if (err == -EEXIST)
                return profile_twice(place, "cpus");
        if (err == -EINVAL)
                return ini_error(place, "cpus = %.60s is not a list of CPUs like 0-3", value);
        return err;
}

static int parse_as(struct parser *parser, const struct ini_place *place, const char *instance,
                    const char *value)
{
        uint32_t policy, as;
        int err;

        if (!profile_parse_index(instance, 65535, &policy))
                return 1;
        if (!profile_parse_index(value, 65535, &as) || as == policy)
                return ini_error(place, "as = %.60s is not the number of another policy", value);
        if (parser->n_as == ARRAY_SIZE(parser->as))
                return ini_error(place, "more than %zu policies are as another", ARRAY_SIZE(parser->as));
        for (size_t i = 0; i < parser->n_as; i++)
                if (parser->as[i].policy == policy)
                        return profile_twice(place, "as");
        err = profile_set_as(parser->profile, policy, as);
        parser->as[parser->n_as++] = (struct as){ policy, as, place->line };
        return err;
}

/* The id of an app that was learnt of. */
static int parse_app(struct parser *parser, const struct ini_place *place, const char *instance, const char *value)
{
        char clean[PROFILE_APP_MAX];
        uint32_t number;
        int err;

        if (!profile_parse_index(instance, APP_NUMBER_MAX, &number))
                return 1;
        if (parser->profile->n_apps >= PROFILE_APPS_MAX)
                return ini_error(place, "more than %d apps", PROFILE_APPS_MAX);
        err = *value ? copy_word(place, "id", value, clean, sizeof(clean)) : ini_error(place, "id = says no app");
        if (!err)
                err = profile_add_app(parser->profile, number, value);
        return err == -EEXIST ? ini_error(place, "[app %u], or the app %.60s, is given twice", number, value) : err;
}

static int parse_pair(struct parser *parser, const struct ini_place *place, const char *key,
                      const char *value)
{
        struct pair pair = { .line = place->line };
        int err;

        if (snprintf(pair.keys, sizeof(pair.keys), "%s", key) >= (int)sizeof(pair.keys))
                return ini_error(place, "the pair of keys is too long");
        err = ini_number(place, "the covariance", value, -1e18, 1e18, &pair.value);
        if (!err)
                err = util_grow(&parser->pairs, &parser->pair_capacity, parser->n_pairs + 1, sizeof(pair));
        if (err)
                return err;
        parser->pairs[parser->n_pairs++] = pair;
        return 0;
}

static int parse_extra(struct parser *parser, const struct ini_place *place, const char *section,
                       const char *key, const char *value)
{
        char clean[INI_LINE_MAX];

        if (profile_extra(parser->profile, section, key))
                return profile_twice(place, key);
        if (parser->profile->n_extras >= EXTRAS_MAX)
                return ini_error(place, "more than %d x- keys", EXTRAS_MAX);
        if (strcmp(util_printable(value, clean, sizeof(clean)), value) != 0)
                return ini_error(place, "%.60s is not valid UTF-8 text", key);
        return profile_set_extra(parser->profile, section, key, value);
}

static bool is_section(const char *section, const char *instance)
{
        static const char *const plain[] = { "profile", "fit",  "battery", "base",    "display",    "disk",
                                             "wifi",    "gpu",  "suspend", "virtual", "covariance", "cpu",
                                             "learned", "gps",  "audio",   "camera",  "cellular", "bluetooth" };
        uint32_t policy;

        if (strncmp(section, "x-", 2) == 0)
                return true;
        if (strcmp(section, "cpu") == 0 || strcmp(section, "app") == 0)
                return profile_parse_index(instance, 65535, &policy);
        if (*instance)
                return strcmp(section, "disk") == 0 && is_disk_name(instance);
        for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
                if (strcmp(plain[i], section) == 0)
                        return true;
        return false;
}

static int on_key(void *data, const struct ini_place *place, const char *section, const char *key, const char *value);

/* [measured SECTION]: values that a calibration measured and learning has changed. */
static int on_measured(struct parser *parser, const struct ini_place *place, const char *section, const char *key,
                       const char *value)
{
        static const char *const sections[] = { "fit",   "battery", "base",      "cpu ",    "display",
                                                "disk",  "wifi",    "cellular",  "gpu",     "gps",
                                                "audio", "camera",  "bluetooth", "suspend", "covariance" };
        bool known = false;
        int err;

        for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
                known = known || strncmp(section, sections[i], strlen(sections[i])) == 0;
        if (!known || strncmp(key, "x-", 2) == 0)
                return ini_error(place, "%.60s of [measured %.60s] is nothing that is measured", key, section);
        if (!parser->measured) {
                parser->measured = calloc(1, sizeof(*parser->measured));
                if (!parser->measured)
                        return -ENOMEM;
                err = profile_new("", NAN, &parser->measured->profile);
                if (err)
                        return err;
        }
        return on_key(parser->measured, place, section, key, value);
}

static int on_key(void *data, const struct ini_place *place, const char *section, const char *key,
                  const char *value)
{
        struct parser *parser = data;
        char name[INI_LINE_MAX];
        const char *blank = strchr(section, ' ');
        const char *instance = blank ? blank + strspn(blank, " ") : "";
        int err;

        if (strncmp(section, "measured ", strlen("measured ")) == 0)
                return on_measured(parser, place, section + strlen("measured "), key, value);
        snprintf(name, sizeof(name), "%.*s", blank ? (int)(blank - section) : (int)strlen(section), section);
        if (strcmp(name, "radio") == 0 || strcmp(name, "carrier") == 0)
                return radio_parse_key(&parser->profile->radios, place, name, instance, key, value);
        if (!is_section(name, instance))
                return *section ? ini_error(place, "[%.60s] is no section of a profile", section)
                                : ini_error(place, "%.60s stands before the first [section]", key);
        if (strcmp(name, "virtual") == 0)
                parser->profile->virtual_device.present = true;
        if (strncmp(key, "x-", 2) == 0)
                return parse_extra(parser, place, section, key, value);
        if (strcmp(name, "covariance") == 0)
                return parse_pair(parser, place, key, value);
        if (strcmp(name, "virtual") == 0 && strncmp(key, "voltage_mv.", strlen("voltage_mv.")) == 0)
                return profile_parse_voltage(parser, place, key, value);
        if (strcmp(name, "display") == 0 && strncmp(key, "emission_mw.", strlen("emission_mw.")) == 0)
                return profile_parse_emission(parser, place, key, value);
        err = strcmp(name, "cpu") == 0 && strcmp(key, "cpus") == 0 ? parse_cpus(parser, place, instance, value) : 1;
        if (strcmp(name, "cpu") == 0 && strcmp(key, "as") == 0)
                err = parse_as(parser, place, instance, value);
        if (strcmp(name, "cpu") == 0 && err == 1)
                err = profile_parse_work(parser, place, instance, key, value);
        if (strcmp(name, "app") == 0 && strcmp(key, "id") == 0)
                err = parse_app(parser, place, instance, value);
        if (err == 1 && !*instance)
                err = parse_word(parser, place, name, key, value);
        if (err == 1 && !*instance)
                err = parse_number(parser, place, name, key, value);
        if (err == 1)
                err = parse_coefficient(parser, place, name, instance, key, value);
        if (err == 1)
                return ini_error(place, "%.60s is no key of [%.60s]; keys of your own begin with x-", key,
                                 section);
        return err;
}

static unsigned count_lines(const char *text, size_t length)
{
        unsigned lines = 0;

        for (size_t i = 0; i < length; i++)
                lines += text[i] == '\n';
        return lines;
}

static void parser_clear(struct parser *parser)
{
        if (!parser)
                return;
        free(parser->coefficients);
        free(parser->pairs);
        profile_free(parser->profile);
}

int profile_parse(const char *text, size_t length, const char *name, const struct log *log,
                  struct profile **ret)
{
        struct parser parser = { 0 };
        int err = profile_new("", NAN, &parser.profile);

        if (err)
                return err;
        err = ini_text_parse(text, length, name, log, on_key, &parser);
        if (!err)
                err = profile_finish(&parser, name, count_lines(text, length), log);
        parser_clear(parser.measured);
        free(parser.measured);
        free(parser.coefficients);
        free(parser.pairs);
        if (err) {
                profile_free(parser.profile);
                return err;
        }
        *ret = parser.profile;
        return 0;
}

int profile_load(const char *path, const struct log *log, struct profile **ret)
{
        _cleanup_free_ char *text = NULL;
        size_t length;
        int err = ini_text_read(path, PROFILE_BYTES_MAX, log, &text, &length);

        return err ? err : profile_parse(text, length, path, log, ret);
}
