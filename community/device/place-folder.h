/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shares through a folder. */

#include "place.h"

#define FOLDER_CLIENTS_MIN 5     /* clients with an app before it is named */
#define FOLDER_CLIENTS_MAX 5000  /* most clients that are read */
#define FOLDER_POOLS "pools"     /* where who runs `joulecast-community pool` puts them */

int folder_send(struct member *member, const struct compose_upload *upload, const struct log *log,
                struct place_receipt *ret);
int folder_learn_named(struct member *member, const struct log *log);
int folder_forget(const struct member *member, const struct log *log, struct place_forgotten *ret);
int folder_send_card(const struct member *member, const char *text, const struct log *log);
/* folder-report.c */
int folder_report(const struct member *member, const char *state, const struct log *log, char **ret);
void folder_report_drop(const char *state);
bool folder_has_forgotten(const struct member *member, const char *client);
