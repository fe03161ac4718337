/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Keeps warnings back until the calibration is sure to start: if it is refused, the user gets one sentence,
 * the refusal.
 */

#include <stddef.h>

#include "util/log.h"

struct kept_log {
        struct log behind;  /* the log behind */
        struct kept_sentence {
                enum log_level level;
                char *text;
        } *list;
        size_t n;
};

/* From now on only errors pass @log; @kept must not move. */
void kept_log_begin(struct kept_log *kept, struct log *log);
/* Logs the kept messages, and restores @log. Safe to repeat. */
void kept_log_release(struct kept_log *kept, struct log *log);
void kept_log_drop(struct kept_log *kept);
