/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The two files that answers are made from, and the error where one is missing. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "api/first-day.h"
#include "model/profile-match.h"
#include "model/profile.h"
#include "options.h"
#include "util/ini-text.h"
#include "util/offer.h"
#include "util/paths.h"
#include "util/util.h"

static int no_files(const struct options *options, int err)
{
        char device[128];

        if (options->device)
                log_error(&program_log, "--device %s: %s", util_printable(options->device, device, sizeof(device)),
                          ini_text_error(err));
        else
                log_error(&program_log, "there is no home folder to look in; use --profile FILE and --database FILE");
        return CODE_FAILED;
}

void open_no_profile(const char *name)
{
        _cleanup_free_ char *folder = NULL;
        char printable[128], offer[640];

        if (paths_data("profiles", &folder) < 0)
                folder = NULL;
        log_error(&program_log, "there is no profile %s, neither such a file nor such a name; %s",
                  util_printable(name, printable, sizeof(printable)),
                  offer_names(folder ? folder : "", name, offer, sizeof(offer)));
}

/* A bare name that is no file here is one of the shipped profiles, as for `joulecast profile use NAME`. */
static char *shipped_profile(const char *name)
{
        _cleanup_free_ char *folder = NULL;
        char *path = NULL;

        if (strchr(name, '/') || access(name, F_OK) == 0 || paths_data("profiles", &folder) < 0 ||
            asprintf(&path, "%s/%s.ini", folder, name) < 0)
                return NULL;
        if (access(path, F_OK) < 0) {
                free(path);
                return NULL;
        }
        return path;
}

int open_profile_path(const struct options *options, char **ret)
{
        if (!options->profile)
                return paths_profile(options->device, false, ret);
        *ret = shipped_profile(options->profile);
        if (!*ret)
                *ret = strdup(options->profile);
        return *ret ? 0 : -ENOMEM;
}

int open_find_profile(const struct options *options, char **ret)
{
        _cleanup_free_ char *path = NULL;
        int err = open_profile_path(options, &path);

        if (err < 0)
                return options->profile ? CODE_FAILED : no_files(options, err);
        if (access(path, F_OK) < 0 && errno == ENOENT) {
                if (options->profile) {
                        open_no_profile(options->profile);
                        return CODE_NO_DATA;
                }
                free(path);
                path = NULL;
        }
        *ret = TAKE_PTR(path);
        return CODE_OK;
}

int open_profile_file(const struct options *options, struct profile **ret)
{
        _cleanup_free_ char *path = NULL;
        int code = open_find_profile(options, &path), err;

        if (code != CODE_OK)
                return code;
        if (!path)
                err = first_day_profile(options->device, options->machine, &program_log, NULL, 0, ret);
        else
                err = profile_load(path, &program_log, ret);
        if (err)
                return !path && err == -ENOENT ? CODE_NO_DATA : CODE_FAILED;
        return CODE_OK;
}

int open_profile(const struct options *options, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        int code = open_profile_file(options, &profile);

        if (code != CODE_OK)
                return code;
        if (first_day_adapt(options->device, options->machine, &program_log, &profile))
                return CODE_FAILED;
        *ret = TAKE_PTR(profile);
        return CODE_OK;
}

int open_check_device(const struct options *options, const struct profile *profile)
{
        _cleanup_free_ char *path = NULL;

        if (options->device || !profile_is_of_another(profile, options->machine))
                return CODE_OK;
        if (options->profile) {
                log_warning(&program_log, "%s was made for another device (match = %s)", options->profile,
                            profile->match);
                return CODE_OK;
        }
        if (paths_profile(NULL, false, &path) < 0)
                path = NULL;
        log_error(&program_log,
                  "%s was made for another device (match = %s); run joulecast calibrate, or name it with --profile",
                  path ? path : _("the profile"), profile->match);
        return CODE_FAILED;
}

static void nothing_recorded(const struct options *options, const char *path)
{
        char printable[128], remedy[256];

        snprintf(remedy, sizeof(remedy), _("start the service (%s start joulecastd), or run joulecast poll"),
                 paths_systemctl());
        util_printable(path, printable, sizeof(printable));
        if (options->device)
                snprintf(remedy, sizeof(remedy), "%s", _("joulecast simulate records there"));
        else if (options->database)
                snprintf(remedy, sizeof(remedy), _("joulecast poll --database %s records there"), printable);
        if (access(path, F_OK) == 0)
                log_error(&program_log, "nothing was recorded yet: %s is empty; %s", printable, remedy);
        else
                log_error(&program_log, "nothing was recorded yet: there is no %s; %s", printable, remedy);
}

int open_check_usage(const struct options *options)
{
        _cleanup_free_ char *found = NULL;
        const char *path = options->database;
        struct stat status;

        if (!path) {
                int err = paths_usage(options->device, false, &found);

                if (err < 0)
                        return no_files(options, err);
                path = found;
        }
        if (stat(path, &status) < 0 ? errno != ENOENT : !S_ISREG(status.st_mode) || status.st_size > 0)
                return CODE_OK;
        nothing_recorded(options, path);
        return CODE_NO_DATA;
}
