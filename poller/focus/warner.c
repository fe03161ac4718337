/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "helper.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

uint64_t warner_deadline(const struct warner *warner)
{
        return warner->every_s > 0 ? warner->next_ns : UINT64_MAX;
}

/* Finds the program of the same build, or the installed one. */
static char *find_program(void)
{
        _cleanup_free_ char *build = paths_build_root(), *installed = paths_installed(JOULECAST_BINDIR);
        char *path = NULL;

        if (!installed || asprintf(&path, "%s/%sjoulecast", build ? build : installed, build ? "predict/" : "") < 0)
                return NULL;
        return path;
}

/* Its output is discarded, as it notifies the user on the desktop. */
static int spawn(const char *program, pid_t *ret)
{
        char *const arguments[] = { (char *)"joulecast", (char *)"warn", (char *)"--notify", NULL };

        return helper_start(program, arguments, &(struct helper_options){ .stdin_fd = -1, .quiet = true }, ret);
}

void warner_run(struct warner *warner, uint64_t now_ns)
{
        _cleanup_free_ char *program = NULL;
        int err;

        if (warner->pid > 0 && waitpid(warner->pid, NULL, WNOHANG) != 0)
                warner->pid = 0;
        if (!(warner->every_s > 0) || now_ns < warner->next_ns)
                return;
        if (warner->next_ns > 0 && warner->pid == 0) {
                program = find_program();
                err = program ? spawn(program, &warner->pid) : -ENOMEM;
                if (err) {
                        warner->pid = 0;
                        warner->every_s = 0;
                        log_warning(warner->log, "there are no warnings: cannot run joulecast warn: %s",
                                    strerror(-err));
                }
        }
        warner->next_ns = now_ns + (uint64_t)(warner->every_s * (double)NS_PER_S);
}
