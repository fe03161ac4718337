/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "child.h"
#include "util/units.h"
#include "util/util.h"

/* Where the socket is: programs look for it there, and as root there is none. */
static void set_runtime_folder(const char *socket)
{
        const char *slash = strrchr(socket, '/');
        char folder[PATH_MAX];

        if (slash && snprintf(folder, sizeof(folder), "%.*s", (int)(slash - socket), socket) < (int)sizeof(folder))
                setenv("XDG_RUNTIME_DIR", folder, 1);
}

/* Python looks for modules there first, and finds what names its functions (develop/python), beside this program. */
static void name_python(void)
{
        const char *before = getenv("PYTHONPATH");
        char program[PATH_MAX], path[2 * PATH_MAX];
        ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

        if (length <= 0 || (before && strlen(before) >= PATH_MAX))
                return;
        program[length] = '\0';
        *strrchr(program, '/') = '\0';
        snprintf(path, sizeof(path), "%s/python%s%s", program, before ? ":" : "", before ? before : "");
        setenv("PYTHONPATH", path, 1);
}

static void take_place(const struct child_place *place)
{
        if (place->terminal && (setsid() < 0 || ioctl(place->fds[0], TIOCSCTTY, 0) < 0))
                _exit(126);
        for (int i = 0; i < 3; i++)
                if (place->fds[i] >= 0 && dup2(place->fds[i], i) < 0)
                        _exit(126);
        if (place->display)
                setenv("DISPLAY", place->display, 1);
        if (place->display)
                unsetenv("WAYLAND_DISPLAY"); /* or it would open its windows on ours */
        if (place->wayland) {
                setenv("WAYLAND_DISPLAY", place->wayland, 1);
                set_runtime_folder(place->wayland);
                setenv("XDG_SESSION_TYPE", "wayland", 1);
                unsetenv("DISPLAY");
        }
}

/* In the child. */
static _Noreturn void become(char *const argv[], const struct child_place *place, int go_fd, int failed_fd)
{
        char go;
        sigset_t none;
        int err;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        take_place(place);
        name_python();
        if (read(go_fd, &go, 1) != 1)
                _exit(126);
        execvp(argv[0], argv);
        err = errno;
        if (write(failed_fd, &err, sizeof(err)) != sizeof(err))
                _exit(126);
        _exit(127);
}

int child_start(char *const argv[], const struct child_place *place, struct child *ret)
{
        int go[2], failed[2];
        struct child child = { .pid = -1, .go_fd = -1, .failed_fd = -1, .pid_fd = -1 };

        *ret = child;
        if (pipe2(go, O_CLOEXEC) < 0)
                return -errno;
        if (pipe2(failed, O_CLOEXEC) < 0) {
                int err = -errno;

                close(go[0]);
                close(go[1]);
                return err;
        }
        child.pid = fork();
        if (child.pid == 0) {
                close(go[1]);
                become(argv, place, go[0], failed[1]);
        }
        close(go[0]);
        close(failed[1]);
        child.go_fd = go[1];
        child.failed_fd = failed[0];
        if (child.pid > 0)
                child.pid_fd = (int)syscall(SYS_pidfd_open, child.pid, 0);
        *ret = child;
        return child.pid < 0 || child.pid_fd < 0 ? -errno : 0;
}

int child_go(struct child *child)
{
        int err = 0;
        ssize_t got;

        child->start_ns = util_clock_ns(CLOCK_MONOTONIC);
        if (write(child->go_fd, "", 1) != 1)
                return -EPIPE;
        do {
                got = read(child->failed_fd, &err, sizeof(err)); /* ends when it runs */
        } while (got < 0 && errno == EINTR);
        return got == sizeof(err) ? -err : 0;
}

static uint64_t read_field(const char *text, const char *name)
{
        const char *at = strstr(text, name);

        return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Reads the bytes that a process read and wrote, after it has ended and before it is reaped. */
static void read_io(pid_t pid, struct child_result *result)
{
        char path[48], text[512];

        snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
        if (util_read_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
                return;
        result->read_bytes = read_field(text, "rchar: ");
        result->written_bytes = read_field(text, "wchar: ");
        result->storage_bytes = read_field(text, "\nwrite_bytes: ");
}

static double seconds(const struct timeval *time)
{
        return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

int child_wait(struct child *child, struct child_result *ret)
{
        struct child_result result = { 0 };
        struct rusage usage;
        siginfo_t info;
        int status;

        while (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT) < 0)
                if (errno != EINTR)
                        return -errno;
        result.wall_s = (double)(util_clock_ns(CLOCK_MONOTONIC) - child->start_ns) / NS_PER_S;
        read_io(child->pid, &result);
        if (wait4(child->pid, &status, 0, &usage) < 0)
                return -errno;
        child->pid = -1;
        result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        result.cpu_s = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
        *ret = result;
        return 0;
}

void child_end(struct child *child)
{
        if (child->pid > 0) {
                kill(child->pid, SIGKILL);
                while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        closep(&child->go_fd);
        closep(&child->failed_fd);
        closep(&child->pid_fd);
}
