/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kept-log.h"

#include <stdlib.h>
#include <string.h>

static void keep(void *data, enum log_level level, const char *sentence)
{
        struct kept_log *kept = data;
        struct kept_sentence *list = NULL;
        char *text = level == LOG_LEVEL_ERROR ? NULL : strdup(sentence);

        if (text)
                list = realloc(kept->list, (kept->n + 1) * sizeof(*list));
        if (!list) { /* an error, or no memory */
                free(text);
                kept->behind.handler(kept->behind.data, level, sentence);
                return;
        }
        kept->list = list;
        kept->list[kept->n++] = (struct kept_sentence){ level, text };
}

void kept_log_begin(struct kept_log *kept, struct log *log)
{
        *kept = (struct kept_log){ .behind = *log };
        *log = (struct log){ .handler = keep, .data = kept };
}

void kept_log_release(struct kept_log *kept, struct log *log)
{
        if (log->handler != keep)
                return;
        *log = kept->behind;
        for (size_t i = 0; i < kept->n; i++)
                log->handler(log->data, kept->list[i].level, kept->list[i].text);
        kept_log_drop(kept);
}

void kept_log_drop(struct kept_log *kept)
{
        for (size_t i = 0; i < kept->n; i++)
                free(kept->list[i].text);
        free(kept->list);
        kept->list = NULL;
        kept->n = 0;
}
