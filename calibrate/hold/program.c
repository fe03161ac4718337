/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "util/util.h"

#define END_PAUSES 400 /* pauses of 5 ms */

static void find_program(const char *name, char *buf, size_t size)
{
        ssize_t length = strchr(name, '/') ? 0 : readlink("/proc/self/exe", buf, size - 1);
        char *slash;

        buf[MAX(length, 0)] = '\0';
        slash = strrchr(buf, '/');
        if (slash) {
                snprintf(slash + 1, size - (size_t)(slash + 1 - buf), "%s", name);
                if (access(buf, X_OK) == 0)
                        return;
        }
        if (!strchr(name, '/')) {
                snprintf(buf, size, "%s/%s", JOULECAST_LIBEXECDIR, name);
                if (access(buf, X_OK) == 0)
                        return;
        }
        snprintf(buf, size, "%s", name);
}

/*
 * A process group of its own: Ctrl-C is for this program. The child ends when its input or its parent does.
 */
static void become(char *const arguments[], int in_fd, int out_fd)
{
        char path[PATH_MAX];
        sigset_t none;

        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (dup2(in_fd, STDIN_FILENO) < 0 || dup2(out_fd, STDOUT_FILENO) < 0)
                _exit(126);
        find_program(arguments[0], path, sizeof(path));
        execvp(path, arguments);
        _exit(127);
}

int program_start(char *const arguments[], struct program *ret)
{
        int down[2], up[2], err = 0;
        pid_t pid;

        fflush(NULL);
        if (pipe2(down, O_CLOEXEC) < 0)
                return -errno;
        if (pipe2(up, O_CLOEXEC) < 0) {
                err = -errno;
                close(down[0]);
                close(down[1]);
                return err;
        }
        pid = fork();
        if (pid == 0)
                become(arguments, down[0], up[1]);
        err = pid < 0 ? -errno : 0;
        close(down[0]);
        close(up[1]);
        if (err) {
                close(down[1]);
                close(up[0]);
                return err;
        }
        *ret = (struct program){ .pid = pid, .to_fd = down[1], .from_fd = up[0] };
        return 0;
}

int program_say(struct program *program, const char *line)
{
        return dprintf(program->to_fd, "%s\n", line) < 0 ? -EPIPE : 0;
}

int program_wait_readable(int fd, int timeout_ms)
{
        struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
        int n;

        do
                n = poll(&poll_fd, 1, timeout_ms);
        while (n < 0 && errno == EINTR);
        return n > 0 ? 0 : n == 0 ? -ETIMEDOUT : -errno;
}

int program_hear(struct program *program, int timeout_ms, char *buf, size_t size)
{
        char *end;

        while (!(end = memchr(program->line, '\n', program->length))) {
                ssize_t n;
                int err = program->length == sizeof(program->line)
                                  ? -EMSGSIZE : program_wait_readable(program->from_fd, timeout_ms);

                if (err)
                        return err;
                n = read(program->from_fd, program->line + program->length,
                         sizeof(program->line) - program->length);
                if (n <= 0 && !(n < 0 && errno == EINTR))
                        return -EPIPE;
                program->length += (size_t)MAX(n, 0);
        }
        snprintf(buf, size, "%.*s", (int)(end - program->line), program->line);
        program->length -= (size_t)(end + 1 - program->line);
        memmove(program->line, end + 1, program->length);
        return 0;
}

bool program_lives(const struct program *program)
{
        siginfo_t info = { 0 };

        return program->pid > 0 &&
               waitid(P_PID, (id_t)program->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

static int wait_some(pid_t pid)
{
        const struct timespec pause = { .tv_nsec = 5000000 };
        int status = 0;

        for (unsigned i = 0; i < END_PAUSES; i++) {
                pid_t ended = waitpid(pid, &status, WNOHANG);

                if (ended == pid)
                        return WIFEXITED(status) ? WEXITSTATUS(status) : -EPIPE;
                if (ended < 0 && errno != EINTR)
                        return -errno;
                nanosleep(&pause, NULL);
        }
        return -ETIMEDOUT;
}

/*
 * The child ends when its pipes close, else it is killed. One stuck in its driver (a hung GPU) is left
 * behind, because restoring the machine must not wait for it.
 */
static int wait_for(pid_t pid)
{
        int status = wait_some(pid);

        if (status != -ETIMEDOUT)
                return status;
        kill(pid, SIGKILL);
        wait_some(pid);
        return -ETIMEDOUT;
}

int program_end(struct program *program)
{
        int status;

        if (program->pid <= 0)
                return -ECHILD;
        closep(&program->to_fd);
        closep(&program->from_fd);
        status = wait_for(program->pid);
        *program = (struct program){ .to_fd = -1, .from_fd = -1 };
        return status;
}
