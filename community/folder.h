/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A folder that devices share, in the place of a server. */

#include "database.h"

/**
 * folder_answer() - load a folder's uploads, forget who asks for it, and write a report for each client
 *
 * Return: 0; a negative errno. The log has a sentence.
 */
int folder_answer(struct database *database, const char *folder);
