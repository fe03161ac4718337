/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The command that makes a change on this machine, by the programs that it has, without root. */

#include "forecast/advice.h"
#include "user-apps.h"

/*
 * @ret: a line for a shell, free() it; NULL: this machine has no program for it. 0; -ENOENT: it cannot be
 *       done, as user_apps_close() says; -ENOMEM.
 */
int action_find(const struct user_apps *apps, const struct advice *advice, char **ret);
