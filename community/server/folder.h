/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Exchange through a folder that devices share, instead of a server. */

#include "database.h"

/**
 * folder_answer() - process a shared folder: load uploads, carry out requests to forget, write reports
 *
 * Each client of the folder gets a report of its own.
 *
 * Return: 0; a negative errno. The log has a sentence.
 */
int folder_answer(struct database *database, const char *folder);
