/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Where uploads go: a server, or a folder that is shared in some other way. docs/community.md has what both are told. */

#include <stdint.h>

#include "compose.h"
#include "member.h"
#include "util/log.h"

struct place_receipt {
        int64_t next;          /* sequence number after the last that the other side knows */
        uint64_t added, bad;   /* samples */
};

struct place_forgotten {
        bool confirmed;        /* by the other side: nothing is left */
        uint64_t samples, files; /* files: of a folder */
};

/* A URL or a folder, as it is kept: free() it. 0; -EINVAL, another negative errno; after a sentence. */
int place_check(const char *where, const struct log *log, char **ret);
bool place_is_server(const char *where);

/*
 * All of it arrived: 0, and what is new in @member (apps that may be named) is to be written. Else a negative errno after a
 * sentence; -EAGAIN: later.
 */
int place_send(struct member *member, const struct compose_upload *upload, const struct log *log, struct place_receipt *ret);
/* Which apps may be sent by name, where that can be seen without being told. */
int place_learn_named(struct member *member, const struct log *log);
/* Everything of this client. */
int place_forget(const struct member *member, const struct log *log, struct place_forgotten *ret);
/*
 * A report as JSON; free() it. @state: path of the choice, in whose folder a database of a folder's uploads may be kept. 0;
 * -ENODATA: there is none yet; another negative errno after a sentence.
 */
int place_report(const struct member *member, const char *state, const struct log *log, char **ret);
/* Removes that database, which has this client's samples, too. */
void place_drop_report(const char *state);
/* Did a folder confirm that it forgot that client? */
bool place_has_forgotten(const struct member *member, const char *client);
