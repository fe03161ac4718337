/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "card-folder.h"
#include "fleet.h"
#include "util/portable.h"
#include "util/util.h"

#define NAME_LENGTH (UPLOAD_CLIENT_DIGITS + sizeof(CARD_SUFFIX) - 1)

struct reader {
        struct fleet *fleet;
        const struct log *log;
        int64_t edition_s;
        int folder_fd;
};

static bool is_card(const char *name)
{
        return strlen(name) == NAME_LENGTH && strspn(name, "0123456789abcdef") == UPLOAD_CLIENT_DIGITS &&
               strcmp(name + UPLOAD_CLIENT_DIGITS, CARD_SUFFIX) == 0;
}

static int add(struct reader *reader, const char *name, unsigned network, int64_t since_s,
               struct profile *card)
{
        struct fleet *fleet = reader->fleet;
        struct fleet_card *one;

        if (util_grow(&fleet->cards, &fleet->capacity, fleet->n + 1, sizeof(*fleet->cards)) < 0)
                return -ENOMEM;
        one = &fleet->cards[fleet->n++];
        *one = (struct fleet_card){ .network = network, .since_s = since_s, .card = card };
        memcpy(one->client, name, UPLOAD_CLIENT_DIGITS);
        free(card->covariance); /* is not used, and is by far the largest part of it */
        card->covariance = NULL;
        return 0;
}

/* A file that cannot be used is said, and left out. */
static int read_card(struct reader *reader, int folder_fd, const char *name, unsigned network)
{
        _cleanup_free_ char *text = NULL;
        struct profile *card = NULL;
        size_t length;
        char client[UPLOAD_CLIENT_DIGITS + 1] = "";
        int64_t since_s;
        int err;

        memcpy(client, name, UPLOAD_CLIENT_DIGITS);
        if (card_folder_is_quarantined(reader->folder_fd, client)) {
                reader->fleet->quarantined++;
                return 0;
        }
        err = card_read_file(folder_fd, name, CARD_BYTES_MAX, &since_s, &text, &length);

        if (err == -ENOMEM)
                return err;
        if (!err && since_s > reader->edition_s - FLEET_AGE_S) {
                reader->fleet->young++;
                return 0;
        }
        if (err)
                log_warning(reader->log, "%s: cannot be read, and is left out: %s", name, util_reason(err));
        else
                err = card_read(text, length, name, reader->log, &card);
        if (err == -ENOMEM)
                return err;
        if (err) {
                reader->fleet->bad++;
                return 0;
        }
        err = add(reader, name, network, since_s, card);
        if (err)
                profile_free(card);
        return err;
}

static int visible(const struct dirent *entry)
{
        return entry->d_name[0] != '.';
}

static int read_folder(struct reader *reader, int parent_fd, const char *path, bool inner)
{
        _cleanup_close_ int fd =
                openat(parent_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (inner ? O_NOFOLLOW : 0));
        struct dirent **entries = NULL;
        int n = fd < 0 ? -1 : portable_scandir(fd, &entries, visible, alphasort), err = 0;
        unsigned network = reader->fleet->networks++;

        if (!inner)
                reader->folder_fd = fd;
        if (n < 0) {
                err = -errno;
                if (!inner)
                        log_error(reader->log, "%s: cannot be read: %s", path, util_reason(err));
                return inner && err != -ENOMEM ? 0 : err;
        }
        for (int i = 0; i < n; i++) {
                const char *name = entries[i]->d_name;
                struct stat status;

                if (!err && is_card(name) && reader->fleet->n < FLEET_CARDS_MAX)
                        err = read_card(reader, fd, name, network);
                else if (!err && !inner && fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                         S_ISDIR(status.st_mode))
                        err = read_folder(reader, fd, name, true);
                free(entries[i]);
        }
        free(entries);
        return err;
}

static int by_client(const void *a, const void *b)
{
        const struct fleet_card *x = a, *y = b;
        int order = strcmp(x->client, y->client);

        order = order ? order : (x->since_s > y->since_s) - (x->since_s < y->since_s);
        return order ? order : (x->network > y->network) - (x->network < y->network);
}

/* Who moved from one network to another counts once. */
static void drop_twice(struct fleet *fleet)
{
        size_t n = 0;

        if (fleet->n > 0)
                qsort(fleet->cards, fleet->n, sizeof(*fleet->cards), by_client);
        for (size_t i = 0; i < fleet->n; i++) {
                if (n > 0 && strcmp(fleet->cards[n - 1].client, fleet->cards[i].client) == 0) {
                        profile_free(fleet->cards[i].card);
                        fleet->twice++;
                } else {
                        fleet->cards[n++] = fleet->cards[i];
                }
        }
        fleet->n = n;
}

int fleet_read(const char *folder, int64_t edition_s, const struct log *log, struct fleet *ret)
{
        struct reader reader = { .fleet = ret, .log = log, .edition_s = edition_s };
        int err;

        *ret = (struct fleet){ .n = 0 };
        err = read_folder(&reader, AT_FDCWD, folder, false);
        if (err)
                fleet_clear(ret);
        else
                drop_twice(ret);
        return err;
}

void fleet_clear(struct fleet *fleet)
{
        for (size_t i = 0; i < fleet->n; i++)
                profile_free(fleet->cards[i].card);
        free(fleet->cards);
        *fleet = (struct fleet){ .n = 0 };
}
