/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A program that is recorded: its command, its runs, and the files about them. */

#include <stddef.h>

#include "run.h"

/* The folder that a recording is kept in, which is there whole or not at all. */

struct cJSON;
struct recording;

struct folder {
        char *path;    /* as the user named it */
        char *staging; /* beside it, until all is written; NULL: there is none */
        int fd;        /* the staging folder, locked; it counts where @staging does */
        char inside[32]; /* a path to @fd, which stays right whatever others do with the folder around it */
};

/* Also removes what recordings of this name left that were killed. 0; -EEXIST after its sentence: there is one of
 * that name; another negative errno after its sentence. */
int folder_open(const char *path, struct folder *ret);
/* runs/N.folded and runs/N.components.tsv. */
int folder_write_run(const struct folder *folder, size_t number, const struct recording *recording);
int folder_write(const struct folder *folder, const char *name, const char *text, size_t length);
/* Gives it its name. */
int folder_finish(struct folder *folder);
/* Removes what was not finished. */
void folder_clear(struct folder *folder);

struct cJSON;

struct side {
        char **argv;
        struct folder folder;
        struct run *runs;
        size_t n;
        char *calls;    /* calls.tsv; NULL: not counted */
        int64_t frames; /* frames shown in the run that counted calls; -1: not counted */
};

/* Conditions of a recording that both sides have in common. */
struct recorded_how {
        const struct profile *profile;
        const struct tracepoints *tracepoints; /* NULL: they cannot be read */
        bool know_clock;
        const char *script; /* its file; NULL: none */
};

/*
 * Checks the runs. 0; -EBADMSG after its sentence: a run has too few samples, or too many of them without a frame of
 * the program, or the runs ended differently.
 */
int side_check(const struct side *side);
/*
 * Checks whether both did the same, as far as it can be told. 0; -EBADMSG after its sentence: they ended with different
 * exit status. Only warns of differences that may be meant.
 * @script: the script that played the input of both; NULL: none.
 */
int side_compare(const struct side *a, const struct side *b, const char *script);
int side_write(struct side *side, const struct recorded_how *how);
void side_clear(struct side *side);
