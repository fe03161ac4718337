/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* All that is kept of a client, as an upload. */

#include <stdio.h>

#include "database.h"

/* @hex: its 32 digits. 0; -ENOENT: there is no such client; another negative errno. */
int export_client(struct database *database, const char *hex, FILE *file);
