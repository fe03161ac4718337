/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * `--follow`: answers each observation with what it is worth and which mode should come next (observation.h).
 */

#include "portfolio.h"

struct cJSON;
struct follow;

int follow_new(struct follow **ret);
void follow_free(struct follow *follow);

/* One line's answer, never NULL but without memory; @end tells that the line was the last. */
struct cJSON *follow_answer(struct follow *follow, const char *line, bool *end);
