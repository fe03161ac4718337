/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* `--follow`: replies to each observation with the precision so far and the next mode (observation.h). */

#include "portfolio.h"

struct cJSON;
struct follow;

int follow_new(struct follow **ret);
void follow_free(struct follow *follow);

/* Reply to one line; NULL without memory. @end: it was the last line. */
struct cJSON *follow_answer(struct follow *follow, const char *line, bool *end);
