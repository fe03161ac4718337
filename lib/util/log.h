/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Messages for people. The library never prints and never exits: its messages
 * go to one handler per context; the level also says whose fault it is.
 */

#include <stdarg.h>
#include <stdbool.h>

enum log_level {
        LOG_LEVEL_ERROR,        /* one sentence: what, where, what to do */
        LOG_LEVEL_WARNING,
        LOG_LEVEL_BUG_FIRMWARE, /* the gauge is wrong */
        LOG_LEVEL_BUG_KERNEL,
        LOG_LEVEL_INFO,
        LOG_LEVEL_DEBUG,
};

typedef void (*log_handler_t)(void *data, enum log_level level, const char *sentence);

struct log {
        log_handler_t handler; /* NULL: silence */
        void *data;
};

/*
 * @format is looked up in the user's language (words.h). @log may be NULL. The sentence has no newline; it
 * is cut at 1024 bytes.
 */
void log_write(const struct log *log, enum log_level level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

#define log_error(log, ...) log_write(log, LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(log, ...) log_write(log, LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_bug_firmware(log, ...) log_write(log, LOG_LEVEL_BUG_FIRMWARE, __VA_ARGS__)
#define log_bug_kernel(log, ...) log_write(log, LOG_LEVEL_BUG_KERNEL, __VA_ARGS__)
#define log_info(log, ...) log_write(log, LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_write(log, LOG_LEVEL_DEBUG, __VA_ARGS__)

/* The programs' handler: stderr, "PROGRAM: sentence"; @data is the program's name. */
void log_to_stderr(void *data, enum log_level level, const char *sentence);
bool log_told_error(void); /* did that print an error? */
void log_tell(void);       /* the program itself has printed why it fails */

/*
 * For the end of a main(): 0; -EIO after its sentence: the output could not be written. A reader that closes the pipe
 * is no error.
 */
int log_flush_stdout(const struct log *log);
