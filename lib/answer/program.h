/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Becomes a program of joulecast: in the build folder the one of the same build and no other; installed,
 * that of the libexec folder, of the folder that this program is in, or of the PATH. @folder: where the
 * build has it. Returns if there is none.
 */
void program_exec(const char *folder, const char *program, char **argv);

/*
 * The same for a command that the program has: it gets @first, if that is not NULL, and then the words of
 * @argv after the first. Returns an exit code after its sentence if there is none.
 */
int program_become(const char *command, const char *folder, const char *program, const char *first, char **argv);

/*
 * Fills @called with the program's name, or with its path if a shell would not find it. False: this machine lacks it.
 */
bool program_find(const char *program, char *called, size_t size);

#define PROGRAM_WORDS_MAX 16

/* A program and its arguments. The list ends with NULL. */
struct program_words {
        char *list[PROGRAM_WORDS_MAX + 1];
        size_t n;
};

void program_words_clear(struct program_words *words);
/* Returns 0; -ENOMEM; -E2BIG: there are too many. */
int __attribute__((format(printf, 2, 3))) program_words_add(struct program_words *words, const char *format, ...);
/* All words of a list that ends with NULL. Likewise. */
int program_words_add_all(struct program_words *words, const char *const *list);
/* As a line for a shell; free() it. NULL: no memory. */
char *program_words_line(const struct program_words *words);
bool program_words_equal(const struct program_words *a, const struct program_words *b);
/*
 * Runs a program without a shell, and waits for its end. @folder: where the build has it, if it is a program of
 * joulecast (program_exec()); NULL: another program, found in PATH. Returns its exit code, 128 + the number
 * of the signal that ended it, or a negative errno.
 */
int program_run(const char *folder, const struct program_words *words);
