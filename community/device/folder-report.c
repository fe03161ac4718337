/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Finds the report for a folder: the one stored there for this client, or else one made by this machine's
 * joulecast-community.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place-folder.h"
#include "util/ini-text.h"
#include "util/paths.h"
#include "util/util.h"

#define REPORT_MAX (8u << 20) /* bytes */
#define PROGRAM "joulecast-community"
#define DATABASE_NAME "community.db"

static char program_name[] = PROGRAM, load_word[] = "load", report_word[] = "report", database_word[] = "--database",
            client_word[] = "--client", json_word[] = "--json", shared_word[] = "--shared";

/* Reads all of @fd as a text. */
static int read_all(int fd, char **ret)
{
        _cleanup_free_ char *text = malloc(REPORT_MAX);
        size_t length = 0;
        ssize_t n = 1;

        if (!text)
                return -ENOMEM;
        while (n > 0 && length + 1 < REPORT_MAX) {
                n = read(fd, text + length, REPORT_MAX - 1 - length);
                if (n < 0 && errno == EINTR)
                        n = 1;
                else if (n > 0)
                        length += (size_t)n;
        }
        if (n != 0 || memchr(text, '\0', length))
                return n < 0 ? -errno : -EBADMSG;
        text[length] = '\0';
        *ret = TAKE_PTR(text);
        return 0;
}

/* In a build folder, starts the program of the same build. */
static void exec_program(const char *build, char *const argv[])
{
        _cleanup_free_ char *path = NULL;

        if (!build)
                execvp(PROGRAM, argv);
        else if (asprintf(&path, "%s/community/" PROGRAM, build) >= 0)
                execv(path, argv);
        _exit(127);
}

/*
 * Runs a program and returns its output; its messages go to stderr. Returns 0; -ENOENT: it is not installed;
 * -EIO: it failed.
 */
static int run(char *const argv[], char **ret)
{
        _cleanup_free_ char *build = paths_build_root(), *text = NULL;
        int pipe_fds[2], status, err;
        pid_t child;

        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return -errno;
        child = fork();
        if (child == 0) {
                if (dup2(pipe_fds[1], STDOUT_FILENO) < 0)
                        _exit(127);
                exec_program(build, argv);
        }
        close(pipe_fds[1]);
        err = child < 0 ? -errno : read_all(pipe_fds[0], &text);
        close(pipe_fds[0]);
        if (child < 0)
                return err;
        while (waitpid(child, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        if (!err && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
                err = WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -ENOENT : -EIO;
        if (!err)
                *ret = TAKE_PTR(text);
        return err;
}

/* free() the result. Returns 0 or -ENOMEM. */
static int database_path(const char *state, const char *end, char **ret)
{
        const char *name = util_base_name(state);

        return asprintf(ret, "%.*s" DATABASE_NAME "%s", (int)(name - state), state, end) >= 0 ? 0 : -ENOMEM;
}

/* The database is kept, so that only new uploads are loaded next time. */
static int make_report(const struct member *member, const char *state, const struct log *log, char **ret)
{
        _cleanup_free_ char *database = NULL, *client = strdup(member->client), *loaded = NULL;
        int err = client ? database_path(state, "", &database) : -ENOMEM;
        char *const load[] = { program_name, load_word, member->where, shared_word, database_word, database, NULL };
        char *const report[] = { program_name, report_word, database_word, database, client_word, client, json_word,
                                 NULL };

        if (!err)
                err = run(load, &loaded);
        if (!err)
                err = run(report, ret);
        if (err == -ENOENT)
                log_error(log, "%s has no report for this client, and joulecast-community is not installed, which"
                               " would make one",
                          member->where);
        else if (err)
                log_error(log, "joulecast-community makes no report of %s: %s", member->where, util_reason(err));
        return err;
}

int folder_report(const struct member *member, const char *state, const struct log *log, char **ret)
{
        _cleanup_free_ char *path = NULL;
        size_t length;

        if (asprintf(&path, "%s/.%s-report.json", member->where, member->client) < 0)
                return -ENOMEM;
        if (access(path, F_OK) == 0)
                return ini_text_read(path, REPORT_MAX, log, ret, &length);
        return make_report(member, state, log, ret);
}

void folder_report_drop(const char *state)
{
        static const char *const ends[] = { "", "-wal", "-shm", "-journal" };

        for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
                _cleanup_free_ char *path = NULL;

                if (database_path(state, ends[i], &path) == 0)
                        unlink(path);
        }
}
