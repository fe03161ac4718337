/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The command that makes a change on this machine, by the programs that it has, without root. */

#include "forecast/advice.h"

/* The user's processes, and their apps. */
struct actions;

int action_list(struct actions **ret); /* 0; -errno */
void action_list_freep(struct actions **actions);

/*
 * @ret: a line for a shell, free() it; NULL: this machine has no program for it. 0; -ENOENT: it cannot be done: the app does
 * not run as this user, is a part of the desktop, or is the terminal that this program runs in; -ENOMEM.
 */
int action_find(const struct actions *actions, const struct advice *advice, char **ret);
