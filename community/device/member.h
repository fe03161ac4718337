/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The decision to share, and the state of sharing: community.json beside usage.db. Without the file nothing
 * is shared.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/name-hash.h"
#include "shared/upload.h"
#include "shown.h"
#include "util/log.h"
#include "watch.h"

/*
 * Settings that usage.db does not record. They are read once an hour while the device runs on battery, as
 * they may be different on external power.
 */

#define SETTING_PROFILE_MAX 24

struct setting {
        int64_t time_ns;                    /* realtime */
        char profile[SETTING_PROFILE_MAX];  /* power profile, a word of the kernel's; "": unknown */
        int refresh_hz;                     /* nearest usual rate of the built-in screen; 0: unknown */
        int external;                       /* is an external screen connected? -1: unknown */
};

/* The nearest usual refresh rate. */
int setting_refresh_class(double hz);
void setting_read(int root_fd, int64_t time_ns, struct setting *ret);
/* Is it a word that kernels use for a power profile, an energy preference or a governor? */
bool setting_is_profile(const char *word);

#define MEMBER_TOKEN_DIGITS 64
#define MEMBER_WHERE_MAX 1024
#define MEMBER_NAMED_MAX 4096
#define MEMBER_REFUSED_MAX 280
#define MEMBER_SETTINGS_MAX 72 /* one per hour, for as long as polls are kept */

struct member {
        char *where; /* a URL without a final slash, or an absolute path of a folder */
        char client[UPLOAD_CLIENT_DIGITS + 1]; /* random */
        char token[MEMBER_TOKEN_DIGITS + 1];   /* random; identifies the client to a server */
        int64_t joined_ns;                     /* realtime */
        int64_t from_ns; /* readings before it are sent, or must not be sent; INT64_MIN: no limit */
        int64_t next;                          /* sequence number of the next sample */
        int64_t sent_ns;                       /* last time; 0: never */
        int64_t sent_samples, sent_bytes;      /* totals since joining */
        int64_t refused_ns;                    /* the last upload was refused then; 0: it was not */
        char refused[MEMBER_REFUSED_MAX];      /* the server's status and sentence */
        bool shares_profile;                    /* asked for apart, by `community profile share` */
        char profile_sent[MEMBER_TOKEN_DIGITS + 1]; /* SHA-256 of what was sent of it last; "": nothing */
        char forgotten[UPLOAD_CLIENT_DIGITS + 1]; /* an earlier id that a folder was asked to forget; "" */
        char (*named)[NAME_HASH_SIZE];          /* apps that may be sent by name, ascending by hash */
        size_t n_named;
        struct setting settings[MEMBER_SETTINGS_MAX]; /* ascending in time */
        size_t n_settings;
        struct watch watches[WATCHES_MAX]; /* suggestions for this device, the oldest first */
        size_t n_watches;
        struct shown shown[SHOWN_MAX]; /* findings of the last report, number 1 first */
        size_t n_shown;
};

/* Makes a new client of @where. Returns 0; -ENOMEM; -EIO: no random numbers. End with member_clear(). */
int member_new(const char *where, int64_t now_ns, struct member *ret);
/*
 * Makes a new id and token, so that later uploads cannot be connected with earlier ones. Returns 0 or -EIO.
 */
int member_renew(struct member *member, int64_t now_ns);
void member_clear(struct member *member);

/* Returns 0; -ENOMEM; -EINVAL: it is no such file. @ret is written only on success. */
int member_parse(const char *text, struct member *ret);
/* Returns 0; -ENOENT: not joined; another negative errno after a sentence in @log. */
int member_read(const char *path, const struct log *log, struct member *ret);
/* Writes the file atomically, readable by the user alone. Returns 0, or a negative errno after a sentence. */
int member_write(const char *path, const struct member *member, const struct log *log);

/* Adds an app that may be sent by name. Returns 0; -ENOMEM; -ENOSPC: there are too many. */
int member_add_named(struct member *member, const char *hash);
bool member_may_name(const struct member *member, const char *hash);

/* Adds a setting, and removes the oldest if there are too many. */
void member_add_setting(struct member *member, const struct setting *setting);
/* The last setting before @time_ns, at most an hour and a half old; NULL: unknown. */
const struct setting *member_find_setting(const struct member *member, int64_t time_ns);
