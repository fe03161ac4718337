/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "place-folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "shared/card.h"
#include "shared/upload.h"
#include "util/hash.h"
#include "util/portable.h"
#include "util/util.h"

#define SUFFIX ".ndjson.gz"
#define FIRST_DIGITS 20
#define NAME_LENGTH (UPLOAD_CLIENT_DIGITS + 1 + FIRST_DIGITS + sizeof(SUFFIX) - 1)
#define UNPACKED_MAX (4u << 20) /* largest unpacked upload, bytes */
#define PAIRS_MAX 500000        /* most pairs of an app and a client */

int folder_send(struct member *member, const struct compose_upload *upload, const struct log *log,
                struct place_receipt *ret)
{
        _cleanup_free_ char *path = NULL, *hidden = NULL;
        int err;

        if (asprintf(&path, "%s/%s-%0*" PRId64 SUFFIX, member->where, member->client, FIRST_DIGITS, member->next) < 0 ||
            asprintf(&hidden, "%s/.%s-%0*" PRId64 SUFFIX, member->where, member->client, FIRST_DIGITS, member->next) <
            0)
                return -ENOMEM;
        err = util_write_file(hidden, (const char *)upload->packed, upload->packed_length, 0644);
        if (!err && rename(hidden, path) < 0)
                err = -errno;
        if (err) {
                log_error(log, "%s cannot be written: %s; waiting samples are kept", path, util_reason(err));
                unlink(hidden);
                return err;
        }
        *ret = (struct place_receipt){ .next = member->next + (int64_t)upload->n, .added = upload->n };
        return 0;
}

int folder_send_card(const struct member *member, const char *text, const struct log *log)
{
        _cleanup_free_ char *path = NULL;
        int err;

        if (asprintf(&path, "%s/%s" CARD_SUFFIX, member->where, member->client) < 0)
                return -ENOMEM;
        err = card_write_file(path, text, 0644);
        if (err)
                log_error(log, "%s cannot be written: %s", path, util_reason(err));
        return err;
}

static bool is_upload(const char *name)
{
        return strlen(name) == NAME_LENGTH && strspn(name, "0123456789abcdef") == UPLOAD_CLIENT_DIGITS &&
               name[UPLOAD_CLIENT_DIGITS] == '-' &&
               strspn(name + UPLOAD_CLIENT_DIGITS + 1, "0123456789") == FIRST_DIGITS &&
               strcmp(name + NAME_LENGTH - strlen(SUFFIX), SUFFIX) == 0;
}

static int choose_uploads(const struct dirent *entry)
{
        return is_upload(entry->d_name);
}

/* The newest upload of each client is enough, as it names the apps in use. */
struct named_counts {
        struct app_pair {
                UT_hash_handle hh;
                char key[NAME_HASH_SIZE + UPLOAD_CLIENT_DIGITS + 1];
        } *pairs;
        size_t n_pairs;
        struct app_count {
                UT_hash_handle hh;
                char hash[NAME_HASH_SIZE];
                unsigned clients;
        } *apps;
};

static void counts_clear(struct named_counts *counts)
{
        HASH_FREE(counts->pairs);
        HASH_FREE(counts->apps);
}

static int count_app(struct named_counts *counts, const char *hash)
{
        struct app_count *app;

        HASH_FIND_STR(counts->apps, hash, app);
        if (!app) {
                app = calloc(1, sizeof(*app));
                if (!app)
                        return -ENOMEM;
                snprintf(app->hash, sizeof(app->hash), "%s", hash);
                HASH_ADD_STR(counts->apps, hash, app);
                if (!HASH_HAS(app)) {
                        free(app);
                        return -ENOMEM;
                }
        }
        app->clients++;
        return 0;
}

static int count_pair(struct named_counts *counts, const char *client, const char *name)
{
        struct app_pair *pair, *known;
        char hash[NAME_HASH_SIZE];

        name_hash_of(name, hash);
        if (counts->n_pairs >= PAIRS_MAX)
                return 0;
        pair = calloc(1, sizeof(*pair));
        if (!pair)
                return -ENOMEM;
        snprintf(pair->key, sizeof(pair->key), "%s%s", hash, client);
        HASH_FIND_STR(counts->pairs, pair->key, known);
        if (known) {
                free(pair);
                return 0;
        }
        HASH_ADD_STR(counts->pairs, key, pair);
        if (!HASH_HAS(pair)) {
                free(pair);
                return -ENOMEM;
        }
        counts->n_pairs++;
        return count_app(counts, hash);
}

static int count_line(struct named_counts *counts, const char *client, const char *line, size_t length)
{
        struct upload_header header = { .first = 0 };
        const char *why;
        int err = upload_is_header(line, length) ? upload_read_header(line, length, &header, &why) : -EINVAL;

        /* A file counts for its client only if its header names this client. */
        for (size_t i = 0; !err && i < header.n_apps && strcmp(header.client, client) == 0; i++)
                err = count_pair(counts, client, header.apps[i].name);
        upload_header_clear(&header);
        return err == -EINVAL ? 0 : err;
}

static int count_text(struct named_counts *counts, const char *client, char *text, size_t length)
{
        char *end = text + length, *newline;
        int err = 0;

        for (; !err && text < end; text = newline + 1) {
                newline = memchr(text, '\n', (size_t)(end - text));
                if (!newline)
                        newline = end;
                err = count_line(counts, client, text, (size_t)(newline - text));
        }
        return err;
}

/* A file that cannot be read is ignored. */
static int count_file(struct named_counts *counts, int folder_fd, const char *name, char *text)
{
        int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        gzFile file = fd >= 0 ? gzdopen(fd, "rb") : NULL;
        char client[UPLOAD_CLIENT_DIGITS + 1];
        int length;

        if (!file) {
                if (fd >= 0)
                        close(fd);
                return 0;
        }
        length = gzread(file, text, UNPACKED_MAX);
        gzclose(file);
        snprintf(client, sizeof(client), "%.*s", UPLOAD_CLIENT_DIGITS, name);
        return length > 0 ? count_text(counts, client, text, (size_t)length) : 0;
}

static bool same_client(const char *a, const char *b)
{
        return strncmp(a, b, UPLOAD_CLIENT_DIGITS) == 0;
}

static int count_folder(const struct member *member, const struct log *log, struct named_counts *counts)
{
        _cleanup_free_ char *text = malloc(UNPACKED_MAX);
        _cleanup_close_ int fd = open(member->where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct dirent **entries = NULL;
        size_t clients = 0;
        int n, err = 0;

        if (!text)
                return -ENOMEM;
        n = fd < 0 ? -1 : portable_scandir(fd, &entries, choose_uploads, alphasort);
        if (n < 0) {
                err = -errno;
                log_error(log, "%s cannot be read: %s", member->where, strerror(errno));
                return err;
        }
        for (int i = 0; i < n; i++) {
                bool newest = i + 1 == n || !same_client(entries[i]->d_name, entries[i + 1]->d_name);

                if (!err && newest && clients++ < FOLDER_CLIENTS_MAX)
                        err = count_file(counts, fd, entries[i]->d_name, text);
        }
        for (int i = 0; i < n; i++)
                free(entries[i]);
        free(entries);
        return err;
}

int folder_learn_named(struct member *member, const struct log *log)
{
        _cleanup_(counts_clear) struct named_counts counts = { .n_pairs = 0 };
        struct app_count *app, *next;
        int err = count_folder(member, log, &counts);

        HASH_ITER(hh, counts.apps, app, next) {
                if (!err && app->clients >= FOLDER_CLIENTS_MIN)
                        err = member_add_named(member, app->hash);
        }
        return err == -ENOSPC ? 0 : err;
}

static int write_wish(const struct member *member, const struct log *log)
{
        char text[128];
        _cleanup_free_ char *path = NULL;
        int length = snprintf(text, sizeof(text), "{\"v\":1,\"client\":\"%s\",\"forget\":true}\n", member->client), err;

        if (asprintf(&path, "%s/%s-forget.json", member->where, member->client) < 0)
                return -ENOMEM;
        err = util_write_file(path, text, (size_t)length, 0644);
        if (err)
                log_error(log, "%s cannot be written: %s", path, util_reason(err));
        return err;
}

/* Is it the client's upload, also one that was cut off, or its report? */
static bool is_of_client(const char *name, const char *client)
{
        const char *rest = *name == '.' ? name + 1 : name;

        return same_client(rest, client) && rest[UPLOAD_CLIENT_DIGITS] == '-' && !strstr(rest, "-forget.json") &&
               !strstr(rest, "-forgotten.json");
}

int folder_forget(const struct member *member, const struct log *log, struct place_forgotten *ret)
{
        _cleanup_closedir_ DIR *dir = opendir(member->where);
        struct place_forgotten forgotten = { .samples = (uint64_t)member->sent_samples };
        const struct dirent *entry;
        int err;

        if (!dir) {
                err = -errno;
                log_error(log, "%s cannot be read: %s", member->where, strerror(errno));
                return err;
        }
        while ((entry = readdir(dir))) {
                if (!is_of_client(entry->d_name, member->client))
                        continue;
                if (unlinkat(dirfd(dir), entry->d_name, 0) < 0 && errno != ENOENT) {
                        err = -errno;
                        log_error(log, "%s/%s cannot be removed: %s", member->where, entry->d_name, strerror(errno));
                        return err;
                }
                forgotten.files += is_upload(entry->d_name);
        }
        err = write_wish(member, log);
        if (!err)
                *ret = forgotten;
        return err;
}

bool folder_has_forgotten(const struct member *member, const char *client)
{
        _cleanup_free_ char *path = NULL;

        return asprintf(&path, "%s/.%s-forgotten.json", member->where, client) >= 0 && access(path, F_OK) == 0;
}
