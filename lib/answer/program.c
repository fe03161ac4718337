/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "util/paths.h"
#include "util/text.h"
#include "util/util.h"

/* Replaces this process, if there is such a file. */
static void try_exec(const char *folder, const char *middle, const char *program, char **argv)
{
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/%s%s%s", folder, middle, *middle ? "/" : "", program) >= 0)
                execv(path, argv);
}

void program_exec(const char *folder, const char *program, char **argv)
{
        _cleanup_free_ char *build = paths_build_root(), *installed = NULL;
        char exe[PATH_MAX], *slash;
        ssize_t length;

        if (build) {
                try_exec(build, folder, program, argv);
                return;
        }
        length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
        exe[length > 0 ? length : 0] = '\0';
        slash = strrchr(exe, '/');
        installed = paths_installed(JOULECAST_LIBEXECDIR);
        if (installed)
                try_exec(installed, "", program, argv);
        if (slash) {
                *slash = '\0';
                try_exec(exe, "", program, argv);
        }
        execvp(program, argv);
}

/* Distributions have the programs of these folders in packages of their own, but for joulecast-fit, which learns. */
static const char *package_of(const char *folder, const char *program)
{
        static const char *const own[][2] = { { "develop", "joulecast-develop" },
                                              { "calibrate", "joulecast-calibrate" },
                                              { "focus", "joulecast-focus" } };

        for (size_t i = 0; i < ARRAY_SIZE(own); i++)
                if (strcmp(basename(folder), own[i][0]) == 0 && strcmp(program, "joulecast-fit") != 0)
                        return own[i][1];
        return "joulecast";
}

int program_become(const char *command, const char *folder, const char *program, const char *first, char **argv)
{
        _cleanup_free_ char *name = strdup(program), *word = first ? strdup(first) : NULL;
        _cleanup_free_ char **words = NULL;
        size_t n = 0, start = 0;

        while (argv[n])
                n++;
        words = calloc(n + 3, sizeof(*words));
        if (!name || !words || (first && !word))
                return CODE_FAILED;
        words[start++] = name;
        if (first)
                words[start++] = word;
        for (size_t i = 1; i < n; i++)
                words[start++] = argv[i];
        program_exec(folder, program, words);
        log_error(&program_log, "%s: cannot run %s: %s; was it built and installed? Distributions have it in the "
                  "package %s", command, program, strerror(errno), package_of(folder, program));
        return CODE_FAILED;
}

static bool can_run(const char *folder, size_t length, const char *program, char *path, size_t size)
{
        return snprintf(path, size, "%.*s/%s", (int)length, folder, program) < (int)size && access(path, X_OK) == 0;
}

bool program_find(const char *program, char *called, size_t size)
{
        static const char *const folders[] = { "/usr/sbin", "/sbin" };
        const char *path = getenv("PATH");

        for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
                size_t length = strcspn(at, ":");

                if (length > 0 && can_run(at, length, program, called, size)) {
                        snprintf(called, size, "%s", program);
                        return true;
                }
                at += length + (at[length] == ':');
        }
        for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
                if (can_run(folders[i], strlen(folders[i]), program, called, size))
                        return true;
        return false;
}

void program_words_clear(struct program_words *words)
{
        for (size_t i = 0; i < words->n; i++)
                free(words->list[i]);
        *words = (struct program_words){ .n = 0 };
}

int program_words_add(struct program_words *words, const char *format, ...)
{
        va_list arguments;
        int length;

        if (words->n == PROGRAM_WORDS_MAX)
                return -E2BIG;
        va_start(arguments, format);
        length = vasprintf(&words->list[words->n], format, arguments);
        va_end(arguments);
        if (length < 0) {
                words->list[words->n] = NULL;
                return -ENOMEM;
        }
        words->n++;
        return 0;
}

int program_words_add_all(struct program_words *words, const char *const *list)
{
        int err = 0;

        for (; !err && *list; list++)
                err = program_words_add(words, "%s", *list);
        return err;
}

/* Quoted where a shell would read it otherwise. */
static void print_word(FILE *stream, const char *word)
{
        if (*word && util_only_has(word, "-_.:@/%+,=")) {
                fputs(word, stream);
                return;
        }
        fputc('\'', stream);
        for (const char *c = word; *c; c++)
                if (*c == '\'')
                        fputs("'\\''", stream);
                else
                        fputc(*c, stream);
        fputc('\'', stream);
}

char *program_words_line(const struct program_words *words)
{
        struct text_kept kept;
        FILE *stream = text_open(&kept);

        for (size_t i = 0; stream && i < words->n; i++) {
                if (i > 0)
                        fputc(' ', stream);
                print_word(stream, words->list[i]);
        }
        return stream ? text_close(stream, &kept) : NULL;
}

bool program_words_equal(const struct program_words *a, const struct program_words *b)
{
        if (a->n != b->n)
                return false;
        for (size_t i = 0; i < a->n; i++)
                if (strcmp(a->list[i], b->list[i]) != 0)
                        return false;
        return true;
}

int program_run(const char *folder, const struct program_words *words)
{
        char **argv = (char **)words->list;
        int status;
        pid_t child = fork();

        if (child < 0)
                return -errno;
        if (child == 0) {
                if (folder)
                        program_exec(folder, argv[0], argv);
                else
                        execvp(argv[0], argv);
                _exit(127);
        }
        while (waitpid(child, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
