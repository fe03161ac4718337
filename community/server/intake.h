/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Passes the lines of an upload to the writer. They come from a file, or from a client over HTTP. */

#include "writer.h"

struct intake_counts {
        uint64_t added, known, bad, forgotten; /* numbers of samples; bad: of lines; forgotten: of clients */
        uint64_t uses; /* number of apps in use, over all samples */
};

struct intake {
        struct writer *writer;
        /* called for a line that is left out; @why completes a sentence */
        void (*bad)(void *data, uint64_t line, const char *why);
        /* Called with a header before it is used. Returns 0; a negative errno stops the intake. */
        int (*header)(void *data, const struct upload_header *header);
        void *data;
        struct intake_counts counts;

        uint64_t line;                    /* number of the current line */
        struct upload_header current;
        struct upload_sample *sample;
        struct known_client *client;      /* NULL: no header yet, or an invalid one */
        bool told;                        /* the missing header was reported */
        int64_t seq;
};

/* @ret: its functions are set by the caller. Returns 0 or -ENOMEM. */
int intake_open(struct intake *intake);
void intake_close(struct intake *intake);
/* Begins another upload. */
void intake_begin(struct intake *intake);
/*
 * Takes a line without its newline, at most UPLOAD_LINE_MAX bytes. @length SIZE_MAX: the line is too long or
 * contains a NUL, and is left out.
 */
int intake_line(struct intake *intake, const char *line, size_t length);
/* Writes all samples to the database; the counts are exact afterwards. */
int intake_flush(struct intake *intake);
