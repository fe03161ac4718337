/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Lines of uploads, from a file or from a client that sends them, into the writer. */

#include "writer.h"

struct intake_counts {
        uint64_t added, known, bad, forgotten; /* samples; bad: lines; clients */
};

struct intake {
        struct writer *writer;
        void (*bad)(void *data, uint64_t line, const char *why); /* a line that is left out, and the end of a sentence */
        /* A header, before it is used. 0; a negative errno ends all. */
        int (*header)(void *data, const struct upload_header *header);
        void *data;
        int64_t from_seq;                 /* what is below is known: a client that sends sends in order */
        struct intake_counts counts;

        uint64_t line;                    /* its number */
        struct upload_header current;
        struct upload_sample *sample;
        struct known_client *client;      /* NULL: no header yet, or a wrong one */
        bool told;                        /* that there is none */
        int64_t seq;
};

/* @ret: with its functions set. -ENOMEM. */
int intake_open(struct intake *intake);
void intake_close(struct intake *intake);
/* The lines that follow are of another upload. */
void intake_begin(struct intake *intake);
/* A line without its end, at most UPLOAD_LINE_MAX bytes; @length SIZE_MAX: it is longer or has a NUL, and is left out. */
int intake_line(struct intake *intake, const char *line, size_t length);
/* All samples are in the database, and the counts are right. */
int intake_flush(struct intake *intake);
