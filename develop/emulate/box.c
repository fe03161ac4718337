/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "box-private.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

/* Error messages: the failure and its remedy; the kernel's reason is printed between them. */
static const struct {
        const char *what, *remedy;
} sentences[BOX_STEPS] = {
        [BOX_STEP_IDS] = { N_("this user may not have ids in a user namespace"),
                           N_("ask the administrator to allow user namespaces, or run it as root") },
        [BOX_STEP_PROC] = { N_("/proc cannot be mounted in a namespace"),
                            N_("a container must allow that, as with --security-opt unmask=ALL") },
        [BOX_STEP_NETNS] = { N_("no network namespace can be made"),
                             N_("the kernel needs CONFIG_NET_NS, and the user the right to it") },
        [BOX_STEP_DEVICE] = { N_("no network device can be made, neither tun nor veth"),
                              N_("load the kernel's module veth, or give this user /dev/net/tun; --net none "
                                 "goes without") },
        [BOX_STEP_ROUTES] = { N_("the app's network cannot be set up"),
                              N_("the kernel needs CONFIG_IP_MULTIPLE_TABLES; --net none goes without") },
        [BOX_STEP_FORK] = { N_("no process can be started"), N_("see ulimit -u, and the memory that is free") },
        [BOX_STEP_PLACE] = { N_("the app's terminal cannot be opened"),
                             N_("--input without --terminal has an X server in its place") },
        [BOX_STEP_EXEC] = { N_("the app cannot be started"), N_("see whether it is there and can be executed") },
        [BOX_STEP_PART] = { N_("a part of the emulation ended before the app"),
                            N_("the app was ended, too, and nothing is left of it") },
};

static void say(const struct log *log, enum box_step step, const char *reason)
{
        log_error(log, "%s (%s); %s", _(sentences[step].what), reason, _(sentences[step].remedy));
}

/* The bare system call, as the new process goes on here like after fork(). */
static pid_t clone_here(unsigned long flags)
{
        return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Root needs no user namespace, unless it has no rights here. The new process's pid, 0 in it, or a negative errno. */
static pid_t clone_box(bool *users)
{
        const unsigned long flags = CLONE_NEWPID | CLONE_NEWNS;
        pid_t pid = geteuid() == 0 ? clone_here(flags) : -1;

        *users = pid < 0;
        if (pid < 0)
                pid = clone_here(flags | CLONE_NEWUSER);
        return pid < 0 ? -errno : pid;
}

static int read_records(int fd, size_t size, void *ret, size_t *ret_n)
{
        struct stat stat;
        uint8_t *bytes;
        size_t at = 0;

        if (fstat(fd, &stat) < 0)
                return -errno;
        bytes = malloc((size_t)stat.st_size + 1);
        if (!bytes)
                return -ENOMEM;
        while (at < (size_t)stat.st_size) {
                ssize_t n = pread(fd, bytes + at, (size_t)stat.st_size - at, (off_t)at);

                if (n <= 0)
                        break;
                at += (size_t)n;
        }
        *(void **)ret = bytes;
        *ret_n = at / size;
        return 0;
}

static void box_result_clear(struct box_result *result)
{
        free(result->packets);
        free(result->heads);
        free(result->cpu);
        free(result->tasks);
        free(result->names);
        *result = (struct box_result){ 0 };
}

static int finish(const struct box_inside *inside, const struct log *log, struct box_result *ret)
{
        const struct box_report *report = inside->report;
        struct box_result result = { .origin_ns = report->origin_ns,
                                     .wall_ns = report->wall_ns,
                                     .status = report->status,
                                     .means = (enum cpu_means)report->means,
                                     .cpu_reached = report->cpu_reached,
                                     .outlived = report->outlived };
        int err = report->step || !report->done ? -ECANCELED : 0;
        size_t n_heads = 0;

        memcpy(result.outlived_name, report->outlived_name, sizeof(result.outlived_name));
        for (int d = 0; d < RADIO_DIRECTIONS; d++)
                result.slow_s[d] = (double)report->slow.ns[d] / NS_PER_S;
        if (report->step)
                say(log, (enum box_step)report->step, strerror(report->error));
        else if (err)
                say(log, BOX_STEP_PART, "it was killed");
        if (!err)
                err = read_records(inside->packets, sizeof(*result.packets), &result.packets, &result.n_packets);
        if (!err && inside->plan->heads)
                err = read_records(inside->heads, sizeof(*result.heads), &result.heads, &n_heads);
        result.n_packets = result.heads ? MIN(result.n_packets, n_heads) : result.n_packets;
        if (!err)
                err = read_records(inside->cpu, sizeof(*result.cpu), &result.cpu, &result.n_cpu);
        if (!err)
                err = read_records(inside->tasks, sizeof(*result.tasks), &result.tasks, &result.n_tasks);
        if (!err)
                err = read_records(inside->names, sizeof(*result.names), &result.names, &result.n_names);
        if (err)
                box_result_clear(&result);
        else
                *ret = result;
        return err;
}

/* Until the process has ended; or -ECANCELED: that in which it shows itself did before. There is always a guard. */
static int wait_for_all(pid_t pid, const struct scene *scene, struct groups *groups)
{
        bool guarded = groups->version != GROUPS_NONE;
        _cleanup_close_ int process = scene || guarded ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
        struct pollfd polled[] = { { process, POLLIN, 0 },
                                   { scene ? scene->process : -1, POLLIN, 0 },
                                   { -1, POLLIN, 0 } };

        while (process >= 0 && !polled[0].revents && !polled[1].revents) {
                if (guarded && polled[2].revents)
                        (void)groups_guard(groups);
                polled[2].fd = guarded ? groups->guarding : -1;
                (void)poll(polled, ARRAY_SIZE(polled), -1);
        }
        return process >= 0 && !polled[0].revents ? -ECANCELED : 0;
}

/* The app gets what is typed at the terminal; we wait for its end. 0; as wait_for_all(): it was ended. */
static int wait_for(pid_t pid, const struct scene *scene, struct groups *groups)
{
        int err;

        struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;

        sigaction(SIGINT, &ignore, &interrupt);
        sigaction(SIGQUIT, &ignore, &quit);
        err = wait_for_all(pid, scene, groups);
        if (err)
                kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
        sigaction(SIGINT, &interrupt, NULL);
        sigaction(SIGQUIT, &quit, NULL);
        return err;
}

static int start(struct box_inside *inside, const struct log *log)
{
        int life[2], err = 0;
        pid_t pid;

        if (pipe2(life, O_CLOEXEC) < 0)
                return -errno;
        inside->life = life[0];
        fflush(NULL);
        pid = clone_box(&inside->users);
        if (pid == 0) {
                close(life[1]);
                box_inside(inside);
        }
        close(life[0]);
        if (pid < 0)
                log_error(
                        log,
                        "no namespaces can be made (%s); the kernel must allow user namespaces for this user "
                        "(user.max_user_namespaces, kernel.unprivileged_userns_clone), or run it as root",
                        strerror(-pid));
        else
                err = wait_for(pid, inside->plan->scene, inside->groups);
        close(life[1]);
        return pid < 0 ? pid : err;
}

int box_run(const struct box_plan *plan, const struct log *log, struct box_result *ret)
{
        _cleanup_close_ int packets = memfd_create("packets", MFD_CLOEXEC), cpu = memfd_create("cpu", MFD_CLOEXEC);
        _cleanup_close_ int tasks = memfd_create("tasks", MFD_CLOEXEC), names = memfd_create("names", MFD_CLOEXEC);
        _cleanup_close_ int heads = memfd_create("heads", MFD_CLOEXEC);
        struct box_report *report =
                mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        struct box_inside inside = { .plan = plan,
                                     .report = report,
                                     .uid = geteuid(),
                                     .gid = getegid(),
                                     .packets = packets,
                                     .heads = heads,
                                     .cpu = cpu,
                                     .tasks = tasks,
                                     .names = names };
        struct groups groups = { .version = GROUPS_NONE };
        int err = packets < 0 || heads < 0 || cpu < 0 || tasks < 0 || names < 0 || report == MAP_FAILED ? -errno : 0;

        if (err)
                log_error(log, "there is no memory for the run: %s", strerror(-err));
        else {
                inside.groups = &groups;
                if (plan->factor > 1)
                        (void)groups_make(plan->factor, plan->cpus, &groups);
                err = start(&inside, log);
                groups_remove(&groups);
        }
        if (!err)
                err = finish(&inside, log, ret);
        if (report != MAP_FAILED)
                munmap(report, sizeof(*report));
        return err;
}
