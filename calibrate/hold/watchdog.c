/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "desktop/scope.h"
#include "settings.h"
#include "util/log.h"
#include "util/util.h"

/* Tries every 10 ms: a process stuck on a dead disk must not delay the restore. */
#define ORPHAN_TRIES 200

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP };

static void fill_signals(sigset_t *set)
{
        sigemptyset(set);
        sigaddset(set, SIGCHLD);
        for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
                sigaddset(set, forwarded[i]);
}

/*
 * A group of its own, so that the terminal's signals arrive through the watchdog; it may still write to the
 * terminal.
 */
static void become_worker(pid_t watchdog, const sigset_t *mask)
{
        setpgid(0, 0);
        signal(SIGTTOU, SIG_IGN);
        sigprocmask(SIG_SETMASK, mask, NULL);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != watchdog) /* the watchdog died before prctl() */
                raise(SIGTERM);
}

/* Waits for the worker. A signal is passed on once, so that the worker can end in order. */
static int wait_for(pid_t worker, const sigset_t *set)
{
        int result = 0;

        for (;;) {
                int number;

                if (waitpid(worker, &result, WNOHANG) == worker)
                        return result;
                number = sigwaitinfo(set, NULL);
                if (number > 0 && number != SIGCHLD)
                        kill(worker, number);
        }
}

/*
 * Children of the worker (loads, the fit) normally die with it. Those that did not become ours, and must not
 * go on drawing power.
 */
static void end_orphans(void)
{
        char path[64], text[4096], *at, *end;

        snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
        for (int i = 0; i < ORPHAN_TRIES; i++) {
                while (waitpid(-1, NULL, WNOHANG) > 0)
                        ;
                if (util_read_at(-1, path, text, sizeof(text)) <= 0)
                        return;
                for (at = text; *at; at = end) {
                        long pid = strtol(at, &end, 10);

                        if (end == at)
                                break;
                        kill((pid_t)pid, SIGKILL);
                }
                usleep(10000);
        }
}

static void say(const struct watchdog *watchdog, int result, const struct restore_report *report)
{
        if (WIFSIGNALED(result))
                log_error(watchdog->log,
                          "the calibration was ended by signal %d (%s); its settings: %zu restored, %zu unchanged, "
                          "%zu left because another program has changed them, %zu failed",
                          WTERMSIG(result), strsignal(WTERMSIG(result)), report->restored, report->kept,
                          report->left, report->failed);
        else if (report->restored + report->failed > 0)
                log_error(watchdog->log,
                          "the calibration ended without restoring everything; its settings: %zu restored now, %zu "
                          "failed",
                          report->restored, report->failed);
}

/*
 * A control group of its own for this process, so that killing the group it was started in (the end of a
 * login, a service or a container) does not reach it: a systemd scope, else a version 2 group.
 */

struct refuge;

#define GROUP_NAME "joulecast-watchdog"

struct refuge {
        int root_fd;           /* root of the cgroup v2 hierarchy; -1: systemd removes the scope */
        char before[512];      /* the group we came from */
};

static int open_hierarchy(void)
{
        static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                _cleanup_close_ int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                struct statfs filesystem;

                if (fd >= 0 && fstatfs(fd, &filesystem) == 0 && filesystem.f_type == CGROUP2_SUPER_MAGIC)
                        return take_fd(&fd);
        }
        return -ENOENT;
}

/* "0::/user.slice/..." is the line of version 2. */
static int find_group(char *buf, size_t size)
{
        char text[8192], *line;

        if (util_read_at(-1, "/proc/self/cgroup", text, sizeof(text)) < 0)
                return -ENOENT;
        line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
        if (!line)
                return -ENOENT;
        line = strchr(line, '/');
        if (!line)
                return -ENOENT;
        line[strcspn(line, "\n")] = '\0';
        return snprintf(buf, size, "%s", line[1] ? line + 1 : ".") < (int)size ? 0 : -ENAMETOOLONG;
}

static int move_to(int root_fd, const char *group)
{
        char path[600];
        _cleanup_close_ int fd = -1;

        snprintf(path, sizeof(path), "%s/cgroup.procs", group);
        fd = openat(root_fd, path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        return dprintf(fd, "0\n") < 0 ? -errno : 0; /* 0: the writing process */
}

static int enter_group(struct refuge *refuge)
{
        int err;

        refuge->root_fd = open_hierarchy();
        if (refuge->root_fd < 0)
                return refuge->root_fd;
        err = find_group(refuge->before, sizeof(refuge->before));
        if (!err && mkdirat(refuge->root_fd, GROUP_NAME, 0755) < 0 && errno != EEXIST)
                err = -errno;
        return err ? err : move_to(refuge->root_fd, GROUP_NAME);
}

/* NULL: not possible, logged */
static struct refuge *refuge_enter(const struct log *log)
{
        const struct scope_plan plan = { "joulecast-watchdog", "Restores what a calibration of joulecast changes",
                                         NULL };
        struct refuge *refuge = calloc(1, sizeof(*refuge));
        int err;

        if (!refuge)
                return NULL;
        refuge->root_fd = -1;
        err = scope_enter(&plan);
        if (err)
                err = enter_group(refuge);
        if (!err)
                return refuge;
        log_info(log,
                 "the watchdog has no control group of its own (%s): if this command's whole group is "
                 "killed, the next start restores the settings",
                 strerror(-err));
        closep(&refuge->root_fd);
        free(refuge);
        return NULL;
}

/* back to the group before, where the new one is ours to remove */
static void refuge_leave(struct refuge *refuge)
{
        if (!refuge)
                return;
        if (refuge->root_fd >= 0 && move_to(refuge->root_fd, refuge->before) == 0)
                unlinkat(refuge->root_fd, GROUP_NAME, AT_REMOVEDIR);
        closep(&refuge->root_fd);
        free(refuge);
}

static int watch(const struct watchdog *watchdog, pid_t worker, const sigset_t *set)
{
        struct refuge *refuge = refuge_enter(watchdog->log);
        struct restore_report report;
        int result = wait_for(worker, set), err;

        end_orphans();
        err = settings_restore(watchdog->root_fd, watchdog->journal, watchdog->log, &report);
        say(watchdog, result, &report);
        refuge_leave(refuge);
        settings_unlock();
        if (WIFSIGNALED(result))
                return 128 + WTERMSIG(result);
        return err && !WEXITSTATUS(result) ? 1 : WEXITSTATUS(result);
}

int watchdog_start(const struct watchdog *watchdog, int *status)
{
        pid_t self = getpid(), worker;
        sigset_t set, mask;

        /* If our parent ignored it, waitpid() would not work. */
        signal(SIGCHLD, SIG_DFL);
        fill_signals(&set);
        sigprocmask(SIG_BLOCK, &set, &mask);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        worker = fork();
        if (worker < 0) {
                int err = -errno;

                sigprocmask(SIG_SETMASK, &mask, NULL);
                log_error(watchdog->log, "no process can be started for the calibration: %s", strerror(-err));
                return err;
        }
        if (worker == 0) {
                become_worker(self, &mask);
                return 0;
        }
        setpgid(worker, worker); /* in both processes, whichever is first */
        signal(SIGTSTP, SIG_IGN); /* a stopped watchdog could not restore anything */
        prctl(PR_SET_NAME, "joulecast-watch");
        *status = watch(watchdog, worker, &set);
        return 1;
}
