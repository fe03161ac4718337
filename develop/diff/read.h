/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Readers of stacks, with a source file for each format. Each gets text, and adds its stacks to the last run of
 * @stacks; an error is one sentence in the log. The format is recognised by the content of a file.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tree/stacks.h"
#include "util/log.h"

struct calls;
struct work_done;

#define PERF_EVENT_SIZE 64
#define PERF_EVENTS_MAX 16

/* Events of a file of perf script, in the order in which they came. */
struct perf_events {
        char names[PERF_EVENTS_MAX][PERF_EVENT_SIZE];
        size_t n;
};
int perf_events_add(struct perf_events *events, const char *name); /* 0 */

struct read {
        const char *name; /* the file's name for messages; safe to print */
        const struct log *log;
        struct stacks *stacks;
        const char *unit; /* set by the reader: "samples", "nJ", "ns", "bytes", "cycles", "instructions" */
        const char *event; /* the event of perf script that counts; NULL: the first */
        char event_read[PERF_EVENT_SIZE]; /* set by the reader: the one that counted */
        struct perf_events *events; /* only the events of a file of perf script are listed here, and no other file
                                       is read; NULL: stacks are read */
        double seconds; /* added by the reader: for how long a program was recorded; 0: unknown */
        struct calls *calls; /* number of calls of each function, if files count them; NULL: none did */
        struct work_done *work; /* the work that the program did, from folders of joulecast record */
};

/* Logs in the user's language that a file is damaged, or not what it should be. -EBADMSG. @line: 0: none. */
int read_damaged(const struct read *read, size_t line, const char *what);
/* Logs the sentence for an error of a stacks_ or labels_ function, and returns @err. */
int read_failed(const struct read *read, int err);

/* Is it UTF-8 without a NUL? */
bool read_is_text(const char *text, size_t length);

/* Adds a file, or standard input (-), as a run. 0; a negative errno after its sentence. */
int read_file(struct read *read, const char *path);
/*
 * Lists the events of a file of perf script in @ret. Other files, files that cannot be read, and standard input have
 * none.
 */
void read_events(const char *path, struct perf_events *ret);
int read_stream(struct read *read, FILE *file); /* as gzip_unpack() leaves it */

/* Is it code of an interpreter, "/tmp/perf-123.map" or, by perf inject --jit, "jitted-123-4.so"? */
bool read_is_jit(const char *file, size_t length);

/*
 * For the readers: makes the label of a frame from a function and its file of code. It is "function@file";
 * without a name "[unknown]@file", without a file "function". Invalid UTF-8 and unprintable characters become
 * '?'. A label for trie_child(); -ENOMEM; -E2BIG.
 */
int32_t read_label(struct read *read, const char *function, size_t function_length, const char *file,
                   size_t file_length);
/*
 * Adds a stack. Its root is the app's name @root; @labels are from the leaf up. 0; a negative errno after its
 * sentence.
 */
int read_stack(struct read *read, int32_t root, const int32_t *labels, size_t n, double value, double samples);
/*
 * Adds a value at the node where its stack ends. @samples: number of samples that it is the sum of; 0: it is not
 * from samples. 0; a negative errno after its sentence.
 */
int read_add(struct read *read, int32_t node, double value, double samples);
/* Finds the number of samples of the last run, if no reader knew it (samples.c). 0; -ENOMEM. */
int samples_find(struct read *read);
/* Sets the unit in which values of the unit @name are kept, and returns their factor; 0: the unit is unknown. */
double read_unit(struct read *read, const char *name, size_t length);
/* Sets the app's own file of code, if none was set before. 0; a negative errno after its sentence. */
int read_program(struct read *read, const char *path, size_t length);

/* Lines "app;frame;frame count", in pieces that end where a line does. */
struct folded;
int folded_new(struct folded **ret);
void folded_freep(struct folded **folded);
int folded_parse(struct read *read, struct folded *folded, const char *text, size_t length);
int folded_end(struct read *read, const struct folded *folded);

/* The output of `perf script`, in pieces that end where a line does. */
struct perf_script;
bool perf_script_is(const char *text, size_t length);
int perf_script_new(struct perf_script **ret);
void perf_script_freep(struct perf_script **script);
int perf_script_parse(struct read *read, struct perf_script *script, const char *text, size_t length);
int perf_script_end(struct read *read, struct perf_script *script);

/* These formats are parsed with the whole file in memory; _is() gets its beginning. */
bool pprof_is(const char *data, size_t length); /* profile.proto */
int pprof_parse(struct read *read, const char *data, size_t length);
bool cpu_profile_is(const char *data, size_t length); /* the binary profile of gperftools */
int cpu_profile_parse(struct read *read, const char *data, size_t length);
bool callgrind_is(const char *text, size_t length);
int callgrind_parse(struct read *read, const char *text, size_t length);
bool json_stacks_is(const char *text, size_t length); /* one of the next two */
int json_stacks_parse(struct read *read, const char *text, size_t length);

struct json_text;
/* @profiles and @shared: members of the file. */
int speedscope_parse(struct read *read, struct json_text profiles, struct json_text shared);
/* @root: the file; it may hold processes with threads of their own. */
int firefox_parse(struct read *read, struct json_text root);
