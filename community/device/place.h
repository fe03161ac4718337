/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The destination of uploads: a server, or a folder that is shared in some other way. community/METHOD.md
 * describes the protocols of both.
 */

#include <stdint.h>

#include "compose.h"
#include "member.h"
#include "util/log.h"

struct place_receipt {
        int64_t next;          /* sequence number after the last one that the destination knows */
        uint64_t added, bad;   /* numbers of samples */
};

struct place_forgotten {
        bool confirmed;        /* the destination confirmed that nothing is left */
        uint64_t samples, files; /* numbers of removed samples and files; files: only for a folder */
};

/*
 * Returns the URL or folder in the form that is stored; free() it. Returns 0; -EINVAL or another negative
 * errno after a sentence.
 */
int place_check(const char *where, const struct log *log, char **ret);
bool place_is_server(const char *where);

/*
 * Sends an upload. Returns 0 if all of it arrived; then @member may have new apps that may be named, and must
 * be written. Returns a negative errno after a sentence; -EAGAIN: try later. If it was refused, @member has that, and
 * must be written, too.
 */
int place_send(struct member *member, const struct compose_upload *upload, const struct log *log,
               struct place_receipt *ret);
/* Finds the apps that may be sent by name, if the destination shows that without being asked. */
int place_learn_named(struct member *member, const struct log *log);
/* Removes all data of this client. */
int place_forget(const struct member *member, const struct log *log, struct place_forgotten *ret);
/*
 * Gets the report as JSON; free() it. @state: path of community.json, beside which a database of a folder's
 * uploads may be kept. Returns 0; -ENODATA: there is none yet; another negative errno after a sentence.
 */
int place_report(const struct member *member, const char *state, const struct log *log, char **ret);
/* Removes that database, which also contains this client's samples. */
void place_drop_report(const char *state);
/* Shares the text of a card (shared/card.h), in place of an earlier one. 0; a negative errno after a sentence. */
int place_send_card(const struct member *member, const char *text, const struct log *log);
/*
 * Gets a pool by the name of its file; free() it. 0; -ENODATA: there is none; another negative errno after a
 * sentence.
 */
int place_pool(const struct member *member, const char *file, const struct log *log, char **ret);
/* The same from a folder. */
int place_pool_from(const char *folder, const char *file, const struct log *log, char **ret);
/* Did the folder confirm that it forgot this client? */
bool place_has_forgotten(const struct member *member, const char *client);
