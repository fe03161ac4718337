/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The numbered findings of the last report that was shown. They are kept in community.json for `act`, and never
 * sent.
 */

#include "findings.h"

#define SHOWN_MAX 64 /* findings with a number */

struct shown {
        enum finding_kind kind;
        char app[UPLOAD_NAME_MAX];
        char value[UPLOAD_TEXT_MAX];
};

/* The same word is in the report, in community.json and in JSON. */
#define SHOWN_DEEDS (FINDING_RESTART + 1)
extern const char *const shown_deeds[SHOWN_DEEDS];

/* Returns how many findings were kept; these have numbers. */
size_t shown_take(const struct findings *findings, struct shown list[SHOWN_MAX]);

struct cJSON;
/* Returns 0 or -EINVAL. */
int shown_from_json(const struct cJSON *json, struct shown *ret);
struct cJSON *shown_json(const struct shown *shown);
