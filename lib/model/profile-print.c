/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "profile-keys.h"
#include "profile.h"
#include "util/text.h"
#include "util/util.h"

static void print_number(FILE *out, const char *key, double value)
{
        char number[32];

        fprintf(out, "%s = %s\n", key, util_print_double(value, number, sizeof(number)));
}

/* A value that begins with ";" is one only where no blank stands before it: " ;" begins a comment. */
static void print_text(FILE *out, const char *key, const char *value)
{
        fprintf(out, "%s =%s%s\n", key, *value == ';' ? "" : " ", value);
}

static void print_extras(FILE *out, const struct profile *profile, const char *section)
{
        for (size_t i = 0; i < profile->n_extras; i++)
                if (strcmp(profile->extras[i].section, section) == 0)
                        print_text(out, profile->extras[i].key, profile->extras[i].value);
}

/* A plain number; NaN: unknown. */
static double number_at(const struct profile *profile, size_t i)
{
        double value;

        memcpy(&value, (const char *)profile + number_keys[i].offset, sizeof(value));
        return value;
}

static bool has_numbers(const struct profile *profile, const char *section)
{
        for (size_t i = 0; i < n_number_keys; i++)
                if (strcmp(number_keys[i].section, section) == 0 && !isnan(number_at(profile, i)))
                        return true;
        return false;
}

/* Prints the plain numbers of [section], without those that are unknown (NaN), or off in [virtual] (0). */
static void print_numbers(FILE *out, const struct profile *profile, const char *section)
{
        for (size_t i = 0; i < n_number_keys; i++) {
                double value = number_at(profile, i);

                if (strcmp(number_keys[i].section, section) != 0 || isnan(value) ||
                    (value == 0 && strcmp(section, "virtual") == 0))
                        continue;
                print_number(out, number_keys[i].key, value);
        }
}

static void print_coefficient(FILE *out, const struct coefficient *coefficient)
{
        const struct term_key *key = &term_keys[coefficient->term];
        char value[32], error[32], point[16] = "";

        if (key->by_point)
                snprintf(point, sizeof(point), ".%u", coefficient->point);
        util_print_double(coefficient->value, value, sizeof(value));
        if (isnan(coefficient->standard_error))
                fprintf(out, "%s%s = %s\n", key->key, point, value);
        else
                fprintf(out, "%s%s = %s %s\n", key->key, point, value,
                        util_print_double(coefficient->standard_error, error, sizeof(error)));
}

/* All coefficients whose section's head is @head, e.g. "cpu 0". */
static void print_section(FILE *out, const struct profile *profile, const char *section, uint32_t policy,
                          const char *disk)
{
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *coefficient = &profile->coefficients[i];
                const struct term_key *key = &term_keys[coefficient->term];

                if (strcmp(key->section, section) == 0 &&
                    (!key->by_policy || coefficient->policy == policy) &&
                    (!key->by_disk || strcmp(coefficient->disk, disk) == 0))
                        print_coefficient(out, coefficient);
        }
}

static bool has_section(const struct profile *profile, const char *section)
{
        for (size_t i = 0; i < profile->n_coefficients; i++)
                if (strcmp(term_keys[profile->coefficients[i].term].section, section) == 0)
                        return true;
        for (size_t i = 0; i < profile->n_extras; i++)
                if (strcmp(profile->extras[i].section, section) == 0)
                        return true;
        return false;
}

static void print_disks(FILE *out, const struct profile *profile)
{
        const char *before = NULL;

        /* In the order of the coefficients; a name that has only write_mj_per_mb comes with the writes. */
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *coefficient = &profile->coefficients[i];

                if (coefficient->term != TERM_DISK_READ && coefficient->term != TERM_DISK_WRITE)
                        continue;
                if (coefficient->term == TERM_DISK_WRITE &&
                    profile_find(profile, TERM_DISK_READ, 0, 0, coefficient->disk) >= 0)
                        continue;
                if (before && strcmp(before, coefficient->disk) == 0)
                        continue;
                before = coefficient->disk;
                fprintf(out, "\n[disk%s%s]\n", *before ? " " : "", before);
                print_section(out, profile, "disk", 0, before);
        }
}

static void print_work(FILE *out, const struct profile_policy *policy)
{
        for (size_t i = 0; i < n_work_keys; i++) {
                double value;

                memcpy(&value, (const char *)policy + work_keys[i].offset, sizeof(value));
                if (value != 0)
                        print_number(out, work_keys[i].key, value);
        }
}

static void print_emission(FILE *out, const struct profile *profile)
{
        char key[32];

        for (size_t i = 0; i < profile->virtual_device.n_emission; i++) {
                snprintf(key, sizeof(key), "emission_mw.%u", profile->virtual_device.emission[i].brightness);
                print_number(out, key, profile->virtual_device.emission[i].power_mw);
        }
}

static void print_virtual(FILE *out, const struct profile *profile)
{
        const struct profile_virtual *device = &profile->virtual_device;
        char percent[32], key[48];

        if (!device->present)
                return;
        fprintf(out, "\n[virtual]\nseed = %llu\n", (unsigned long long)device->seed);
        print_numbers(out, profile, "virtual");
        if (device->gauge_pieces > 0)
                fprintf(out, "gauge_pieces = %u\n", device->gauge_pieces);
        if (device->gauge_derived)
                fputs("gauge_derived = yes\n", out);
        if (device->idle_lowers)
                fputs("governor = idle-lowers\n", out);
        else if (device->proc)
                fputs("collector = proc\n", out);
        if (device->hidden_khz)
                fputs("frequencies = hidden\n", out);
        if (device->no_cycles)
                fputs("cycles = none\n", out);
        if (device->counters != VIRTUAL_COUNTERS_NONE)
                fprintf(out, "counters = %s\n", device->counters == VIRTUAL_COUNTERS_ALL ? "all" : "instructions");
        if (device->idle_states != IDLE_STATES_UNKNOWN)
                fprintf(out, "idle_states = %s\n", device->idle_states == IDLE_STATES_DEEP ? "deep" : "shallow");
        for (size_t i = 0; i < device->n_voltage; i++) {
                snprintf(key, sizeof(key), "voltage_mv.%s",
                         util_print_double(device->voltage[i].percent, percent, sizeof(percent)));
                print_number(out, key, device->voltage[i].voltage_mv);
        }
        print_extras(out, profile, "virtual");
}

static void print_covariance(FILE *out, const struct profile *profile, const char *before)
{
        size_t n = profile->n_coefficients;
        char a[PROFILE_KEY_MAX], b[PROFILE_KEY_MAX], number[32];
        bool any = false;

        for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j < i; j++) {
                        double value = profile->covariance[i * n + j];

                        if (value == 0)
                                continue;
                        if (!any)
                                fprintf(out, "\n[%scovariance]\n", before);
                        any = true;
                        fprintf(out, "%s,%s = %s\n", profile_coefficient_key(&profile->coefficients[i], a),
                                profile_coefficient_key(&profile->coefficients[j], b),
                                util_print_double(value, number, sizeof(number)));
                }
        }
}

/* Those that are printed with their x- keys. */
static bool prints_extras(const struct profile *profile, const char *section)
{
        static const char *const names[] = { "profile", "fit",    "battery",  "base",     "display",
                                             "wifi",    "gpu",    "suspend",  "virtual",  "gps",
                                             "audio",   "camera", "cellular", "bluetooth" };
        char name[32];

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcmp(section, names[i]) == 0)
                        return true;
        for (size_t i = 0; i < profile->n_policies; i++) {
                snprintf(name, sizeof(name), "cpu %u", profile->policies[i].policy);
                if (strcmp(section, name) == 0)
                        return true;
        }
        return false;
}

/* x- keys of all other sections, e.g. [x-vendor] or [disk nvme0n1], under the section's name once more. */
static void print_other_extras(FILE *out, const struct profile *profile)
{
        for (size_t i = 0; i < profile->n_extras; i++) {
                const char *section = profile->extras[i].section;
                bool first = !prints_extras(profile, section);

                for (size_t j = 0; j < i && first; j++)
                        first = strcmp(profile->extras[j].section, section) != 0;
                if (first) {
                        fprintf(out, "\n[%s]\n", section);
                        print_extras(out, profile, section);
                }
        }
}

static void print_apps(FILE *out, const struct profile *profile)
{
        for (size_t i = 0; i < profile->n_apps; i++) {
                fprintf(out, "\n[app %u]\n", profile->apps[i].number);
                print_text(out, "id", profile->apps[i].id);
                print_section(out, profile, "app", profile->apps[i].number, "");
        }
}

static void print_learned(FILE *out, const struct profile *profile)
{
        if (!*profile->learned.until && !has_numbers(profile, "learned"))
                return;
        fputs("\n[learned]\n", out);
        if (*profile->learned.until)
                fprintf(out, "until = %s\n", profile->learned.until);
        print_numbers(out, profile, "learned");
}

/* A section for each coefficient would be long, so those of one section, which lie side by side, share it. */
static void print_measured(FILE *out, const struct profile *measured)
{
        char before[2 * PROFILE_NAME_MAX] = "", section[2 * PROFILE_NAME_MAX];

        if (!measured)
                return;
        if (has_numbers(measured, "fit")) {
                fputs("\n[measured fit]\n", out);
                print_numbers(out, measured, "fit");
        }
        fputs("\n[measured battery]\n", out);
        print_numbers(out, measured, "battery");
        for (size_t i = 0; i < measured->n_coefficients; i++) {
                const struct coefficient *coefficient = &measured->coefficients[i];
                const struct term_key *key = &term_keys[coefficient->term];

                if (key->by_policy)
                        snprintf(section, sizeof(section), "%s %u", key->section, coefficient->policy);
                else
                        snprintf(section, sizeof(section), "%s%s%s", key->section, *coefficient->disk ? " " : "",
                                 coefficient->disk);
                if (strcmp(section, before) != 0)
                        fprintf(out, "\n[measured %s]\n", section);
                strcpy(before, section);
                print_coefficient(out, coefficient);
        }
        print_covariance(out, measured, "measured ");
}

static void print(FILE *out, const struct profile *profile)
{
        char section[PROFILE_NAME_MAX + 8];

        fprintf(out, "[profile]\nversion = %d\n", PROFILE_VERSION);
        if (*profile->device)
                print_text(out, "device", profile->device);
        if (profile->match)
                print_text(out, "match", profile->match);
        if (*profile->method)
                fprintf(out, "method = %s\n", profile->method);
        if (*profile->created)
                fprintf(out, "created = %s\n", profile->created);
        print_extras(out, profile, "profile");
        if (has_numbers(profile, "fit") || has_section(profile, "fit")) {
                fputs("\n[fit]\n", out);
                print_numbers(out, profile, "fit");
                print_extras(out, profile, "fit");
        }
        fputs("\n[battery]\n", out);
        print_numbers(out, profile, "battery");
        print_section(out, profile, "battery", 0, "");
        print_extras(out, profile, "battery");
        if (has_section(profile, "base")) {
                fputs("\n[base]\n", out);
                print_section(out, profile, "base", 0, "");
                print_extras(out, profile, "base");
        }
        for (size_t i = 0; i < profile->n_policies; i++) {
                const struct profile_policy *policy = &profile->policies[i];

                snprintf(section, sizeof(section), "cpu %u", policy->policy);
                fprintf(out, "\n[%s]\n", section);
                if (*policy->cpus)
                        fprintf(out, "cpus = %s\n", policy->cpus);
                if (policy->as != policy->policy)
                        fprintf(out, "as = %u\n", policy->as);
                print_section(out, profile, "cpu", policy->policy, "");
                print_work(out, policy);
                print_extras(out, profile, section);
        }
        if (has_section(profile, "display") || profile->max_brightness > 0 || profile->virtual_device.n_emission > 0) {
                fputs("\n[display]\n", out);
                if (profile->max_brightness > 0)
                        fprintf(out, "max_brightness = %u\n", profile->max_brightness);
                print_section(out, profile, "display", 0, "");
                print_emission(out, profile);
                print_extras(out, profile, "display");
        }
        print_disks(out, profile);
        for (const char *const *name = (const char *const[]){ "wifi", "cellular", "gpu", "gps", "audio",
                                                              "camera", "bluetooth", "suspend", NULL };
             *name; name++) {
                if (!has_section(profile, *name))
                        continue;
                fprintf(out, "\n[%s]\n", *name);
                print_section(out, profile, *name, 0, "");
                print_extras(out, profile, *name);
        }
        radio_print(&profile->radios, out);
        print_virtual(out, profile);
        print_other_extras(out, profile);
        print_apps(out, profile);
        print_learned(out, profile);
        print_covariance(out, profile, "");
        print_measured(out, profile->measured);
}

int profile_print(const struct profile *profile, char **ret)
{
        struct text_kept kept;
        FILE *out = text_open(&kept);
        char *text;

        if (!out)
                return -ENOMEM;
        print(out, profile);
        text = text_close(out, &kept);
        if (!text)
                return -ENOMEM;
        if (strlen(text) > PROFILE_BYTES_MAX) {
                free(text);
                return -EFBIG;
        }
        *ret = text;
        return 0;
}

int profile_save(const struct profile *profile, const char *path)
{
        _cleanup_free_ char *text = NULL;
        int err = profile_print(profile, &text);

        return err ? err : util_write_file(path, text, strlen(text), 0644);
}
