/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Previous versions of a profile that was replaced, and undoing a replacement. */

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "check.h"
#include "model/profile-history.h"
#include "model/profile.h"
#include "util/util.h"

static char folder[] = "/tmp/joulecast-history-XXXXXX", path[64];

/* Text of a profile with this number. */
static const char *text_of(int number)
{
        static char text[128];

        snprintf(text, sizeof(text), "[profile]\nversion = 1\ndevice = %d\n[battery]\n"
                                     "energy_full_mwh = 10000\n", number);
        return text;
}

static int number_at(const char *file)
{
        struct profile *profile;
        int number;

        if (profile_load(file, NULL, &profile) < 0)
                return -1;
        number = atoi(profile->device);
        profile_free(profile);
        return number;
}

static size_t count(bool unused)
{
        struct profile_history history;
        size_t n = 0;

        check_int(profile_history_read(path, &history), 0);
        for (size_t i = 0; i < history.n; i++)
                n += history.list[i].unused == unused;
        profile_history_clear(&history);
        return n;
}

static int replace(int number)
{
        _cleanup_free_ char *kept = NULL;

        check_int(profile_history_replace(path, text_of(number), &kept), 0);
        return kept ? number_at(kept) : 0;
}

/* Undoes a replacement, which returns @want; returns the number of the profile then in use. */
static int undo(int want)
{
        _cleanup_free_ char *back = NULL, *unused = NULL;

        check_int(profile_history_undo(path, &back, &unused), want);
        check(want || access(back, F_OK) < 0);
        return number_at(path);
}

static void remove_versions(void)
{
        struct profile_history history;

        check_int(profile_history_read(path, &history), 0);
        for (size_t i = 0; i < history.n; i++)
                check_int(unlink(history.list[i].path), 0);
        profile_history_clear(&history);
        unlink(path);
}

static void back_step_by_step(void)
{
        _cleanup_free_ char *put = NULL, *kept = NULL;

        check_int(undo(-ENODATA), -1);
        check_int(replace(1), 0);
        check_int(undo(-ENODATA), 1);
        check_int(replace(2), 1); /* also within one second */
        check_int(replace(3), 2);
        check_int(replace(3), 0); /* the same again is no version */
        check_int(profile_history_put(path, text_of(9), &put), 0);
        check_int(number_at(path), 3);
        check_int(number_at(put), 9);
        check_int(undo(0), 2); /* not to one that was never in use */
        check_int(undo(0), 1);
        check_int(undo(-ENODATA), 1);
        check_int(count(true), 3);
        check_int(replace(4), 1);
        check_int(profile_history_remove(path, &kept), 0);
        check(access(path, F_OK) < 0);
        check_int(undo(0), 4);
        check_int(undo(0), 1);
        remove_versions();
}

static void the_oldest_goes(void)
{
        for (int i = 1; i <= PROFILE_VERSIONS_MAX + 5; i++)
                replace(i);
        check_int(count(false), PROFILE_VERSIONS_MAX);
        for (int i = PROFILE_VERSIONS_MAX + 4; i > 5; i--)
                check_int(undo(0), i);
        remove_versions();
}

/* A calibration is kept, however many daily learned versions follow it. */
static void the_calibration_stays(void)
{
        struct profile_history history;
        char text[256];

        replace(1);
        for (int i = 2; i < PROFILE_VERSIONS_MAX + 8; i++) {
                _cleanup_free_ char *kept = NULL;

                snprintf(text, sizeof(text), "%s[learned]\nspans = 20\n", text_of(i));
                check_int(profile_history_replace(path, text, &kept), 0);
        }
        check_int(profile_history_read(path, &history), 0);
        check_int(history.n, PROFILE_VERSIONS_MAX + 1);
        check_int(number_at(history.list[history.n - 1].path), 1);
        profile_history_clear(&history);
        remove_versions();
}

/* Versions made while the clock was ahead stay before those that were made later. */
static void a_clock_that_went_back(void)
{
        char ahead[128];

        replace(2);
        snprintf(ahead, sizeof(ahead), "%s.2999-01-01T000000Z", path);
        check_int(util_write_file(ahead, text_of(1), strlen(text_of(1)), 0644), 0);
        for (int i = 3; i < 15; i++) /* its numbers get a second digit */
                check_int(replace(i), i - 1);
        check_int(undo(0), 13);
        check_int(undo(0), 12);
        remove_versions();
}

static void what_is_no_version(void)
{
        static const char *const names[] = {
                ".2026-11-23T081530",          ".2026-11-23T081530Zx", ".old",
                ".2026-11-23T081530Z.unusedx", "2026-11-23T081530Z",   ".tmp-01234567"
        };
        char name[128];

        replace(1);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                snprintf(name, sizeof(name), "%s%s", path, names[i]);
                check_int(util_write_file(name, "", 0, 0644), 0);
        }
        check_int(count(false) + count(true), 0);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                snprintf(name, sizeof(name), "%s%s", path, names[i]);
                unlink(name); /* the temporary one was swept */
        }
        check_int(replace(2), 1);
        snprintf(name, sizeof(name), "%s.2999-01-01T000000Z", path);
        check_int(util_write_file(name, "no profile", 10, 0644), 0);
        check_int(undo(-EINVAL), 2);
        remove_versions();
}

int main(void)
{
        check(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/profile.ini", folder);
        back_step_by_step();
        the_oldest_goes();
        the_calibration_stays();
        a_clock_that_went_back();
        what_is_no_version();
        check_int(rmdir(folder), 0);
        return check_result();
}
