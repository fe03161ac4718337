/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile-history.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "profile.h"
#include "util/ini-text.h"
#include "util/util.h"

#define DATE_LENGTH 18 /* 2026-11-23T081530Z */
#define UNUSED ".unused"

static bool is_date(const char *text)
{
        static const char pattern[] = "dddd-dd-ddTddddddZ";

        for (size_t i = 0; i < DATE_LENGTH; i++)
                if (pattern[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != pattern[i])
                        return false;
        return true;
}

/* Parses the part of a version's name after "PROFILE.". */
static bool parse_version(const char *text, struct profile_version *version)
{
        char *end = NULL;

        if (!is_date(text))
                return false;
        memcpy(version->date, text, DATE_LENGTH);
        text += DATE_LENGTH;
        version->number = 1;
        if (text[0] == '.' && isdigit((unsigned char)text[1])) {
                version->number = (unsigned)strtoul(text + 1, &end, 10);
                text = end;
        }
        version->unused = strcmp(text, UNUSED) == 0;
        return version->unused || !*text;
}

static int newest_first(const void *a, const void *b)
{
        const struct profile_version *x = a, *y = b;
        int order = strcmp(y->date, x->date);

        return order ? order : (x->number < y->number) - (x->number > y->number);
}

void profile_history_clear(struct profile_history *history)
{
        for (size_t i = 0; i < history->n; i++)
                free(history->list[i].path);
        free(history->list);
        *history = (struct profile_history){ 0 };
}

static int read_folder(DIR *dir, const char *path, struct profile_history *history, size_t *capacity)
{
        const char *base = util_base_name(path);
        const struct dirent *entry;

        while ((entry = readdir(dir))) {
                struct profile_version version = { 0 };
                size_t length = strlen(base);

                if (strncmp(entry->d_name, base, length) || entry->d_name[length] != '.' ||
                    !parse_version(entry->d_name + length + 1, &version))
                        continue;
                if (util_grow(&history->list, capacity, history->n + 1, sizeof(version)) < 0 ||
                    asprintf(&version.path, "%.*s%s", (int)(base - path), path, entry->d_name) < 0)
                        return -ENOMEM;
                history->list[history->n++] = version;
        }
        return 0;
}

int profile_history_read(const char *path, struct profile_history *ret)
{
        _cleanup_(profile_history_clear) struct profile_history history = { 0 };
        _cleanup_closedir_ DIR *dir = NULL;
        _cleanup_free_ char *folder = strdup(path);
        char *slash = folder ? strrchr(folder, '/') : NULL;
        size_t capacity = 0;
        int err;

        if (!folder)
                return -ENOMEM;
        if (slash)
                slash[slash == folder] = '\0';
        dir = util_opendir_at(AT_FDCWD, slash ? folder : ".");
        if (!dir)
                return -errno;
        err = read_folder(dir, path, &history, &capacity);
        if (err)
                return err;
        if (history.n > 0)
                qsort(history.list, history.n, sizeof(*history.list), newest_first);
        *ret = history;
        history = (struct profile_history){ 0 };
        return 0;
}

/* A name that sorts after all existing ones, even if the clock went back. */
static char *name_version(const char *path, const struct profile_history *history, bool unused)
{
        time_t now = time(NULL);
        struct tm utc = { 0 };
        char date[24], number[16] = "", *name;
        const char *newest = history->n ? history->list[0].date : "";

        gmtime_r(&now, &utc);
        strftime(date, sizeof(date), "%Y-%m-%dT%H%M%SZ", &utc);
        if (strcmp(newest, date) >= 0)
                snprintf(number, sizeof(number), ".%u", history->list[0].number + 1);
        return asprintf(&name, "%s.%s%s%s", path, *number ? newest : date, number, unused ? UNUSED : "") < 0 ?
                       NULL :
                       name;
}

/* The version is as a calibration wrote it: nothing was learnt on top. */
static bool is_calibration(const struct profile_version *version)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;

        return !version->unused && profile_load(version->path, NULL, &profile) == 0 && !profile->measured &&
               isnan(profile->learned.spans) && isnan(profile->learned.score[ANSWER_COST].scored);
}

/* Makes room for one more. */
static void drop_oldest(const struct profile_history *history)
{
        bool has_calibration = false;

        for (size_t i = 0; i < history->n && history->n >= PROFILE_VERSIONS_MAX; i++) {
                bool stays = !has_calibration && is_calibration(&history->list[i]);

                has_calibration = has_calibration || stays;
                if (i >= PROFILE_VERSIONS_MAX - 1 && !stays)
                        unlink(history->list[i].path);
        }
}

static int write_version(const char *path, const char *text, bool unused, char **ret)
{
        struct profile_history history = { 0 };
        int err = profile_history_read(path, &history);
        char *name = err ? NULL : name_version(path, &history, unused);

        if (!err)
                err = name ? util_write_file(name, text, strlen(text), 0644) : -ENOMEM;
        if (!err)
                drop_oldest(&history);
        profile_history_clear(&history);
        if (err)
                free(name);
        else
                *ret = name;
        return err;
}

/* Returns -ENOENT also for a path that is no regular file, such as /dev/null, or is a descriptor. */
static int read_current(const char *path, char **ret)
{
        struct stat status;
        size_t length;

        if (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0 || stat(path, &status) < 0 ||
            !S_ISREG(status.st_mode))
                return -ENOENT;
        return ini_text_read(path, PROFILE_BYTES_MAX, NULL, ret, &length);
}

int profile_history_put(const char *path, const char *text, char **put)
{
        return write_version(path, text, true, put);
}

int profile_history_replace(const char *path, const char *text, char **kept)
{
        _cleanup_free_ char *before = NULL, *version = NULL;
        int err = read_current(path, &before);

        *kept = NULL;
        if (err == -ENOENT)
                return util_write_file(path, text, strlen(text), 0644);
        if (!err && strcmp(before, text) == 0)
                return 0;
        if (!err)
                err = write_version(path, before, false, &version);
        if (err)
                return err;
        err = util_write_file(path, text, strlen(text), 0644);
        if (err)
                unlink(version);
        else
                *kept = TAKE_PTR(version);
        return err;
}

int profile_history_remove(const char *path, char **kept)
{
        _cleanup_free_ char *text = NULL, *version = NULL;
        size_t length;
        int err = ini_text_read(path, PROFILE_BYTES_MAX, NULL, &text, &length);

        if (!err)
                err = write_version(path, text, false, &version);
        if (!err && unlink(path) < 0) {
                err = -errno;
                unlink(version);
        }
        if (!err)
                *kept = TAKE_PTR(version);
        return err;
}

static const struct profile_version *last_used(const struct profile_history *history)
{
        for (size_t i = 0; i < history->n; i++)
                if (!history->list[i].unused)
                        return &history->list[i];
        return NULL;
}

static int go_back(const char *path, const char *version, char **unused)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        _cleanup_free_ char *before = NULL, *text = NULL, *put = NULL;
        size_t length;
        int err = ini_text_read(version, PROFILE_BYTES_MAX, NULL, &text, &length);

        if (!err)
                err = profile_parse(text, length, version, NULL, &profile);
        if (!err && read_current(path, &before) == 0)
                err = write_version(path, before, true, &put);
        if (!err)
                err = util_write_file(path, text, length, 0644);
        if (!err)
                *unused = TAKE_PTR(put);
        else if (put)
                unlink(put);
        return err;
}

int profile_history_undo(const char *path, char **back, char **unused)
{
        struct profile_history history = { 0 };
        int err = profile_history_read(path, &history);
        const struct profile_version *last = err ? NULL : last_used(&history);
        char *version = last ? strdup(last->path) : NULL;

        *unused = NULL;
        if (!err && !last)
                err = -ENODATA;
        else if (!err)
                err = version ? go_back(path, version, unused) : -ENOMEM;
        if (!err)
                unlink(version);
        profile_history_clear(&history);
        if (err)
                free(version);
        else
                *back = version;
        return err;
}
