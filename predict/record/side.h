/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A program that is recorded: its command, its runs, and what is written of them. */

#include "folder.h"
#include "run.h"

struct cJSON;

struct side {
        char **argv;
        struct folder folder;
        struct run *runs;
        size_t n;
        char *calls;    /* calls.tsv; NULL: not counted */
        int64_t frames; /* shown in the run that counted calls; -1: not counted */
};

/* What both sides have in common. */
struct recorded_how {
        const struct profile *profile;
        const struct tracepoints *tracepoints; /* NULL: they cannot be read */
        bool know_clock;
        const char *script; /* its file; NULL: none */
};

/* 0; -EBADMSG after its sentence: too many samples have no frame of the program. */
int side_check(const struct side *side);
/*
 * Did both do the same, as far as it can be told? 0; -EBADMSG after its sentence. Differences that may be meant are warned of.
 * @script: that played the input of both; NULL: none.
 */
int side_compare(const struct side *a, const struct side *b, const char *script);
int side_write(struct side *side, const struct recorded_how *how);
void side_clear(struct side *side);
