/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdio.h>

#include "app/desktop-entry.h"
#include "learn.h"

/*
 * The results of learning, for people and as JSON. @path: where the profile was written; NULL: nowhere. @index: has the
 * names of apps; NULL: their ids are shown. @traced: it was learnt from a trace, whose spans need not be percents.
 */
void report_print(const struct profile *before, const struct learning *learning, const char *path, bool dry_run,
                  bool traced, const struct desktop_index *index);
struct cJSON *report_json(const struct profile *before, const struct learning *learning, const char *path);
