/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CPU time by operating point within 1 %. The frequencies are a machine tree's,
 * and a governor is played by hand; the scheduler and its switches are real. Again among more threads than the
 * programs have places for (lib/process/bpf/cpu.bpf.h), and when these have ended and others have their addresses.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "model/usage.h"
#include "online.h"
#include "process/collector.h"
#include "util/units.h"
#include "util/util.h"

static const uint32_t policies[] = { 0, 1 };
static const uint32_t khz[][3] = { { 384000, 1026000, 1512000 }, { 600000, 1200000, 2400000 } };

static struct source *source;
static struct sample sample;
static char tree[] = "/tmp/opps-XXXXXX";

static uint64_t clock_ns(clockid_t clock)
{
        struct timespec now;

        clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void write_text(const char *path, const char *text)
{
        check_int(util_make_parent(path, 0700), 0);
        check_int(util_write_file(path, text, strlen(text), 0600), 0);
}

/* Two policies of one CPU each. */
static int make_tree(void)
{
        char path[256], text[128];

        if (!mkdtemp(tree))
                return -errno;
        for (size_t p = 0; p < ARRAY_SIZE(policies); p++) {
                const char *base = "sys/devices/system/cpu/cpufreq/policy";

                snprintf(path, sizeof(path), "%s/%s%u/stats/time_in_state", tree, base, policies[p]);
                snprintf(text, sizeof(text), "%u 1\n%u 2\n%u 3\n", khz[p][2], khz[p][0], khz[p][1]);
                write_text(path, text);
                snprintf(path, sizeof(path), "%s/%s%u/related_cpus", tree, base, policies[p]);
                snprintf(text, sizeof(text), "%u\n", policies[p]);
                write_text(path, text);
                snprintf(path, sizeof(path), "%s/%s%u/scaling_cur_freq", tree, base, policies[p]);
                snprintf(text, sizeof(text), "%u\n", khz[p][0]);
                write_text(path, text);
        }
        snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/present", tree);
        write_text(path, "0-1\n");
        return open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void poll_once(void)
{
        sample_reset(&sample);
        for (size_t p = 0; p < ARRAY_SIZE(policies); p++) {
                for (size_t i = 0; i < ARRAY_SIZE(khz[p]); i++) {
                        struct opp *opp = sample_add_opp(&sample);

                        opp->policy = policies[p];
                        opp->khz = khz[p][i];
                }
        }
        check_int(source->ops->read(source, &sample), 0);
        check(sample.opps_counted);
}

/* The present run of a process is counted at its end, and alone on its CPU it may run for long. */
static void stop_and_poll(pid_t pid)
{
        kill(pid, SIGSTOP);
        usleep(20 * 1000);
        poll_once();
}

static const struct process *find(pid_t pid)
{
        for (size_t i = 0; i < sample.n_processes; i++)
                if (sample.processes[i].pid == pid)
                        return &sample.processes[i];
        return NULL;
}

static void pin(int cpu)
{
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        sched_setaffinity(0, sizeof(set), &set);
}

static void spin_for_ever(void)
{
        for (;;)
                ;
}

static pid_t start_spinning(int cpu)
{
        pid_t pid = start_child();

        if (pid == 0) {
                pin(cpu);
                spin_for_ever();
        }
        return pid;
}

/* Works and sleeps in turn, so that it is switched in and out all the time. */
static void hop(void)
{
        for (;;) {
                for (volatile int i = 0; i < 200000; i++)
                        ;
                usleep(100);
        }
}

static void *brief(void *data)
{
        for (volatile int i = 0; i < 3000000; i++)
                ;
        return data;
}

/* Its threads end all the time and leave their times to it. */
static void spawn_threads(void)
{
        for (;;) {
                pthread_t thread;

                pthread_create(&thread, NULL, brief, NULL);
                pthread_join(thread, NULL);
        }
}

static const struct work {
        const char *name;
        void (*run)(void);
        int cpu;
        double tolerance; /* part of its whole CPU time */
} works[] = {
        { "spin-0", spin_for_ever, 0, 0.01 },
        { "hop-0", hop, 0, 0.01 },
        { "spin-1", spin_for_ever, 1, 0.01 },
        { "threads-1", spawn_threads, 1, 0.01 },
};

struct running {
        pid_t pid;
        clockid_t clock;
        uint64_t last_ns;
        double want[6]; /* ns by operating point, since the first poll */
        double unsure[6]; /* the part that ran while the frequency was being changed */
        double before[6];
};

/* Returns when it is on its CPU: on a busy machine a child may wait for long, and may begin on the other one. */
static void start(const struct work *work, struct running *running)
{
        int pinned[2];
        char byte;

        check_int(pipe2(pinned, O_CLOEXEC), 0);
        running->pid = start_child();
        if (running->pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                prctl(PR_SET_NAME, work->name);
                pin(work->cpu);
                if (write(pinned[1], "", 1) != 1)
                        _exit(1);
                work->run();
        }
        close(pinned[1]);
        check_int(read(pinned[0], &byte, 1), 1);
        close(pinned[0]);
        clock_getcpuclockid(running->pid, &running->clock);
}

/*
 * The clock of a process that runs on another CPU is as old as that CPU's last tick. The kernel brings it up to date
 * before it moves any process of that CPU between queues. SCHED_BATCH differs from SCHED_OTHER only at wakeups.
 */
static void bring_clocks_up_to_date(const struct running *running)
{
        static const struct sched_param none;
        static bool batch;

        batch = !batch;
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                check_int(sched_setscheduler(running[i].pid, batch ? SCHED_BATCH : SCHED_OTHER, &none), 0);
}

/*
 * Adds the CPU time since the last call, by each process's own clock, to the operating points @at. A hypervisor can
 * take the CPU from us between a change and our look at the clocks, so @or_at may be right as well.
 */
static void note(struct running *running, const size_t *at, const size_t *or_at)
{
        bring_clocks_up_to_date(running);
        for (size_t i = 0; i < ARRAY_SIZE(works); i++) {
                uint64_t now_ns = clock_ns(running[i].clock);
                size_t first = 3 * (size_t)works[i].cpu, point = first + at[works[i].cpu];
                size_t other = first + or_at[works[i].cpu];
                double ran_ns = (double)(now_ns - running[i].last_ns);

                running[i].want[point] += ran_ns;
                if (other != point) {
                        running[i].unsure[point] += ran_ns;
                        running[i].unsure[other] += ran_ns;
                }
                running[i].last_ns = now_ns;
        }
}

/* From now on, without the time before it was on its CPU. */
static void begin(struct running *running)
{
        const struct process *process = find(running->pid);

        check(process && process->cpu_opp_ns);
        for (size_t i = 0; process && process->cpu_opp_ns && i < ARRAY_SIZE(running->want); i++) {
                running->before[i] = (double)process->cpu_opp_ns[i];
                running->want[i] = running->unsure[i] = 0;
        }
}

static void check_split(const struct work *work, const struct running *running)
{
        const struct process *process = find(running->pid);
        double total = 0, sum = 0;

        check(process && process->cpu_opp_ns && (process->have & PROCESS_CPU_OPPS));
        if (!process || !process->cpu_opp_ns)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(running->want); i++)
                total += running->want[i];
        for (size_t i = 0; i < ARRAY_SIZE(running->want); i++) {
                double got = (double)process->cpu_opp_ns[i] - running->before[i];

                fprintf(stderr, "%s: operating point %zu: %.1f ms, want %.1f, unsure %.1f\n", work->name, i,
                        got / 1e6, running->want[i] / 1e6, running->unsure[i] / 1e6);
                check_near(got, running->want[i], work->tolerance * total + 2e6 + running->unsure[i]);
                sum += (double)process->cpu_opp_ns[i];
        }
        check_near(sum, (double)process->cpu_ns, 5e6);
}

/* With a spinner on each CPU, a policy of one CPU is busy all the time: any = busy = the wall's time. */
static void check_policies(const uint64_t *before_ns, uint64_t wall_ns)
{
        for (size_t p = 0; p < ARRAY_SIZE(policies); p++) {
                double any = 0, busy = 0;

                for (size_t i = 3 * p; i < 3 * p + 3; i++) {
                        any += (double)sample.opps[i].any_ns;
                        busy += (double)sample.opps[i].busy_ns;
                }
                any -= (double)before_ns[p];
                fprintf(stderr, "policy %zu: any %.1f ms, busy %.1f ms, wall %.1f ms\n", p, any / 1e6,
                        busy / 1e6, (double)wall_ns / 1e6);
                check_near(any, (double)wall_ns, 0.03 * (double)wall_ns); /* we look at the clock when we get the CPU */
                check(busy >= any);
        }
}

static void run(void)
{
        static const size_t steps[][2] = { { 0, 0 }, { 1, 0 }, { 2, 1 }, { 0, 2 },
                                           { 1, 2 }, { 2, 0 }, { 1, 1 } };
        struct running running[ARRAY_SIZE(works)] = { 0 };
        uint64_t begin_ns, before_ns[2] = { 0 };
        const uint32_t measured = 100; /* kHz; a clock may be reported as it runs, not as it was set */
        size_t at[2] = { 0, 0 };

        for (uint32_t p = 0; p < 2; p++)
                check_int(process_bpf_feed_frequency(source, p, khz[p][0]), 0);
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                start(&works[i], &running[i]);
        usleep(100 * 1000);
        note(running, at, at);
        poll_once();
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                begin(&running[i]);
        begin_ns = clock_ns(CLOCK_MONOTONIC);
        for (size_t i = 0; i < 6; i++)
                before_ns[i / 3] += sample.opps[i].any_ns;
        for (size_t round = 0; round < 21; round++) {
                const size_t *step = steps[round % ARRAY_SIZE(steps)];

                note(running, at, at);
                for (uint32_t p = 0; p < 2; p++)
                        check_int(process_bpf_feed_frequency(source, p, khz[p][step[p]] + measured), 0);
                note(running, at, step);
                at[0] = step[0];
                at[1] = step[1];
                usleep(70 * 1000);
                if (round % 5 == 4)
                        poll_once();
        }
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                kill(running[i].pid, SIGSTOP);
        usleep(20 * 1000);
        note(running, at, at);
        for (size_t i = 0; i < ARRAY_SIZE(works); i++)
                kill(running[i].pid, SIGCONT);
        poll_once();
        check_policies(before_ns, clock_ns(CLOCK_MONOTONIC) - begin_ns);
        for (size_t i = 0; i < ARRAY_SIZE(works); i++) {
                check_split(&works[i], &running[i]);
                end_child(running[i].pid);
        }
}

#define CROWD 6000 /* threads; more than the 4,096 places */

static void *wait_for_ever(void *data)
{
        for (;;)
                pause();
        return data;
}

/* Starts a process with CROWD threads, each of which ran. Returns its pid; -1: too many threads for the machine. */
static pid_t start_crowd(void)
{
        pthread_attr_t small;
        int ready[2];
        char byte;
        pid_t pid;

        if (pipe2(ready, O_CLOEXEC) < 0)
                return -1;
        pid = start_child();
        if (pid == 0) {
                pthread_t thread;

                prctl(PR_SET_PDEATHSIG, SIGKILL);
                pthread_attr_init(&small);
                pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
                for (int i = 0; i < CROWD; i++)
                        if (pthread_create(&thread, &small, wait_for_ever, NULL) != 0)
                                _exit(1);
                usleep(50 * 1000);
                if (write(ready[1], "", 1) != 1)
                        _exit(1);
                wait_for_ever(NULL);
        }
        close(ready[1]);
        if (pid > 0 && read(ready[0], &byte, 1) != 1) {
                waitpid(pid, NULL, 0);
                pid = -1;
        }
        close(ready[0]);
        return pid;
}

static void end_crowd(pid_t pid)
{
        end_child(pid);
        usleep(300 * 1000); /* the kernel frees them when no reader can see them any more */
}

static char *frequency_file(size_t p)
{
        char *path = NULL;

        if (asprintf(&path, "%s/sys/devices/system/cpu/cpufreq/policy%u/scaling_cur_freq", tree, policies[p]) < 0)
                return NULL;
        return path;
}

/* Sets another frequency as soon as the first policy's has been read. */
static void *change_after_read(void *watch_fd)
{
        _cleanup_free_ char *path = frequency_file(0), *text = NULL;
        char event[sizeof(struct inotify_event) + NAME_MAX + 1];

        if (read(*(int *)watch_fd, event, sizeof(event)) > 0 && asprintf(&text, "%u\n", khz[0][2]) > 0)
                write_text(path, text);
        return NULL;
}

/* A change before the programs run is not reported to them. */
static void test_change_while_loading(const struct collector_options *options)
{
        _cleanup_free_ char *path = frequency_file(0);
        _cleanup_close_ int watch_fd = inotify_init1(IN_CLOEXEC);
        uint64_t fast_ns = 0, slow_ns = 0;
        const struct process *process;
        pthread_t thread;
        pid_t pid;

        check(inotify_add_watch(watch_fd, path, IN_CLOSE_NOWRITE) >= 0);
        pthread_create(&thread, NULL, change_after_read, &watch_fd);
        check_int(collector_open(all_collectors, "bpf", options, &source), 0);
        pthread_join(thread, NULL);
        pid = start_spinning(0);
        usleep(300 * 1000);
        stop_and_poll(pid);
        process = find(pid);
        check(process && process->cpu_opp_ns);
        if (process && process->cpu_opp_ns) {
                slow_ns = process->cpu_opp_ns[0];
                fast_ns = process->cpu_opp_ns[2];
        }
        check(fast_ns > 20 * NS_PER_MS && slow_ns < fast_ns / 10);
        end_child(pid);
        source->ops->close(source);
}

static uint64_t ran_at(const struct process *process, uint32_t policy, uint32_t at_khz)
{
        for (size_t i = 0; i < sample.n_opps; i++)
                if (sample.opps[i].policy == policy && sample.opps[i].khz == at_khz)
                        return process->cpu_opp_ns[i];
        return 0;
}

static void check_ran_at(pid_t pid, uint32_t policy, uint32_t at_khz)
{
        const struct process *process = find(pid);

        check(process && process->cpu_opp_ns && process->cpu_ns > 20 * NS_PER_MS);
        if (process && process->cpu_opp_ns)
                check_near((double)ran_at(process, policy, at_khz), (double)process->cpu_ns,
                           0.1 * (double)process->cpu_ns);
}

static uint64_t policy_busy_ns(uint32_t policy)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < sample.n_opps; i++)
                sum += sample.opps[i].policy == policy ? sample.opps[i].busy_ns : 0;
        return sum;
}

/* The second policy is one CPU, which is offline. */
static void check_offline_is_idle(void)
{
        uint64_t before_ns;

        if (access(ONLINE, W_OK) < 0) {
                printf("skipped: no second CPU that can be taken offline\n");
                return;
        }
        promise_to_bring_back(20);
        check(set_online("0"));
        poll_once();
        before_ns = policy_busy_ns(1);
        usleep(200 * 1000);
        poll_once();
        check(policy_busy_ns(1) < before_ns + 20 * NS_PER_MS);
        bring_back();
        alarm(0);
}

/* The kernel reported nothing about the second policy, as if its CPUs were offline. Time on them is not lost. */
static void test_late_policy(const struct collector_options *options)
{
        char path[256];
        pid_t pid;

        snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpufreq/policy%u/related_cpus", tree,
                 policies[1]);
        check_int(unlink(path), 0);
        check_int(collector_open(all_collectors, "bpf", options, &source), 0);
        check(source->counts & COUNTS_OPPS);
        pid = start_spinning(1);
        usleep(300 * 1000);
        stop_and_poll(pid);
        check_ran_at(pid, 1, KHZ_UNKNOWN);
        check(policy_busy_ns(1) > 20 * NS_PER_MS);
        kill(pid, SIGCONT);
        check_offline_is_idle();
        end_child(pid);
        source->ops->close(source);
}

/*
 * Both CPUs are in the first policy now. The kernel reports a new frequency for each CPU that is online; the other one
 * has it when it is back.
 */
static void test_comes_back_to_another_frequency(const struct collector_options *options)
{
        char path[256];
        pid_t pid;

        if (access(ONLINE, W_OK) < 0) {
                printf("skipped: no second CPU that can be taken offline\n");
                return;
        }
        snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpufreq/policy%u/related_cpus", tree,
                 policies[0]);
        write_text(path, "0 1\n");
        check_int(collector_open(all_collectors, "bpf", options, &source), 0);
        promise_to_bring_back(20);
        check(set_online("0"));
        check_int(process_bpf_feed_frequency(source, 0, khz[0][1]), 0);
        bring_back();
        alarm(0);
        pid = start_spinning(1);
        usleep(300 * 1000);
        stop_and_poll(pid);
        check_ran_at(pid, 0, khz[0][1]);
        end_child(pid);
        source->ops->close(source);
}

static void remove_tree(void)
{
        char command[64];

        snprintf(command, sizeof(command), "rm -r %s", tree);
        if (system(command) != 0)
                fprintf(stderr, "%s is left behind\n", tree);
}

/* On a busy machine, too, the test looks at the clocks when it sets a frequency, and not a time slice later. */
static void be_prompt(void)
{
        const struct sched_param first = { .sched_priority = 1 };

        (void)sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

int main(int argc, char **argv)
{
        struct collector_options options = { .root_fd = make_tree() };
        int err = collector_open(all_collectors, "bpf", &options, &source);
        pid_t crowd;

        if (err || !(source->counts & COUNTS_OPPS) || sysconf(_SC_NPROCESSORS_ONLN) < 2) {
                printf("skipped: needs the BPF collector and two CPUs: %s\n", strerror(-err));
                return 77;
        }
        be_prompt();
        run();
        crowd = start_crowd();
        if (crowd > 0) {
                run();
                end_crowd(crowd);
                run();
        } else {
                printf("skipped: no room for %d threads\n", CROWD);
        }
        source->ops->close(source);
        test_change_while_loading(&options);
        test_late_policy(&options);
        test_comes_back_to_another_frequency(&options);
        sample_clear(&sample);
        remove_tree();
        return check_result();
}
