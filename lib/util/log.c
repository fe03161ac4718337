/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log.h"

#include <errno.h>
#include <stdio.h>

#include "words.h"

void log_write(const struct log *log, enum log_level level, const char *format, ...)
{
        char sentence[1024];
        va_list arguments;

        if (!log || !log->handler)
                return;
        va_start(arguments, format);
        vsnprintf(sentence, sizeof(sentence), words_find(format), arguments);
        va_end(arguments);
        log->handler(log->data, level, sentence);
}

static bool told_error;

void log_tell(void)
{
        told_error = true;
}

bool log_told_error(void)
{
        return told_error;
}

void log_to_stderr(void *data, enum log_level level, const char *sentence)
{
        static const char *const blame[] = {
                [LOG_LEVEL_ERROR] = "",
                [LOG_LEVEL_WARNING] = N_("warning: "),
                [LOG_LEVEL_BUG_FIRMWARE] = N_("firmware bug: "),
                [LOG_LEVEL_BUG_KERNEL] = N_("kernel bug: "),
                [LOG_LEVEL_INFO] = "",
                [LOG_LEVEL_DEBUG] = N_("debug: "),
        };

        if (level == LOG_LEVEL_DEBUG)
                return;
        told_error |= level == LOG_LEVEL_ERROR;
        fprintf(stderr, "%s: %s%s\n", (const char *)data, words_find(blame[level]), sentence);
}

int log_flush_stdout(const struct log *log)
{
        if (!ferror(stdout) && (fflush(stdout) == 0 || errno == EPIPE))
                return 0;
        log_error(log, "the answer could not be written");
        return -EIO;
}
