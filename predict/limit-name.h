/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Finds the app that `joulecast limit` names, among running and recorded apps, and checks whether it can be limited.
 */

#include "app/app-units.h"
#include "limit/limit-wish.h"
#include "options.h"

/*
 * The id of the app that @asked names. CODE_OK, or an exit code after its sentence. @limited: only limited apps are
 * considered.
 */
int limit_name_find(const struct options *options, const struct limit_wishes *wishes, bool limited,
                    const char *asked, char *app);

/* CODE_OK, also where it does not run now; CODE_FAILED after a sentence. */
int limit_name_check(const char *app, bool *runs);
