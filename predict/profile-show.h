/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shows a profile for `joulecast profile`. */

#include "app/desktop-entry.h"
#include "model/profile.h"

struct cJSON;

const char *profile_known(const char *text);                                       /* "": "?" */
void profile_add_text(struct cJSON *json, const char *key, const char *text);      /* "": null */

/* Returns an exit code. @path: NULL: the device has no profile of its own. */
int profile_show_json(const struct profile *profile, const char *path);
/*
 * @percent: show percent of the full battery, for 10 s, a MB or each event, in place of mW and mJ.
 * @index: names of apps; NULL: their ids are shown.
 */
int profile_show_table(const struct profile *profile, const char *path, bool percent,
                       const struct desktop_index *index);
