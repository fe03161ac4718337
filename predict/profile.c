/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast profile`: which power models there are, and which one is this machine's. */

#include "model/profile.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "answer.h"
#include "api/first-day.h"
#include "commands.h"
#include "model/profile-history.h"
#include "model/profile-match.h"
#include "options.h"
#include "profile-show.h"
#include "program.h"
#include "util/agree.h"
#include "util/ini-text.h"
#include "util/own-folder.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/util.h"

static int is_profile(const struct dirent *entry)
{
        size_t length = strlen(entry->d_name);

        return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".ini") == 0;
}

static int current_path(const struct options *options, bool write, char **ret)
{
        int err;

        if (options->profile) {
                *ret = strdup(options->profile);
                return *ret ? 0 : -ENOMEM;
        }
        err = paths_profile(options->device, write, ret);
        if (err < 0)
                log_error(&program_log, "there is no folder for profiles (%s); use --profile FILE",
                          strerror(-err));
        return err;
}

/* -ENOMEM. One that cannot be read is said, and left out. */
static int list_one(struct cJSON *json, struct table *table, const char *name, const char *path, bool current)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        char coefficients[32];
        struct cJSON *item;
        int err = profile_load(path, &program_log, &profile);

        if (err < 0)
                return err == -ENOMEM ? err : 0;
        item = cJSON_CreateObject();
        cJSON_AddItemToObject(item, "name", answer_text(name));
        profile_add_text(item, "device", profile->device);
        profile_add_text(item, "method", profile->method);
        profile_add_text(item, "created", profile->created);
        cJSON_AddItemToObject(item, "path", answer_text(path));
        cJSON_AddBoolToObject(item, "current", current);
        cJSON_AddItemToArray(json, item);

        snprintf(coefficients, sizeof(coefficients), "%zu", profile->n_coefficients);
        table_texts(table, current ? TABLE_HEAD : TABLE_PLAIN, name ? name : _("(in use)"),
                    profile_known(profile->device), profile_known(profile->method),
                    profile_known(profile->created), coefficients, path, NULL);
        return 0;
}

/* Lists the profiles that come with joulecast. */
static int list_shipped(struct cJSON *json, struct table *table)
{
        _cleanup_free_ char *folder = NULL;
        struct dirent **entries = NULL;
        int err = paths_data("profiles", &folder), n = err ? 0 : scandir(folder, &entries, is_profile, alphasort);

        if (err != -ENOMEM)
                err = n < 0 && errno == ENOMEM ? -ENOMEM : 0;
        for (int i = 0; i < n; i++) {
                _cleanup_free_ char *path = NULL, *name = strdup(entries[i]->d_name);

                if (!name || asprintf(&path, "%s/%s", folder, name) < 0)
                        err = -ENOMEM;
                if (!err) {
                        name[strlen(name) - 4] = '\0';
                        err = list_one(json, table, name, path, false);
                }
                free(entries[i]);
        }
        free(entries);
        return err;
}

static int list_profiles(const struct options *options)
{
        _cleanup_free_ char *current = NULL;
        _cleanup_(table_freep) struct table *table = table_new("llllrl");
        struct cJSON *json = cJSON_CreateArray();
        int err = current_path(options, false, &current);
        bool used = !err && access(current, R_OK) == 0;

        table_spare(table, "5");
        table_heads(table, N_("Name"), N_("Device"), N_("Method"), N_("Created"), N_("Coefficients"), N_("File"), NULL);
        err = err == -ENOMEM ? err : 0;
        if (!err && used)
                err = list_one(json, table, NULL, current, true);
        if (!err)
                err = list_shipped(json, table);
        if (err) {
                cJSON_Delete(json);
                return CODE_FAILED;
        }
        if (options->json)
                return answer_print_json(json);
        table_print(table);
        if (!used && !options->profile) {
                putchar('\n');
                table_note("This device has no profile of its own: one that ships for it is used, else that of its "
                           "class. Run joulecast calibrate to make this device's own, or joulecast profile use NAME "
                           "to take one of these.");
        }
        cJSON_Delete(json);
        return CODE_OK;
}

/* A shipped profile by its name, or a file. */
static int find_profile(const char *name, char **ret)
{
        _cleanup_free_ char *folder = NULL, *path = NULL;

        if (!strchr(name, '/') && paths_data("profiles", &folder) == 0 &&
            asprintf(&path, "%s/%s.ini", folder, name) >= 0 && access(path, F_OK) == 0) {
                *ret = TAKE_PTR(path);
                return CODE_OK;
        }
        if (access(name, F_OK) < 0) {
                open_no_profile(name);
                return CODE_NO_DATA;
        }
        *ret = strdup(name);
        return *ret ? CODE_OK : CODE_FAILED;
}

/* Loads a profile; one of a class is adapted to this device. */
static int load_adapted(const struct options *options, const char *path, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        int err = profile_load(path, &program_log, &profile);

        if (!err)
                err = first_day_adapt(options->device, options->machine, &program_log, &profile);
        if (!err)
                *ret = TAKE_PTR(profile);
        return err;
}

static int show_profile(const struct options *options, const char *name, bool percent)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        _cleanup_free_ char *path = NULL;
        struct desktop_index *index;
        int code;

        if (name) {
                code = find_profile(name, &path);
                if (code != CODE_OK)
                        return code;
                if (load_adapted(options, path, &profile) < 0)
                        return CODE_FAILED;
        } else {
                code = open_find_profile(options, &path);
                if (code == CODE_OK)
                        code = open_profile(options, &profile);
                if (code != CODE_OK)
                        return code;
        }
        if (options->json)
                return profile_show_json(profile, path);
        index = options->device || profile->n_apps == 0 ? NULL : desktop_index_of_user();
        code = profile_show_table(profile, path, percent, index);
        desktop_index_free(index);
        return code;
}

static int use_profile(const struct options *options, const char *name)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        _cleanup_free_ char *from = NULL, *to = NULL, *text = NULL, *kept = NULL;
        size_t length;
        int code, err;

        if (!name) {
                log_error(&program_log, "profile use needs a NAME; see joulecast profile list");
                return CODE_USAGE;
        }
        code = find_profile(name, &from);
        if (code != CODE_OK)
                return code;
        if (load_adapted(options, from, &profile) < 0 || current_path(options, true, &to) < 0)
                return CODE_FAILED;
        if (!options->device && profile_is_of_another(profile, NULL)) {
                if (!options->profile) {
                        log_error(&program_log,
                                  "%s was made for another device (match = %s), so no answer here would use it; name "
                                  "it with --profile to use it",
                                  name, profile->match);
                        return CODE_FAILED;
                }
                log_warning(&program_log, "%s was made for another device (match = %s)", name, profile->match);
        }
        if (strcmp(profile_basis(profile), "class") == 0) /* has become this device's */
                err = profile_print(profile, &text);
        else
                err = ini_text_read(from, PROFILE_BYTES_MAX, NULL, &text, &length);
        if (err == 0)
                err = own_folder_make(to, 0755);
        if (err == 0)
                err = profile_history_replace(to, text, &kept);
        if (err < 0) {
                log_error(&program_log, "%s: cannot write the profile: %s", to,
                          own_folder_why(err));
                return CODE_FAILED;
        }
        printf(_("%s is now in use, as %s.\n"), from, to);
        if (kept)
                printf(_("The profile before is kept as %s; profile undo goes back to it.\n"), kept);
        return CODE_OK;
}

/* The profile that undo applies to: of --profile, else the learnt one if it is in use, else the calibration's. */
static int own_path(const struct options *options, bool *learnt, char **ret)
{
        _cleanup_free_ char *used = NULL, *learned = NULL;

        *learnt = !options->profile && current_path(options, false, &used) == 0 &&
                  paths_learned(options->device, &learned) == 0 && strcmp(used, learned) == 0;
        if (current_path(options, true, ret) < 0)
                return -ENOENT;
        *learnt = *learnt && strcmp(used, *ret) != 0;
        if (*learnt) {
                free(*ret);
                *ret = TAKE_PTR(used);
        }
        return 0;
}

static int undo_profile(const struct options *options)
{
        _cleanup_free_ char *path = NULL, *back = NULL, *unused = NULL;
        bool learnt;
        int err;

        if (own_path(options, &learnt, &path) < 0)
                return CODE_FAILED;
        err = profile_history_undo(path, &back, &unused);
        /* Root does not write in the service's folder, and need not: a learnt profile can be learnt again. */
        if (err < 0 && learnt && unlink(path) == 0) {
                printf(_("%s, with what was learnt, is removed; joulecast learn learns it anew.\n"), path);
                return CODE_OK;
        }
        if (err == -ENODATA || err == -ENOENT) {
                log_error(&program_log, "there is no earlier profile beside %s", path);
                return CODE_NO_DATA;
        }
        if (err < 0) {
                log_error(&program_log, "%s: cannot go back to the profile before: %s", path,
                          err == -EINVAL ? "it is no valid profile; see joulecast profile history" : util_reason(err));
                return CODE_FAILED;
        }
        printf(_("%s is in use again, as %s.\n"), back, path);
        if (unused)
                printf(_("The one that was in use is kept as %s.\n"), unused);
        return CODE_OK;
}

/* -ENOMEM. One that cannot be read is listed as well. */
static int list_version(struct cJSON *json, struct table *table, const char *path, const char *state)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        struct cJSON *item;
        char coefficients[32] = "?";

        if (profile_load(path, NULL, &profile) == -ENOMEM)
                return -ENOMEM;
        item = cJSON_CreateObject();
        cJSON_AddItemToObject(item, "path", answer_text(path));
        cJSON_AddItemToObject(item, "state", answer_text(state));
        profile_add_text(item, "device", profile ? profile->device : NULL);
        profile_add_text(item, "method", profile ? profile->method : NULL);
        profile_add_text(item, "created", profile ? profile->created : NULL);
        cJSON_AddItemToArray(json, item);
        if (profile)
                snprintf(coefficients, sizeof(coefficients), "%zu", profile->n_coefficients);
        table_texts(table, strcmp(state, "in use") ? TABLE_PLAIN : TABLE_HEAD, state,
                    profile ? profile_known(profile->device) : "?", profile ? profile_known(profile->method) : "?",
                    profile ? profile_known(profile->created) : "?", coefficients, path, NULL);
        return 0;
}

static int list_history(const struct options *options)
{
        _cleanup_(table_freep) struct table *table = table_new("llllrl");
        _cleanup_(profile_history_clear) struct profile_history history = { 0 };
        _cleanup_free_ char *path = NULL;
        struct cJSON *json;
        int err;

        if (current_path(options, false, &path) < 0)
                return CODE_FAILED;
        err = profile_history_read(path, &history);
        if (err < 0 && err != -ENOENT) {
                log_error(&program_log, "%s: the profiles beside it cannot be read: %s", path, strerror(-err));
                return CODE_FAILED;
        }
        json = cJSON_CreateArray();
        table_spare(table, "542");
        table_heads(table, N_("State"), N_("Device"), N_("Method"), N_("Created"), N_("Coefficients"),
                    N_("File"), NULL);
        err = access(path, F_OK) == 0 ? list_version(json, table, path, "in use") : 0;
        for (size_t i = 0; i < history.n && !err; i++)
                err = list_version(json, table, history.list[i].path, history.list[i].unused ? "unused" : "before");
        if (err) {
                cJSON_Delete(json);
                return CODE_FAILED;
        }
        if (options->json)
                return answer_print_json(json);
        table_print(table);
        cJSON_Delete(json);
        return CODE_OK;
}

static bool agreed(const struct options *options)
{
        return options->yes || agree_ask(stdout, _("Remove it?"));
}

static int reset_profile(const struct options *options)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        _cleanup_free_ char *path = NULL, *kept = NULL, *learned = NULL;
        struct stat status;
        int err;

        if (current_path(options, true, &path) < 0)
                return CODE_FAILED;
        if (stat(path, &status) < 0 || !S_ISREG(status.st_mode)) {
                log_error(&program_log, "there is no profile %s to remove", path);
                return CODE_NO_DATA;
        }
        if (!options->yes && !isatty(STDIN_FILENO)) {
                log_error(&program_log, "no terminal to ask on; use --yes to remove %s", path);
                return CODE_FAILED;
        }
        /* A profile that cannot be read may be removed just as well. */
        if (profile_load(path, NULL, &profile) == 0)
                printf(_("%s: device %s, method %s, created %s\n"), path, profile_known(profile->device),
                       profile_known(profile->method), profile_known(profile->created));
        else
                printf(_("%s: not a valid profile\n"), path);
        if (!agreed(options))
                return CODE_OK;
        /* The learnt profile must go, too: otherwise it, or the one it was learnt from, would be used next. */
        if (!options->profile && paths_learned(options->device, &learned) == 0 && strcmp(learned, path) != 0)
                unlink(learned);
        err = profile_history_remove(path, &kept);
        if (err < 0) {
                log_error(&program_log, "%s: cannot remove the profile: %s", path, util_reason(err));
                return CODE_FAILED;
        }
        printf(_("Removed; it is kept as %s, and profile undo goes back to it. joulecast calibrate makes a "
                 "new one.\n"), kept);
        return CODE_OK;
}

/* Runs the import of joulecast-develop. */
static int import_profile(const char *path, const char *output, double battery_mwh, const char *cpus)
{
        char command[] = "profile", output_option[] = "--output", battery_option[] = "--battery",
             cpus_option[] = "--cpus", end[] = "--", battery[32];
        _cleanup_free_ char *from = strdup(path), *to = output ? strdup(output) : NULL,
                            *cores = cpus ? strdup(cpus) : NULL;
        char *words[10] = { command };
        size_t n = 1;

        if (!from || (output && !to) || (cpus && !cores))
                return CODE_FAILED;
        snprintf(battery, sizeof(battery), "%.17g", battery_mwh);
        if (output) {
                words[n++] = output_option;
                words[n++] = to;
        }
        if (!isnan(battery_mwh)) {
                words[n++] = battery_option;
                words[n++] = battery;
        }
        if (cpus) {
                words[n++] = cpus_option;
                words[n++] = cores;
        }
        words[n++] = end;
        words[n] = from;
        return program_become("profile", "develop", "joulecast-develop", "import", words);
}

int profile_main(int argc, char **argv)
{
        const char *words[2] = { NULL, NULL }, *output = NULL, *cpus = NULL;
        double battery_mwh = NAN;
        bool percent = false;
        const struct option_row rows[] = {
                { "units", NULL, N_("with show: coefficients in percent of the battery per 10 s, per MB or per burst"),
                  .flag = &percent },
                { "output", "FILE",
                  N_("with import: write the profile to this file, whose name becomes the device's; without it to "
                     "standard output"),
                  .letter = 'o', .text = &output },
                { "battery", "MWH", N_("with import: energy of the full battery, in place of the file's capacity"),
                  .number = &battery_mwh, .low = 1, .high = 1e7, .unit = "mWh" },
                { "cpus", "N",
                  N_("with import: number of cores, in place of the file's; for cores of two kinds as 4+4"),
                  .text = &cpus },
        };
        const struct option_table command = {
                .called = "joulecast profile",
                .usage = "joulecast profile list | show [NAME] [--units] | use NAME | undo |\n"
                         "                  history | reset | import FILE.xml [-o FILE.ini]",
                .about = N_("Power models: those that come with joulecast, and the one of this machine.\n"
                            "\n"
                            "  list    those that come with joulecast, and the one in use\n"
                            "  show    the coefficients of NAME (one of the list, or a file), else of the\n"
                            "          one in use\n"
                            "  use     make NAME this machine's own; the one before is kept beside it\n"
                            "  undo    go back to the one before\n"
                            "  history this machine's own, and those kept beside it, the newest first\n"
                            "  reset   remove this machine's own; without a terminal it needs --yes\n"
                            "  import  make one from a power_profile.xml of Android, for joulecast emulate"),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .words = words, .max_words = ARRAY_SIZE(words),
        };
        struct options options = { 0 };
        char printable[64];
        int code = options_parse(&command, SHARED_DEVICE | SHARED_PROFILE | SHARED_JSON | SHARED_YES, argc, argv,
                                 &options);

        if (code >= 0)
                return code;
        if ((output || cpus || !isnan(battery_mwh)) && (!words[0] || strcmp(words[0], "import") != 0)) {
                log_error(&program_log, "--output, --battery and --cpus go with profile import only; see "
                                        "joulecast profile --help");
                return CODE_USAGE;
        }
        if (percent && (!words[0] || strcmp(words[0], "show") != 0)) {
                log_error(&program_log, "--units goes with profile show only; see joulecast profile --help");
                return CODE_USAGE;
        }
        if (!words[0] || (strcmp(words[0], "list") == 0 && !words[1]))
                return list_profiles(&options);
        if (strcmp(words[0], "show") == 0)
                return show_profile(&options, words[1], percent);
        if (strcmp(words[0], "use") == 0)
                return use_profile(&options, words[1]);
        if (strcmp(words[0], "undo") == 0 && !words[1])
                return undo_profile(&options);
        if (strcmp(words[0], "history") == 0 && !words[1])
                return list_history(&options);
        if (strcmp(words[0], "reset") == 0 && !words[1])
                return reset_profile(&options);
        if (strcmp(words[0], "import") == 0 && words[1])
                return import_profile(words[1], output, battery_mwh, cpus);
        if (strcmp(words[0], "import") == 0) {
                log_error(&program_log, "profile import needs a power_profile.xml; see joulecast profile --help");
                return CODE_USAGE;
        }
        log_error(&program_log, "unknown argument \"%s\" (list, show, use, undo, history, reset or import); "
                  "see joulecast profile --help",
                  util_printable(words[1] ? words[1] : words[0], printable, sizeof(printable)));
        return CODE_USAGE;
}
