/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first process of the new namespaces: makes the networks, starts all parts, slows the app, and waits
 * for its end.
 */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "box-private.h"
#include "link.h"
#include "packet.h"
#include "quota.h"
#include "relay.h"
#include "slow.h"
#include "util/units.h"
#include "util/util.h"
#include "wire.h"

#define APP_TUN "radio0"
#define MIDDLE_TUN "middle0"
#define APP_SYS "/proc/sys/net/ipv4/conf/" APP_TUN "/"
#define LEAVING_MS 100 /* processes may outlive the first one for so long without a warning */
#define ENDING_MS ((WIRE_REST_S + 5) * 1000) /* that the wire may take to send and write what is left */

/* Everything that is open here, and who runs. */
struct box {
        const struct box_inside *inside;
        int app_tun, middle_tun, app_netns, listening, maker;
        int stop;                /* a byte ends the wire */
        int signals;
        pid_t maker_pid, wire_pid, app_pid;
        pid_t others[2];         /* that are not slowed */
        struct slow *slow;
        struct quota *quota;     /* NULL: the app is stopped for parts of the time */
        bool app_ended;          /* its first process */
        bool over;               /* nothing more is waited for */
        int status;
};

static int64_t clock_ns(void)
{
        return (int64_t)util_clock_ns(CLOCK_MONOTONIC);
}

/* Ends all processes of the namespace, with this one. */
static _Noreturn void fail(const struct box *box, enum box_step step, int err)
{
        box->inside->report->error = err;
        __atomic_store_n(&box->inside->report->step, (int32_t)step, __ATOMIC_RELEASE);
        _exit(1);
}

static int write_text(const char *path, const char *text)
{
        return link_set(path, text);
}

/* In the new user namespace the user is who they were, and nobody else is there. */
static int map_ids(const struct box_inside *inside)
{
        char text[64];
        int err;

        if (!inside->users)
                return 0;
        (void)write_text("/proc/self/setgroups", "deny"); /* older kernels have no such file */
        snprintf(text, sizeof(text), "%u %u 1", inside->uid, inside->uid);
        err = write_text("/proc/self/uid_map", text);
        snprintf(text, sizeof(text), "%u %u 1", inside->gid, inside->gid);
        return err ? err : write_text("/proc/self/gid_map", text);
}

/*
 * Sockets in the file system by which others would look up names for the app, past the emulated network:
 * nobody listens there.
 */
static void hide_resolvers(void)
{
        static const char *const paths[] = { "/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket" };

        for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
                (void)mount("/dev/null", paths[i], NULL, MS_BIND, NULL); /* most machines have none of them */
}

static int mount_proc(void)
{
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return -errno;
        hide_resolvers();
        return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? -errno : 0;
}

/* Not all kernels have all of them, and without some it works, too. */
static void quiet_network(void)
{
        /*
         * IPv6 remains within the loopback; devices that are made from now on have none, so all else is
         * unreachable at once.
         */
        (void)link_set("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
        (void)link_set("/proc/sys/net/ipv6/conf/lo/disable_ipv6", "0");
        (void)link_set("/proc/sys/net/ipv4/conf/all/rp_filter", "0");
        (void)link_set("/proc/sys/net/ipv4/conf/default/rp_filter", "0");
        /* The same on each machine. Where another is the default, a namespace may have no cubic, but always reno. */
        if (link_set("/proc/sys/net/ipv4/tcp_congestion_control", "cubic") < 0)
                (void)link_set("/proc/sys/net/ipv4/tcp_congestion_control", "reno");
}

static void make_app_network(struct box *box)
{
        enum box_net net = box->inside->plan->net;
        int err;

        if (unshare(CLONE_NEWNET) < 0)
                fail(box, BOX_STEP_NETNS, errno);
        quiet_network();
        err = link_up("lo");
        if (!err && net != BOX_NONE) {
                box->app_tun = link_open(APP_TUN);
                if (box->app_tun < 0)
                        fail(box, BOX_STEP_DEVICE, -box->app_tun);
                err = link_set(APP_SYS "route_localnet", "1");
                err = err ? err : link_set(APP_SYS "accept_local", "1");
                (void)link_set(APP_SYS "rp_filter", "0");
                err = err ? err : link_address(APP_TUN, PACKET_APP, 32);
                err = err ? err : link_up(APP_TUN);
                err = err ? err : link_app_routes(APP_TUN, net == BOX_OUTSIDE);
                box->listening = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
        }
        if (err)
                fail(box, BOX_STEP_ROUTES, -err);
        box->app_netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        if (box->app_netns < 0)
                fail(box, BOX_STEP_NETNS, errno);
}

static void make_middle_network(struct box *box)
{
        int err;

        if (unshare(CLONE_NEWNET) < 0)
                fail(box, BOX_STEP_NETNS, errno);
        quiet_network();
        box->middle_tun = link_open(MIDDLE_TUN);
        if (box->middle_tun < 0)
                fail(box, BOX_STEP_DEVICE, -box->middle_tun);
        (void)link_set("/proc/sys/net/ipv4/conf/" MIDDLE_TUN "/rp_filter", "0");
        err = link_up("lo");
        err = err ? err : link_up(MIDDLE_TUN);
        err = err ? err : link_middle_routes(MIDDLE_TUN);
        if (err)
                fail(box, BOX_STEP_ROUTES, -err);
}

static void start_wire(struct box *box)
{
        const struct box_plan *plan = box->inside->plan;
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                fail(box, BOX_STEP_FORK, errno);
        box->stop = pair[0];
        box->wire_pid = fork();
        if (box->wire_pid < 0)
                fail(box, BOX_STEP_FORK, errno);
        if (box->wire_pid == 0) {
                const struct wire wire = {
                        .plan = { plan->network, plan->radio, plan->signal, plan->seed, plan->heads },
                        .app_tun = box->app_tun,
                        .middle_tun = box->middle_tun,
                        .listening = box->listening,
                        .maker = box->maker,
                        .stop = pair[1],
                        .log = box->inside->packets,
                        .heads = box->inside->heads,
                        .names = box->inside->names,
                        .outside = plan->net == BOX_OUTSIDE,
                        .origin_ns = &box->inside->report->origin_ns,
                        .slow = &box->inside->report->slow,
                };

                close(pair[0]);
                _exit(wire_run(&wire));
        }
        close(pair[1]);
}

/* Its terminal is the one that it shows itself in; or it finds that X server, and no other display. */
static int take_place(const struct scene *scene)
{
        int fd;

        if (!scene->terminal) {
                unsetenv("WAYLAND_DISPLAY");
                unsetenv("XAUTHORITY");
                return setenv("DISPLAY", scene->place, 1);
        }
        fd = open(scene->place, O_RDWR | O_NOCTTY);
        if (fd < 0 || setsid() < 0 || ioctl(fd, TIOCSCTTY, 0) < 0)
                return -errno;
        for (int i = 0; i < 3; i++)
                if (dup2(fd, i) < 0)
                        return -errno;
        return fd > 2 ? close(fd) : 0;
}

/*
 * The app has no more CPUs than the target: whoever asks how many there are finds as many, and threads
 * share them as there.
 */
static void take_cpus(uint32_t cpus)
{
        cpu_set_t allowed, taken;
        int n, at;

        if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0 || (n = CPU_COUNT(&allowed)) <= (int)cpus)
                return;
        CPU_ZERO(&taken);
        at = (int)(util_clock_ns(CLOCK_MONOTONIC) % (uint64_t)n); /* so that several runs at a time take others */
        for (int i = 0, found = 0; CPU_COUNT(&taken) < (int)cpus; i = (i + 1) % CPU_SETSIZE)
                if (CPU_ISSET(i, &allowed) && found++ >= at)
                        CPU_SET(i, &taken);
        (void)sched_setaffinity(0, sizeof(taken), &taken);
}

/* In the child: what fails goes to @failed as two numbers, which is closed where the app runs. */
static _Noreturn void become_app(const struct box *box, int go, int failed)
{
        const struct box_plan *plan = box->inside->plan;
        int32_t report[2] = { BOX_STEP_EXEC, 0 };
        sigset_t none;
        char byte;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        take_cpus(plan->cpus);
        if (plan->scene && take_place(plan->scene) < 0)
                report[0] = BOX_STEP_PLACE;
        else if (setns(box->app_netns, CLONE_NEWNET) < 0)
                report[0] = BOX_STEP_NETNS;
        else if ((!plan->quiet || (plan->scene && plan->scene->terminal) || dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) &&
                 read(go, &byte, 1) == 1)
                execvp(plan->arguments[0], plan->arguments);
        report[1] = errno;
        (void)!write(failed, report, sizeof(report));
        _exit(127);
}

/* Its first thread has its quota before it runs. */
static void slow_app(struct box *box)
{
        const struct box_inside *inside = box->inside;
        struct slow_plan plan = { .factor = inside->plan->factor, .cpus = inside->plan->cpus, .log = inside->cpu,
                                  .tasks = inside->tasks };

        if (inside->groups->version != GROUPS_NONE && quota_new(inside->groups, &box->quota) == 0 &&
            quota_thread(box->quota, box->app_pid) < 0) {
                quota_free(box->quota);
                box->quota = NULL;
        }
        plan.quota = box->quota;
        box->others[0] = box->maker_pid;
        box->others[1] = box->wire_pid;
        plan.others = box->others;
        plan.n_others = ARRAY_SIZE(box->others);
        if (slow_new(&plan, &box->slow) < 0)
                fail(box, BOX_STEP_FORK, ENOMEM);
        inside->report->means = !(plan.factor > 1) ? CPU_MEANS_NONE : !box->quota ? CPU_MEANS_STOPS :
                                inside->groups->version == GROUPS_V1 ? CPU_MEANS_QUOTA_V1 : CPU_MEANS_QUOTA_V2;
}

/* Starts it, and the run's clock. */
static void start_app(struct box *box)
{
        int go[2], failed[2];
        int32_t report[2];

        if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0)
                fail(box, BOX_STEP_FORK, errno);
        box->app_pid = fork();
        if (box->app_pid < 0)
                fail(box, BOX_STEP_FORK, errno);
        if (box->app_pid == 0)
                become_app(box, go[0], failed[1]);
        close(go[0]);
        close(failed[1]);
        slow_app(box);
        __atomic_store_n(&box->inside->report->origin_ns, clock_ns(), __ATOMIC_RELEASE);
        if (box->inside->plan->scene)
                (void)!write(box->inside->plan->scene->connection, "", 1);
        (void)!write(go[1], "", 1);
        close(go[1]);
        if (read(failed[0], report, sizeof(report)) == sizeof(report))
                fail(box, (enum box_step)report[0], report[1]);
        close(failed[0]);
}

static int64_t run_ns(const struct box *box)
{
        return clock_ns() - box->inside->report->origin_ns;
}

static int64_t cpu_ns(const struct rusage *usage)
{
        return ((int64_t)usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * (int64_t)NS_PER_S +
               ((int64_t)usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * (int64_t)NS_PER_US;
}

/* A child that has ended, after it was looked at for the last time; 0: none has. */
static pid_t wait_for(struct box *box, int *status, struct rusage *usage)
{
        siginfo_t info = { .si_pid = 0 };

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
                return 0;
        slow_ending(box->slow, info.si_pid, run_ns(box));
        return wait4(info.si_pid, status, 0, usage);
}

/* Whoever ended, also those whose parents ended before them. */
static void reap(struct box *box)
{
        struct rusage usage;
        int status;
        pid_t pid;

        while ((pid = wait_for(box, &status, &usage)) > 0) {
                if ((pid == box->wire_pid || pid == box->maker_pid) && !box->over)
                        fail(box, BOX_STEP_PART, ECHILD);
                if (pid == box->wire_pid || pid == box->maker_pid) {
                        *(pid == box->wire_pid ? &box->wire_pid : &box->maker_pid) = -1;
                        continue;
                }
                slow_ended(box->slow, pid, cpu_ns(&usage));
                if (pid == box->app_pid) {
                        box->app_ended = true;
                        box->status = status;
                }
                if (pid == box->app_pid || (box->inside->plan->wait_all && !box->over))
                        box->inside->report->wall_ns = run_ns(box);
        }
}

/* Sleeps until a process ends, the program outside is gone, or @until_ns of the run. */
static void wait_until(struct box *box, int64_t until_ns)
{
        struct pollfd polled[] = { { box->signals, POLLIN, 0 }, { box->inside->life, 0, 0 } };
        int64_t wait_ns = MAX(until_ns - run_ns(box), INT64_C(0));
        struct timespec timeout = { (time_t)(wait_ns / (int64_t)NS_PER_S), (long)(wait_ns % (int64_t)NS_PER_S) };
        struct signalfd_siginfo info;

        (void)ppoll(polled, ARRAY_SIZE(polled), &timeout, NULL);
        if (polled[1].revents)
                _exit(1);
        if (polled[0].revents && read(box->signals, &info, sizeof(info)) == sizeof(info) && box->app_ended)
                box->over |= info.ssi_signo == SIGINT;
}

/* Does a process of the app still run that can end by itself? */
static bool goes_on(struct box *box)
{
        char name[RECORD_TASK_MAX];

        if (!box->app_ended)
                return true;
        return box->inside->plan->wait_all && !box->over && slow_alive(box->slow, name) > 0;
}

static void watch_app(struct box *box)
{
        double limit_s = box->inside->plan->limit_s;
        int64_t limit_ns = limit_s > 0 ? (int64_t)(limit_s * 1e9) : INT64_MAX;

        while (goes_on(box)) {
                wait_until(box, MIN(slow_turn(box->slow, run_ns(box)), limit_ns));
                reap(box);
                if (run_ns(box) < limit_ns)
                        continue;
                if (!box->app_ended)
                        kill(box->app_pid, SIGKILL);
                box->over = true;
                limit_ns = INT64_MAX;
        }
        if (box->inside->plan->wait_all && box->over)
                box->inside->report->wall_ns = run_ns(box);
}

/* Counts processes that outlive the first one. Some need a moment to see that it is gone. */
static void count_left(struct box *box)
{
        struct box_report *report = box->inside->report;
        int64_t until_ns = run_ns(box) + LEAVING_MS * (int64_t)NS_PER_MS;

        while ((report->outlived = (uint32_t)slow_alive(box->slow, report->outlived_name)) > 0 &&
               run_ns(box) < until_ns) {
                wait_until(box, MIN(slow_turn(box->slow, run_ns(box)), until_ns));
                reap(box);
        }
        box->over = true;
}

/* The app has ended: the wire writes its last records, and what the app left behind is ended and counted. */
static void end_all(struct box *box)
{
        int64_t until_ns = run_ns(box) + ENDING_MS * (int64_t)NS_PER_MS;

        if (box->wire_pid > 0)
                (void)!write(box->stop, "", 1);
        while (box->wire_pid > 0 && run_ns(box) < until_ns) {
                wait_until(box, until_ns);
                reap(box);
        }
        if (box->wire_pid > 0)
                fail(box, BOX_STEP_PART, ETIMEDOUT);
        kill(-1, SIGKILL);
        for (;;) {
                struct rusage usage;
                pid_t pid = wait4(-1, NULL, 0, &usage);

                if (pid < 0 && errno != EINTR)
                        break;
                if (pid > 0 && pid != box->maker_pid)
                        slow_ended(box->slow, pid, cpu_ns(&usage));
        }
        slow_finish(box->slow, box->inside->report->wall_ns);
}

static void watch_signals(struct box *box)
{
        struct sigaction children = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };
        sigset_t set;

        sigaction(SIGCHLD, &children, NULL);
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        signal(SIGPIPE, SIG_IGN);
        sigemptyset(&set);
        sigaddset(&set, SIGCHLD);
        sigaddset(&set, SIGINT); /* ends --wait-all */
        sigprocmask(SIG_BLOCK, &set, NULL);
        box->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        prctl(PR_SET_TIMERSLACK, 1);
}

static void start_networks(struct box *box)
{
        enum box_net net = box->inside->plan->net;

        if (net != BOX_NONE) {
                box->maker_pid = maker_start(&box->maker);
                if (box->maker_pid < 0)
                        fail(box, BOX_STEP_FORK, -box->maker_pid);
        }
        make_app_network(box);
        if (net == BOX_NONE)
                return;
        make_middle_network(box);
        start_wire(box);
}

_Noreturn void box_inside(const struct box_inside *inside)
{
        struct box box = { .inside = inside,
                           .app_tun = -1,
                           .middle_tun = -1,
                           .app_netns = -1,
                           .listening = -1,
                           .maker = -1,
                           .stop = -1,
                           .maker_pid = -1,
                           .wire_pid = -1 };
        const struct sched_param first = { .sched_priority = 1 };
        int err;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if ((err = map_ids(inside)) < 0)
                fail(&box, BOX_STEP_IDS, -err);
        if ((err = mount_proc()) < 0)
                fail(&box, BOX_STEP_PROC, -err);
        watch_signals(&box);
        start_networks(&box);
        /* Where the user may: the app is stopped in time. */
        (void)sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first);
        start_app(&box);
        watch_app(&box);
        count_left(&box);
        end_all(&box);
        inside->report->status = box.status;
        inside->report->cpu_reached = box.quota ? quota_reached(box.quota) : slow_reached(box.slow);
        inside->report->done = true;
        _exit(0);
}
