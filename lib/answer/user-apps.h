/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The apps that run as this user now, and the command that closes one. */

#include <stdbool.h>

#include "program.h"

struct user_apps;

int user_apps_read(struct user_apps **ret); /* 0; -errno */
void user_apps_freep(struct user_apps **apps);
bool user_apps_has(const struct user_apps *apps, const char *app);

/*
 * @ret: a command that this machine has and that needs no root; no words: the app has too many processes. Free it with
 *       program_words_clear(). 0; -ENOENT: the app does not run as this user, is a part of the desktop, or is the
 *       terminal that this program runs in; -ENOMEM.
 */
int user_apps_close(const struct user_apps *apps, const char *app, struct program_words *ret);
