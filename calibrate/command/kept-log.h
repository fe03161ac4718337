/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What a start has to say waits until it is sure that it will ask: whoever is refused gets one sentence, the
 * refusal, and nothing about a night that will not be.
 */

#include <stddef.h>

#include "util/log.h"

struct kept_log {
        struct log behind;  /* where it goes in the end */
        struct kept_sentence {
                enum log_level level;
                char *text;
        } *list;
        size_t n;
};

/* From now on only errors pass @log; @kept must stay where it is. */
void kept_log_begin(struct kept_log *kept, struct log *log);
/* Says what was kept, and @log is as it was. Safe to repeat. */
void kept_log_release(struct kept_log *kept, struct log *log);
void kept_log_drop(struct kept_log *kept);
