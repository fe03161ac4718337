/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shared state of the commands of `joulecast community`. */

#include "compose.h"
#include "member.h"
#include "answer/options.h"

struct session {
        struct options options;
        int64_t from_ns;          /* for join: earlier records are not shared */
        const char *from;         /* for join: a time; for profile: a file or a folder of pools; NULL: not given */
        bool now;                 /* for send: do not wait for an opportunity */
        char *database, *state;   /* usage.db, and community.json beside it */
        bool was_root;            /* root ran it, and it became the owner of the database */
        int root_fd;              /* -1: a virtual device */
        struct store *store;      /* NULL until opened */
        struct profile *profile;  /* NULL until opened */
};

/* Finds the files. Root becomes the owner of the database. Returns an exit code after its sentence. */
int session_open(struct session *session);
void session_close(struct session *session);
/* Reads community.json. Returns an exit code after its sentence; CODE_NO_DATA: not joined. */
int session_read_member(const struct session *session, struct member *ret);
/* Opens the database and the profile once. Returns an exit code after its sentence. */
int session_open_files(struct session *session);
/* Makes the next upload of @member. Returns an exit code; CODE_NO_DATA without a sentence: there is none. */
int session_compose(struct session *session, const struct member *member, struct compose_upload *ret);

/* The commands. Each returns an exit code. */
int join_run(struct session *session, const char *where);
int leave_run(struct session *session);
int forget_run(struct session *session);
int preview_run(struct session *session);
int send_run(struct session *session);
int status_run(struct session *session);
int report_run(struct session *session);
int profile_run(struct session *session, const char *word);
/* @number: the finding's; @name: close, limit or update; NULL: the first that fits the finding. */
int act_run(struct session *session, const char *number, const char *name);
/* Refuses root. Returns an exit code. Call it before root becomes the database's owner. */
int act_check_user(void);
/* Sends the card of a member who shares it, if it changed. Returns an exit code. */
int profile_send(struct session *session, struct member *member);
