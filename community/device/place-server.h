/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shares with a server over HTTP. */

#include "place.h"

int server_check(const char *where, const struct log *log, char **ret);
int server_send(struct member *member, const struct compose_upload *upload, const struct log *log,
                struct place_receipt *ret);
int server_forget(const struct member *member, const struct log *log, struct place_forgotten *ret);
int server_send_card(const struct member *member, const char *text, const struct log *log);
int server_pool(const struct member *member, const char *file, const struct log *log, char **ret);
int server_report(const struct member *member, const struct log *log, char **ret);
