/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What `joulecast diff` answers, for people and for programs. */

#include "comparison.h"

struct cJSON;

struct cJSON *answer_json(const struct comparison *comparison);
void answer_table(const struct comparison *comparison, int alpha);
