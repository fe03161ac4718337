/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One of our programs as a child: its output, its end, and one that no signal ends, as if a driver or a dead disk held
 * it; for that the linker's --wrap simulates a child that never ends, and time that does not pass.
 */

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "hold/program.h"

pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

static bool stuck, blocked;

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
        if (!stuck)
                return __real_waitpid(pid, status, options);
        blocked = blocked || !(options & WNOHANG);
        errno = ECHILD; /* else this test would wait for ever, too */
        return options & WNOHANG ? 0 : -1;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
        return stuck ? 0 : clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

static struct program start(const char *script)
{
        char *const arguments[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };
        struct program program = { 0 };

        check_int(program_start(arguments, &program), 0);
        return program;
}

static void talks(void)
{
        struct program program = start("while read -r word; do echo \"<$word>\"; done; exit 3");
        char line[16];

        check_int(program_hear(&program, 10, line, sizeof(line)), -ETIMEDOUT);
        check_int(program_say(&program, "one"), 0);
        check_int(program_say(&program, "two"), 0);
        check_int(program_hear(&program, 5000, line, sizeof(line)), 0);
        check_text(line, "<one>");
        check_int(program_hear(&program, 5000, line, sizeof(line)), 0);
        check_text(line, "<two>");
        check(program_lives(&program));
        check_int(program_end(&program), 3);
        check(!program_lives(&program));
        check_int(program_end(&program), -ECHILD);
}

static void cannot_be_ended(void)
{
        struct program program = start("exec sleep 1000");
        pid_t pid = program.pid;

        stuck = true;
        check_int(program_end(&program), -ETIMEDOUT);
        check(!blocked);
        check_int(program.pid, 0);
        stuck = false;
        check_int(waitpid(pid, NULL, 0), pid); /* it was killed */
}

int main(void)
{
        signal(SIGPIPE, SIG_IGN);
        talks();
        cannot_be_ended();
        return check_result();
}
