/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the actions of `joulecast community` work on. */

#include "compose.h"
#include "member.h"
#include "options.h"

struct session {
        struct options options;
        int64_t from_ns;          /* of join: what was recorded before is not shared */
        bool now;                 /* of send: whether it is the time or not */
        char *database, *state;   /* usage.db, and community.json beside it */
        int root_fd;              /* -1: a virtual device */
        struct store *store;      /* once it was opened */
        struct profile *profile;  /* likewise */
};

/* Finds the files. Root becomes the owner of the database. An exit code, after its sentence. */
int session_open(struct session *session);
void session_close(struct session *session);
/* The choice. An exit code after its sentence; CODE_NO_DATA: not joined. */
int session_read_member(const struct session *session, struct member *ret);
/* The database and the profile, once. An exit code after its sentence. */
int session_open_files(struct session *session);
/* The next upload of @member. An exit code, CODE_NO_DATA without a sentence: there is none. */
int session_compose(struct session *session, const struct member *member, struct compose_upload *ret);

/* The actions. Each returns an exit code. */
int join_run(struct session *session, const char *where);
int leave_run(struct session *session);
int forget_run(struct session *session);
int preview_run(struct session *session);
int send_run(struct session *session);
int status_run(struct session *session);
int report_run(struct session *session);
