/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast community profile`: a prior from devices like this one, and what
 * this one shares of its own. */

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answer/answer.h"
#include "api/first-day.h"
#include "model/profile-history.h"
#include "place.h"
#include "prior.h"
#include "session.h"
#include "shared/card.h"
#include "traits.h"
#include "util/agree.h"
#include "util/ini-text.h"
#include "util/own-folder.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/portable.h"
#include "util/util.h"
#include "util/words.h"

/* Where pools come from. */
struct source {
        const struct member *member; /* NULL: from @folder, or @file */
        const char *folder, *file;
};

/* A pool, and how much of it was taken. */
struct taken {
        enum card_part part;
        const char *name;
        long devices;
        char edition[16];
        int terms;
};

/* Parts before the model: it has the last word. */
static const enum card_part order[] = { CARD_CPU, CARD_PANEL, CARD_RADIO, CARD_MODEL };

static int find_target(const struct session *session, char **ret)
{
        const struct options *options = &session->options;
        int err;

        if (options->profile)
                *ret = strdup(options->profile);
        err = options->profile ? (*ret ? 0 : -ENOMEM) : paths_learned(options->device, ret);
        if (err)
                log_error(&program_log, "there is no folder for profiles (%s); use --profile FILE",
                          util_reason(err));
        return err ? CODE_FAILED : CODE_OK;
}

/* A file that is there and cannot be read may be the device's own. */
static int check_replaceable(const char *path)
{
        _cleanup_(profile_freep) struct profile *own = NULL;
        const char *why;

        if (!path || (access(path, F_OK) < 0 && errno == ENOENT))
                return CODE_OK;
        if (profile_load(path, &program_log, &own) < 0)
                return CODE_FAILED;
        if (prior_may_replace(own, &why))
                return CODE_OK;
        log_error(&program_log,
                  "%s was %s on this device, which is better than the numbers of other devices; joulecast profile "
                  "reset removes it",
                  path, _(why));
        return CODE_FAILED;
}

static int read_named(const char *path, char **ret)
{
        size_t length;
        int err = card_read_file(AT_FDCWD, path, POOL_BYTES_MAX, NULL, ret, &length);

        if (err)
                log_error(&program_log, "%s: cannot be read: %s", path, util_reason(err));
        return err;
}

/* A pool must be of a part or model that this device has; its file's name does not decide. */
static int read_pool(const struct source *source, enum card_part part, const char *name, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *pool = NULL;
        _cleanup_free_ char *text = NULL;
        char file[CARD_FILE_SIZE];
        int err;

        card_file(part, name, file);
        if (source->file)
                err = read_named(source->file, &text);
        else if (source->folder)
                err = place_pool_from(source->folder, file, &program_log, &text);
        else
                err = place_pool(source->member, file, &program_log, &text);
        if (!err)
                err = card_read(text, strlen(text), source->file ? source->file : file, &program_log, &pool);
        if (!err && strcmp(card_name(pool, part), name) != 0)
                err = -ENODATA;
        if (!err)
                *ret = TAKE_PTR(pool);
        return err;
}

static void note(const struct profile *pool, enum card_part part, const char *name, int terms,
                 struct taken *ret)
{
        const char *devices = profile_extra(pool, "profile", "x-devices"),
                   *edition = profile_extra(pool, "profile", "x-edition");
        int64_t n;

        *ret = (struct taken){ .part = part, .name = name, .terms = terms };
        ret->devices = devices && util_parse_i64(devices, &n) == 0 && n > 0 && n < 1000000000 ? (long)n : 0;
        util_printable(edition ? edition : "?", ret->edition, sizeof(ret->edition));
}

/* A pool that cannot be read is skipped. If none can be read, returns the first error. */
static int take_pools(const struct source *source, const struct card_names *names,
                      const struct profile *class, struct profile **prior, struct taken *list, size_t *n)
{
        int first = 0;

        for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
                _cleanup_(profile_freep) struct profile *pool = NULL;
                enum card_part part = order[i];
                int err;

                if (!*names->of[part])
                        continue;
                err = read_pool(source, part, names->of[part], &pool);
                if (err == -ENOMEM)
                        return err;
                if (err) {
                        first = first || err == -ENODATA ? first : err;
                        continue;
                }
                err = prior_take(prior, class, pool, part);
                if (err < 0)
                        return err;
                if (err == 0)
                        log_warning(&program_log,
                                    "%s %s: the pool is not within the limits of this device's class, and"
                                    " is not used",
                                    card_words[part], names->of[part]);
                else
                        note(pool, part, names->of[part], err, &list[(*n)++]);
        }
        return *n ? 0 : first;
}

static int print_json(const struct taken *list, size_t n, const char *path)
{
        struct cJSON *json = cJSON_CreateObject(), *pools;

        cJSON_AddItemToObject(json, "profile", answer_text(path));
        pools = cJSON_AddArrayToObject(json, "pools");
        for (size_t i = 0; i < n; i++) {
                struct cJSON *item = cJSON_CreateObject();

                cJSON_AddStringToObject(item, "part", card_words[list[i].part]);
                cJSON_AddItemToObject(item, "name", answer_text(list[i].name));
                cJSON_AddNumberToObject(item, "devices", (double)list[i].devices);
                cJSON_AddStringToObject(item, "edition", list[i].edition);
                cJSON_AddNumberToObject(item, "terms", list[i].terms);
                cJSON_AddItemToArray(pools, item);
        }
        return answer_print_json(json);
}

static int print_text(const struct taken *list, size_t n, const char *path, const char *kept)
{
        for (size_t i = 0; i < n; i++)
                printf(_("%s %s: %d terms from %ld devices, edition %s\n"), card_words[list[i].part],
                       list[i].name, list[i].terms, list[i].devices, list[i].edition);
        printf(_("This device now begins with what these say, as %s.\n"), path);
        if (kept)
                printf(_("The profile before is kept as %s; profile undo goes back to it.\n"), kept);
        table_text(TABLE_PLAIN, "joulecast learn goes on from it, and joulecast calibrate replaces it.");
        return CODE_OK;
}

static int write_prior(struct session *session, const char *path, struct profile *prior,
                       const struct taken *list, size_t n)
{
        _cleanup_free_ char *text = NULL, *kept = NULL;
        int err = profile_set_extra(prior, "profile", "x-prior", card_words[list[n - 1].part]);

        if (!err)
                err = profile_set_extra(prior, "profile", "x-edition", list[n - 1].edition);
        if (!err)
                err = profile_print(prior, &text);
        if (!err)
                err = own_folder_make(path, 0755);
        if (!err)
                err = profile_history_replace(path, text, &kept);
        if (err) {
                log_error(&program_log, "%s: cannot write the profile: %s", path, own_folder_why(err));
                return CODE_FAILED;
        }
        return session->options.json ? print_json(list, n, path) : print_text(list, n, path, kept);
}

/* Names of this device, its CPU, its panel and its radio: those of
 * types, and no serial numbers. */

#define TREE_COMPATIBLE "sys/firmware/devicetree/base/compatible"
#define EDID_HEAD "\0\377\377\377\377\377\377\0"

/* "model name" of x86; the system on a chip is the last compatible string of a
 * device tree. */
static void read_cpu(int root_fd, char *buf)
{
        static char text[1 << 20];
        char *line = util_read_at(root_fd, "proc/cpuinfo", text, sizeof(text)) > 0
                             ? strstr(text, "model name")
                             : NULL;
        ssize_t n;

        line = line ? strchr(line, ':') : NULL;
        if (line) {
                line[strcspn(line, "\n@")] = '\0';
                traits_plain(line + 1, buf, CARD_NAME_SIZE);
                return;
        }
        n = util_read_at(root_fd, TREE_COMPATIBLE, text, 4096);
        for (ssize_t at = 0; at < n; at += (ssize_t)strlen(text + at) + 1)
                if (text[at])
                        snprintf(buf, CARD_NAME_SIZE, "%.*s", CARD_NAME_SIZE - 1, text + at);
}

/* Calls @read for the folders of @parent that a glob finds, by name, until it
 * finds a name. */
static void first_of(int root_fd, const char *parent, const char *glob,
                     void (*read)(int fd, const char *name, char *buf), char *buf)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, parent);
        struct dirent **entries = NULL;
        int n = dir ? portable_scandir(dirfd(dir), &entries, NULL, alphasort) : 0;

        for (int i = 0; i < n; i++) {
                if (!*buf && fnmatch(glob, entries[i]->d_name, 0) == 0)
                        read(dirfd(dir), entries[i]->d_name, buf);
                free(entries[i]);
        }
        free(entries);
}

/* Maker and product of an EDID (VESA E-EDID 1.4, 3.4), as in "BOE 07C9". The
 * serial number, behind them, is not read. */
static void read_panel(int fd, const char *name, char *buf)
{
        char path[300], text[1024];
        const unsigned char *edid = (const unsigned char *)text;
        unsigned maker;

        snprintf(path, sizeof(path), "%s/edid", name);
        if (util_read_at(fd, path, text, sizeof(text)) < 128 || memcmp(text, EDID_HEAD, 8) != 0)
                return;
        maker = (unsigned)edid[8] << 8 | edid[9];
        snprintf(buf, CARD_NAME_SIZE, "%c%c%c %02X%02X", 'A' - 1 + (maker >> 10 & 31),
                 'A' - 1 + (maker >> 5 & 31), 'A' - 1 + (maker & 31), edid[11], edid[10]);
}

/* The type of a device on its bus. */
static void read_radio(int fd, const char *name, char *buf)
{
        static const char *const keys[] = { "PCI_ID=", "SDIO_ID=", "PRODUCT=", "OF_COMPATIBLE_0=" };
        char path[300], text[4096];

        snprintf(path, sizeof(path), "%s/wireless", name);
        if (faccessat(fd, path, F_OK, 0) < 0)
                return;
        snprintf(path, sizeof(path), "%s/device/uevent", name);
        if (util_read_at(fd, path, text, sizeof(text)) <= 0)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(keys) && !*buf; i++) {
                const char *found = strstr(text, keys[i]);

                if (found && (found == text || found[-1] == '\n')) {
                        found += strlen(keys[i]);
                        snprintf(buf, CARD_NAME_SIZE, "%.*s",
                                 (int)MIN(strcspn(found, "\n"), CARD_NAME_SIZE - 1u), found);
                }
        }
}

/* "virtual:laptop", "virtual:/home/a/laptop.ini" */
static void name_virtual(const char *device, char *buf)
{
        const char *name = device ? strrchr(device, '/') : NULL;
        char text[CARD_NAME_SIZE];

        name = name ? name + 1 : device && strchr(device, ':') ? strchr(device, ':') + 1 : "";
        snprintf(text, sizeof(text), "virtual %.*s", (int)MIN(strcspn(name, "."), 48u), name);
        traits_plain(text, buf, CARD_NAME_SIZE);
}

/*
 * @root_fd: of the machine; -1: @device is a virtual one, which only has its
 * name. A name that is unknown, or that card_is_name() refuses, is "".
 */
static void identity_read(int root_fd, const char *device, struct card_names *ret)
{
        *ret = (struct card_names){ .of = { "" } };
        if (root_fd < 0) {
                name_virtual(device, ret->of[CARD_MODEL]);
        } else {
                traits_read_model(root_fd, ret->of[CARD_MODEL], CARD_NAME_SIZE);
                read_cpu(root_fd, ret->of[CARD_CPU]);
                first_of(root_fd, "sys/class/drm", "card*-eDP-*", read_panel, ret->of[CARD_PANEL]);
                first_of(root_fd, "sys/class/drm", "card*-LVDS-*", read_panel, ret->of[CARD_PANEL]);
                first_of(root_fd, "sys/class/drm", "card*-DSI-*", read_panel, ret->of[CARD_PANEL]);
                first_of(root_fd, "sys/class/net", "*", read_radio, ret->of[CARD_RADIO]);
        }
        for (int part = 0; part < CARD_PARTS; part++)
                if (!card_is_name(ret->of[part]))
                        *ret->of[part] = '\0';
}

static int fetch_from(struct session *session, const struct source *source, const char *path)
{
        _cleanup_(profile_freep) struct profile *class = NULL, *prior = NULL;
        struct taken list[CARD_PARTS];
        struct card_names names;
        size_t n = 0;
        int err = first_day_class(session->options.device, session->options.machine, &program_log, &class);

        if (!err)
                err = profile_copy(class, &prior);
        if (err)
                return CODE_FAILED;
        identity_read(session->root_fd, session->options.device, &names);
        err = take_pools(source, &names, class, &prior, list, &n);
        if (err)
                return CODE_FAILED;
        if (n > 0)
                return write_prior(session, path, prior, list, n);
        log_error(&program_log, "nothing is known yet of devices like this one (%s)",
                  *names.of[CARD_MODEL] ? names.of[CARD_MODEL] : _("its model is not known"));
        return CODE_NO_DATA;
}

static int fetch(struct session *session)
{
        _cleanup_(member_clear) struct member member = { .where = NULL };
        _cleanup_free_ char *path = NULL, *used = NULL;
        struct source source = { .member = &member };
        const char *from = session->from;
        struct stat status;
        int code = open_find_profile(&session->options, &used);

        if (code == CODE_NO_DATA) /* --profile names a file that is made now */
                code = CODE_OK;
        if (code == CODE_OK)
                code = find_target(session, &path);
        if (code == CODE_OK)
                code = check_replaceable(used);
        if (code == CODE_OK)
                code = check_replaceable(path);
        if (code != CODE_OK)
                return code;
        if (!from)
                code = session_read_member(session, &member);
        else if (stat(from, &status) == 0 && S_ISDIR(status.st_mode))
                source.folder = from;
        else
                source.file = from;
        return code == CODE_OK ? fetch_from(session, &source, path) : code;
}

/* Numbers of another device, such as a virtual one, say nothing of this machine's model. */
static bool is_of_another(const struct session *session)
{
        return session->root_fd >= 0 && strcmp(profile_basis(session->profile), "calibrated") == 0 &&
               strcmp(session->profile->device, PROFILE_DEVICE_HERE) != 0;
}

/* Makes the card (shared/card.h) of this device; free() it. Returns an exit code; CODE_NO_DATA without a sentence. */
static int profile_card(struct session *session, char **ret)
{
        struct card_names names;
        int code = session->profile ? CODE_OK : open_profile(&session->options, &session->profile), err;

        if (code != CODE_OK)
                return code;
        if (is_of_another(session))
                return CODE_NO_DATA;
        identity_read(session->root_fd, session->options.device, &names);
        err = card_make(session->profile, &names, ret);
        if (err == -ENODATA)
                return CODE_NO_DATA;
        if (err)
                log_error(&program_log, "the profile cannot be shared: %s", util_reason(err));
        return err ? CODE_FAILED : CODE_OK;
}

/* To the byte what is sent. */
static int preview(struct session *session)
{
        _cleanup_free_ char *text = NULL;
        int code = profile_card(session, &text);

        if (code == CODE_NO_DATA)
                log_error(&program_log, "this device has no numbers of its own to share: joulecast "
                                        "calibrate, or joulecast learn, makes them");
        if (code == CODE_OK)
                fputs(text, stdout);
        return code;
}

static int share(struct session *session)
{
        _cleanup_(member_clear) struct member member = { .where = NULL };
        int code = session_read_member(session, &member);

        if (code == CODE_OK)
                code = preview(session);
        if (code != CODE_OK)
                return code;
        if (!session->options.yes && !isatty(STDIN_FILENO)) {
                log_error(&program_log, "no terminal to ask on; use --yes to share this");
                return CODE_FAILED;
        }
        if (!session->options.yes && !agree_ask(stdout, _("Share this, and later changes of it?")))
                return CODE_OK;
        member.shares_profile = true;
        if (member_write(session->state, &member, &program_log) < 0)
                return CODE_FAILED;
        table_text(TABLE_PLAIN, "It is sent with the next samples. joulecast community profile unshare ends that; "
                                "forget removes it there.");
        return CODE_OK;
}

static int unshare(struct session *session)
{
        _cleanup_(member_clear) struct member member = { .where = NULL };
        int code = session_read_member(session, &member);

        if (code != CODE_OK)
                return code;
        member.shares_profile = false;
        if (member_write(session->state, &member, &program_log) < 0)
                return CODE_FAILED;
        printf("%s\n", *member.profile_sent ? _("The profile is not sent again; joulecast community "
                                                "forget removes what was.")
                                            : _("The profile is not shared."));
        return CODE_OK;
}

int profile_run(struct session *session, const char *word)
{
        if (!word)
                return fetch(session);
        if (strcmp(word, "preview") == 0)
                return preview(session);
        if (strcmp(word, "share") == 0)
                return share(session);
        if (strcmp(word, "unshare") == 0)
                return unshare(session);
        log_error(&program_log,
                  "profile: %s is not preview, share or unshare; see joulecast community --help",
                  word);
        return CODE_USAGE;
}

int profile_send(struct session *session, struct member *member)
{
        _cleanup_free_ char *text = NULL;
        char digits[65];
        int code;

        if (!member->shares_profile)
                return CODE_OK;
        code = profile_card(session, &text);
        if (code != CODE_OK)
                return code == CODE_NO_DATA ? CODE_OK : code;
        name_hash_digits(text, digits);
        if (strcmp(digits, member->profile_sent) == 0)
                return CODE_OK;
        if (place_send_card(member, text, &program_log) < 0)
                return CODE_FAILED;
        memcpy(member->profile_sent, digits, sizeof(digits));
        return member_write(session->state, member, &program_log) < 0 ? CODE_FAILED : CODE_OK;
}
