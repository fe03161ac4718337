/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "card.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "name-hash.h"
#include "util/util.h"

#define BATTERY_STEP_MWH 1000
#define LEARNT_PART 0.5 /* part of the error that the profile had before */

const char *const card_words[CARD_PARTS] = { "model", "cpu", "panel", "radio" };

/* Terms that a calibration measures, and that a price of another unit does not
 * change. */
static bool is_measured(enum term term)
{
        return term == TERM_GPU ||
               (term <= TERM_WIFI_WAKE && term != TERM_CPU_INSTRUCTIONS && term != TERM_CPU_MISSES);
}

bool card_has_term(enum card_part part, enum term term)
{
        static const enum component components[CARD_PARTS] = {
                [CARD_CPU] = COMPONENT_CPU, [CARD_PANEL] = COMPONENT_DISPLAY, [CARD_RADIO] = COMPONENT_WIFI
        };

        return is_measured(term) && (part == CARD_MODEL || model_term_component(term) == components[part]);
}

static bool is_placeholder(const char *name)
{
        static const char *const texts[] = { "O.E.M.",
                                             "Default string",
                                             "System Product Name",
                                             "System manufacturer",
                                             "Not Applicable",
                                             "Not Specified",
                                             "INVALID",
                                             "Undefined" };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                if (strcasestr(name, texts[i]))
                        return true;
        return false;
}

/* Lenovo calls its models so: 20XWCTO1WW. */
static bool is_machine_type(const char *word, size_t length)
{
        return length == 10 && isdigit((unsigned char)word[0]) && isdigit((unsigned char)word[1]) &&
               isupper((unsigned char)word[2]) && isupper((unsigned char)word[3]) &&
               isupper((unsigned char)word[8]) && isupper((unsigned char)word[9]);
}

/* Many digits in a row, or letters and digits that take turns in a long word.
 */
static bool is_serial(const char *word, size_t length)
{
        size_t turns = 0, row = 0, longest = 0;

        for (size_t i = 0; i < length; i++) {
                bool digit = isdigit((unsigned char)word[i]);

                row = digit ? row + 1 : 0;
                longest = MAX(longest, row);
                turns += i > 0 && digit != (bool)isdigit((unsigned char)word[i - 1]);
        }
        return longest >= 7 || (!is_machine_type(word, length) &&
                                ((length >= 7 && turns >= 4) || (length >= 9 && turns >= 3)));
}

static bool has_serial(const char *name)
{
        for (; *name; name += strspn(name, " _/()-.,:+~")) {
                size_t length = strcspn(name, " _/()-.,:+~");

                if (is_serial(name, length))
                        return true;
                name += length;
        }
        return false;
}

bool card_is_name(const char *name)
{
        size_t length = strlen(name), n = 0;

        while (n < length && (isalnum((unsigned char)name[n]) || (n > 0 && strchr(" ._+~:/()-,", name[n]))))
                n++;
        return length > 0 && length < CARD_NAME_SIZE && n == length && name[n - 1] != ' ' &&
               !is_placeholder(name) && !has_serial(name);
}

void card_file(enum card_part part, const char *name, char ret[CARD_FILE_SIZE])
{
        char plain[48];
        size_t n = 0;

        for (const char *at = name; *at && n + 1 < sizeof(plain); at++) {
                bool is_plain = isalnum((unsigned char)*at);

                if (is_plain || (n > 0 && plain[n - 1] != '-'))
                        plain[n++] = is_plain ? (char)tolower((unsigned char)*at) : '-';
        }
        plain[n] = '\0';
        snprintf(ret, CARD_FILE_SIZE, "%s-%s-%016" PRIx64 ".ini", card_words[part], plain,
                 (uint64_t)name_hash_number_of("card", name));
}

static double rounded(double value)
{
        char text[32];

        snprintf(text, sizeof(text), "%.4g", value);
        return strtod(text, NULL);
}

/* Did this device measure it? What is left of a class or of other devices would
 * come back to them as a new measurement. */
static bool is_own(const struct profile *profile, const struct coefficient *c)
{
        const struct profile *before = profile->measured;
        ssize_t at;

        if (!card_has_term(CARD_MODEL, c->term) || *c->disk || !(c->standard_error > 0) || c->value < 0)
                return false;
        if (strcmp(profile_basis(profile), "calibrated") == 0)
                return true;
        at = before ? profile_find(before, c->term, c->policy, c->point, c->disk) : -ENOENT;
        return at >= 0 && c->standard_error <= LEARNT_PART * before->coefficients[at].standard_error;
}

/* An app's number is no policy's. */
static bool has_cpu_terms(const struct profile *profile, uint32_t policy)
{
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *c = &profile->coefficients[i];

                if (model_term_component(c->term) == COMPONENT_CPU && c->term < TERM_APP_CPU && c->policy == policy)
                        return true;
        }
        return false;
}

int card_copy_as(const struct profile *from, struct profile *to)
{
        int err = 0;

        for (size_t i = 0; !err && i < from->n_policies; i++) {
                const struct profile_policy *policy = &from->policies[i];

                if (policy->as != policy->policy && has_cpu_terms(to, policy->as))
                        err = profile_set_as(to, policy->policy, policy->as);
        }
        return err;
}

static int add_own(const struct profile *profile, struct profile *card)
{
        int err = 0;

        for (size_t i = 0; !err && i < profile->n_policies; i++)
                err = profile_add_policy(card, profile->policies[i].policy, profile->policies[i].cpus);
        for (size_t i = 0; !err && i < profile->n_coefficients; i++) {
                struct coefficient c = profile->coefficients[i];

                if (!is_own(profile, &c))
                        continue;
                c.value = rounded(c.value);
                c.standard_error = rounded(c.standard_error);
                err = profile_add(card, &c);
        }
        if (!err)
                err = card_copy_as(profile, card);
        return err ? err : card->n_coefficients ? 0 : -ENODATA;
}

static int add_names(const struct card_names *names, struct profile *card)
{
        int err = 0;

        for (int part = 0; !err && part < CARD_PARTS; part++) {
                char key[16];

                snprintf(key, sizeof(key), "x-%s", card_words[part]);
                if (card_is_name(names->of[part]))
                        err = profile_set_extra(card, "profile", key, names->of[part]);
        }
        return err;
}

int card_make(const struct profile *profile, const struct card_names *names, char **ret)
{
        _cleanup_(profile_freep) struct profile *card = NULL;
        double steps = round(profile->energy_full_mwh / BATTERY_STEP_MWH);
        int err = profile_new("shared", fmax(steps, 1) * BATTERY_STEP_MWH, &card);

        if (err)
                return err;
        memcpy(card->method, profile->method, sizeof(card->method));
        card->degrees_of_freedom = rounded(profile->degrees_of_freedom);
        card->scale_percent = rounded(profile->scale_percent);
        card->discrepancy_percent = rounded(profile->discrepancy_percent);
        card->max_brightness = profile->max_brightness;
        err = add_own(profile, card);
        if (!err)
                err = add_names(names, card);
        return err ? err : profile_print(card, ret);
}

int card_read_file(int folder_fd, const char *name, size_t most, int64_t *since_s, char **ret, size_t *ret_length)
{
        _cleanup_free_ char *text = malloc(most + 1);
        _cleanup_close_ int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat status;
        size_t length = 0;
        ssize_t n = 1;

        if (!text)
                return -ENOMEM;
        if (fd < 0 || fstat(fd, &status) < 0)
                return -errno;
        if (!S_ISREG(status.st_mode))
                return -EINVAL;
        while (n > 0 && length <= most) {
                n = read(fd, text + length, most + 1 - length);
                length += n > 0 ? (size_t)n : 0;
        }
        if (n < 0 || length > most)
                return n < 0 ? -errno : -EFBIG;
        text[length] = '\0';
        if (since_s)
                *since_s = status.st_mtime;
        *ret = TAKE_PTR(text);
        *ret_length = length;
        return 0;
}

int card_write_file(const char *path, const char *text, unsigned mode)
{
        struct stat status;
        bool there = lstat(path, &status) == 0 && S_ISREG(status.st_mode);
        int err = util_write_file(path, text, strlen(text), mode);

        if (!err && there) {
                const struct timespec times[2] = { status.st_mtim, status.st_mtim };

                /* where that is not possible, it counts a week later */
                (void)utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
        }
        return err;
}

int card_read(const char *text, size_t length, const char *name, const struct log *log, struct profile **ret)
{
        if (length > POOL_BYTES_MAX) {
                log_error(log, "%s: a shared profile has at most %u bytes", name, POOL_BYTES_MAX);
                return -EINVAL;
        }
        return profile_parse(text, length, name, log, ret);
}

const char *card_name(const struct profile *card, enum card_part part)
{
        char key[16];
        const char *name;

        snprintf(key, sizeof(key), "x-%s", card_words[part]);
        name = profile_extra(card, "profile", key);
        return name && card_is_name(name) ? name : "";
}
