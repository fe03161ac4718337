/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The choice to share, and how far that has come: community.json beside usage.db. Where there is none, nothing is shared.
 */

#include <stddef.h>
#include <stdint.h>

#include "community/name-hash.h"
#include "community/upload.h"
#include "setting.h"
#include "util/log.h"
#include "watch.h"

#define MEMBER_TOKEN_DIGITS 64
#define MEMBER_WHERE_MAX 1024
#define MEMBER_NAMED_MAX 4096
#define MEMBER_SETTINGS_MAX 72 /* one an hour, and no longer than polls are kept */

struct member {
        char *where;                           /* a URL without a slash at its end, or an absolute path of a folder */
        char client[UPLOAD_CLIENT_DIGITS + 1]; /* random */
        char token[MEMBER_TOKEN_DIGITS + 1];   /* likewise; what a server knows the client by */
        int64_t joined_ns;                     /* realtime */
        int64_t from_ns;                       /* readings up to here are sent, or are not to be; INT64_MIN: none are */
        int64_t next;                          /* sequence number of the next sample */
        int64_t sent_ns;                       /* last time; 0: never */
        int64_t sent_samples, sent_bytes;      /* in all since then */
        char forgotten[UPLOAD_CLIENT_DIGITS + 1]; /* an id before this one, which a folder was told to forget; "" */
        char (*named)[NAME_HASH_SIZE];          /* apps that may be sent by name, ascending */
        size_t n_named;
        struct setting settings[MEMBER_SETTINGS_MAX]; /* ascending in time */
        size_t n_settings;
        struct watch watches[WATCHES_MAX]; /* what was told to do here, the oldest first */
        size_t n_watches;
};

/* A new client of @where, from now on. 0; -ENOMEM; -EIO: no random numbers. member_clear() it. */
int member_new(const char *where, int64_t now_ns, struct member *ret);
/* New id and token: nothing connects what is sent from now on with what was. 0; -EIO. */
int member_renew(struct member *member, int64_t now_ns);
void member_clear(struct member *member);

/* 0; -ENOMEM; -EINVAL: that is no such file. @ret is written only on success. */
int member_parse(const char *text, struct member *ret);
/* 0; -ENOENT: not joined; another negative errno after a sentence in @log. */
int member_read(const char *path, const struct log *log, struct member *ret);
/* Whole or not at all, for the user alone. 0, or a negative errno after a sentence. */
int member_write(const char *path, const struct member *member, const struct log *log);

/* One more app may be named. 0; -ENOMEM; -ENOSPC: they are too many. */
int member_add_named(struct member *member, const char *hash);
bool member_may_name(const struct member *member, const char *hash);

/* One more, in place of the oldest where they are too many. */
void member_add_setting(struct member *member, const struct setting *setting);
/* The last before @time_ns, of an hour and a half at most; NULL: unknown. */
const struct setting *member_find_setting(const struct member *member, int64_t time_ns);
