/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Readers of stacks, a file a format. Each gets text, and adds what it says to the last run of @stacks; what is wrong is one
 * sentence to the log. The format is told by what is in the file.
 */

#include <stdbool.h>
#include <stddef.h>

#include "tree/stacks.h"
#include "util/log.h"

struct calls;
struct work_done;

struct read {
        const char *name; /* of the file, for sentences; safe to print */
        const struct log *log;
        struct stacks *stacks;
        const char *unit; /* set by the reader: "samples", "nJ", "ns", "bytes", "instructions" */
        struct calls *calls; /* of files that count them; NULL: none did */
        struct work_done *work; /* what the program did, of folders of joulecast record */
};

/* A file is damaged, or is none: the sentence is told in the user's language, -EBADMSG. */
int read_damaged(const struct read *read, size_t line, const char *what);
/* Of a stacks_ or labels_ function: tells its sentence, and gives it back. */
int read_failed(const struct read *read, int err);

/* Is it UTF-8 without a NUL? */
bool read_is_text(const char *text, size_t length);

/* Adds a file, or what stands on stdin (-), as a run. 0; a negative errno after its sentence. */
int read_file(struct read *read, const char *path);
int read_fd(struct read *read, int fd);

/*
 * For the readers. A frame of a function in a file of code, as the label "function@file"; without a name "[unknown]@file",
 * without a file "function". What is no UTF-8 or cannot be printed becomes '?'. A label, for trie_child(); -ENOMEM; -E2BIG.
 */
int32_t read_label(struct read *read, const char *function, size_t function_length, const char *file, size_t file_length);
/* Counts a stack, whose root is the app's name @root, and whose labels stand from the leaf up. 0; a negative errno after its sentence. */
int read_stack(struct read *read, int32_t root, const int32_t *labels, size_t n, double value, double samples);
/* Counts what ends at a node, and of how many samples it is the sum: 0 is not from samples. 0; a negative errno after its sentence. */
int read_add(struct read *read, int32_t node, double value, double samples);
/* Sets the unit that values of this kind are kept in. Their factor; 0: it is none that is known. */
double read_unit(struct read *read, const char *name, size_t length);
/* The app's own file, if none was named before. 0; a negative errno after its sentence. */
int read_program(struct read *read, const char *path, size_t length);

/* Lines "app;frame;frame count", in pieces that end where a line does. */
struct folded;
int folded_new(struct folded **ret);
void folded_freep(struct folded **folded);
int folded_parse(struct read *read, struct folded *folded, const char *text, size_t length);

/* What `perf script` prints, in pieces that end where a line does. */
struct perf_script;
bool perf_script_is(const char *text, size_t length);
int perf_script_new(struct perf_script **ret);
void perf_script_freep(struct perf_script **script);
int perf_script_parse(struct read *read, struct perf_script *script, const char *text, size_t length);
int perf_script_end(struct read *read, struct perf_script *script);

/* Of these the whole file is in memory; _is() gets its beginning. */
bool pprof_is(const char *data, size_t length); /* profile.proto */
int pprof_parse(struct read *read, const char *data, size_t length);
bool cpu_profile_is(const char *data, size_t length); /* of gperftools, binary */
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
