/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "page.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer/options.h"
#include "util/own-folder.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/util.h"

int page_write(const char *path, const char *text)
{
        char printable[256];
        int err;

        if (!path || strcmp(path, "-") == 0) {
                fputs(text, stdout);
                return log_flush_stdout(&program_log) < 0 ? CODE_FAILED : CODE_OK;
        }
        err = util_write_file(path, text, strlen(text), 0644);
        if (!err && isatty(STDOUT_FILENO))
                table_text(TABLE_PLAIN, "The page is in %s.", util_printable(path, printable, sizeof(printable)));
        if (err < 0)
                log_error(&program_log, "%s: the page cannot be written: %s",
                          util_printable(path, printable, sizeof(printable)), util_reason(err));
        return err < 0 ? CODE_FAILED : CODE_OK;
}

/* Waits for the program, which starts a browser and ends. */
static bool show(const char *program, const char *path)
{
        char *const arguments[] = { (char *)program, (char *)path, NULL };
        int status;
        pid_t pid;

        if (posix_spawnp(&pid, program, NULL, NULL, arguments, environ) != 0)
                return false;
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return false;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int page_open(const char *text)
{
        _cleanup_free_ char *path = NULL;
        char printable[256];
        int err = paths_page(&path);

        if (!err)
                err = util_make_parent(path, 0700);
        if (err < 0) {
                log_error(&program_log, "there is no folder for the page: %s; use -o FILE", own_folder_why(err));
                return CODE_FAILED;
        }
        if (page_write(path, text) != CODE_OK)
                return CODE_FAILED;
        fflush(stdout);
        if (show("xdg-open", path))
                return CODE_OK;
        log_error(&program_log, "xdg-open (of xdg-utils) could not show %s; open that file in a browser",
                  util_printable(path, printable, sizeof(printable)));
        return CODE_FAILED;
}
