/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes all stored data of a client in the format of an upload. */

#include <stdio.h>

#include "database.h"

/* @hex: the client's id, 32 digits. Returns 0; -ENOENT: there is no such client; another negative errno. */
int export_client(struct database *database, const char *hex, FILE *file);
