/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/**
 * steam_name() - find the name of an installed game
 * @folders: ':'-separated data folders; homes of users are searched, too
 * @ret:     printable
 *
 * Return: false if no manifest has it.
 */
bool steam_name(int root_fd, const char *folders, unsigned number, char *ret, size_t size);
