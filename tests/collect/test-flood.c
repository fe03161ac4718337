/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One user starts and ends far more processes between two polls than the kernel can report, under as many uids as a
 * user namespace has. Another user's process is reported as usual, and the flood is summed for the user who made it.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "child.h"
#include "ends.h"
#include "process/collector.h"
#include "source/sample.h"
#include "util/tuning.h"

#define FLOOD 6000 /* the ring holds about 2,800 records */
#define FLOOD_NS (600 * NS_PER_US)
#define VICTIM_NS (1200 * NS_PER_MS)
#define FLOODER 65534
#define FLOODER_UIDS 500000 /* the first of those in its namespace */
#define VICTIM 65533

static struct source *source;
static struct sample sample;
static char tree[] = "/tmp/flood-XXXXXX";
static bool split;

/* CPU time of ended processes, summed over all polls. */
static struct {
        uint64_t flood_ns, victim_ns, others_ns, others_opps_ns;
} told;

static uint64_t clock_ns(clockid_t clock)
{
        struct timespec now = { 0 };

        clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void spin(uint64_t ns)
{
        while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < ns)
                ;
}

static void write_text(const char *folder, const char *name, const char *text)
{
        char path[256];

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        check_int(util_make_parent(path, 0700), 0);
        check_int(util_write_file(path, text, strlen(text), 0600), 0);
}

/* Makes a machine with frequencies, since times by operating point are summed, too. */
static int make_tree(void)
{
        char policy[128], text[64];

        if (!mkdtemp(tree))
                return -errno;
        snprintf(policy, sizeof(policy), "%s/sys/devices/system/cpu/cpufreq/policy0", tree);
        snprintf(text, sizeof(text), "0-%ld\n", sysconf(_SC_NPROCESSORS_CONF) - 1);
        write_text(tree, "sys/devices/system/cpu/present", text);
        write_text(policy, "stats/time_in_state", "500000 1\n1000000 2\n");
        write_text(policy, "related_cpus", "0 1 2 3 4 5 6 7\n");
        write_text(policy, "scaling_cur_freq", "1000000\n");
        return open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void note(const struct process *process)
{
        bool others = strcmp(process->app, TUNING_OTHER_APPS) == 0;

        if (process->ended_ns == 0)
                return;
        if (strcmp(process->comm, "flood-child") == 0)
                told.flood_ns += process->cpu_ns;
        if (strcmp(process->comm, "flood-victim") == 0 && process->uid == VICTIM)
                told.victim_ns += process->cpu_ns;
        if (others && process->uid == FLOODER)
                told.others_ns += process->cpu_ns;
        for (size_t i = 0; others && process->cpu_opp_ns && i < sample.n_opps; i++)
                told.others_opps_ns += process->uid == FLOODER ? process->cpu_opp_ns[i] : 0;
}

static void poll_once(void)
{
        sample_reset(&sample);
        for (uint32_t i = 0; split && i < 2; i++)
                sample_add_opp(&sample)->khz = 500000 * (i + 1);
        check_int(source->ops->read(source, &sample), 0);
        for (size_t i = 0; i < sample.n_processes; i++)
                note(&sample.processes[i]);
}

static _Noreturn void be_flood(int i)
{
        if (setresuid((uid_t)i + 1, (uid_t)i + 1, (uid_t)i + 1) < 0 && errno != EPERM)
                _exit(1);
        prctl(PR_SET_NAME, "flood-child");
        spin(FLOOD_NS);
        _exit(0);
}

/* Reports the CPU time of the whole flood. */
static _Noreturn void flood(int go, int done)
{
        struct rusage used = { 0 };
        uint64_t ns;
        char byte;

        if (setresgid(FLOODER, FLOODER, FLOODER) < 0 || setresuid(FLOODER, FLOODER, FLOODER) < 0)
                _exit(1);
        if (prctl(PR_SET_DUMPABLE, 1) < 0 || unshare(CLONE_NEWUSER) < 0)
                fprintf(stderr, "no user namespace for the flood: %s\n", strerror(errno));
        if (write(done, "", 1) != 1 || read(go, &byte, 1) != 1)
                _exit(1);
        for (int i = 0; i < FLOOD; i++) {
                pid_t pid = start_child();

                if (pid == 0)
                        be_flood(i);
                waitpid(pid, NULL, 0);
        }
        getrusage(RUSAGE_CHILDREN, &used);
        ns = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NS_PER_S +
             (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * NS_PER_US;
        if (write(done, &ns, sizeof(ns)) != sizeof(ns) || read(go, &byte, 1) != 1)
                _exit(1);
        _exit(0);
}

/* Maps uids like newuidmap. */
static void map_uids(pid_t pid)
{
        char path[64], text[96];
        int fd, n = snprintf(text, sizeof(text), "0 %d 1\n1 %d %d\n", FLOODER, FLOODER_UIDS, FLOOD + 1);

        snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || write(fd, text, (size_t)n) != n)
                fprintf(stderr, "no uids for the flood: %s\n", strerror(errno));
        close(fd);
}

static _Noreturn void be_victim(int go)
{
        char byte;

        if (setresuid(VICTIM, VICTIM, VICTIM) < 0)
                _exit(1);
        prctl(PR_SET_NAME, "flood-victim");
        spin(VICTIM_NS);
        _exit(read(go, &byte, 1) == 1 ? 0 : 1);
}

static void test_flood(void)
{
        int go[2], done[2], go_victim[2];
        struct ends_wait wait = { 0 };
        pid_t flooder, victim;
        uint64_t flood_ns = 0;
        char byte;

        check_int(pipe(go) | pipe(done) | pipe(go_victim), 0);
        flooder = start_child();
        if (flooder == 0)
                flood(go[0], done[1]);
        check_int(read(done[0], &byte, 1), 1);
        map_uids(flooder);
        poll_once();
        victim = start_child();
        if (victim == 0)
                be_victim(go_victim[0]);
        check_int(write(go[1], "", 1), 1);
        check_int(read(done[0], &flood_ns, sizeof(flood_ns)), sizeof(flood_ns));
        for (int i = 0; i < 5; i++)
                ends_barrier(); /* the ring is full of ends of the flood */
        check_int(write(go_victim[1], "", 1), 1);
        check_int(waitpid(victim, NULL, 0), victim);
        ends_barrier();
        do
                poll_once();
        while (ends_wait(&wait, told.victim_ns > 0 ? told.flood_ns + told.others_ns : 0, flood_ns - flood_ns / 50));
        fprintf(stderr, "flood: %.3f s, told of as its programs' %.3f s, as others %.3f s (%.3f by operating "
                        "point); victim %.3f s; %llu lost\n",
                (double)flood_ns / 1e9, (double)told.flood_ns / 1e9, (double)told.others_ns / 1e9,
                (double)told.others_opps_ns / 1e9, (double)told.victim_ns / 1e9, (unsigned long long)source->lost);
        check(told.victim_ns >= VICTIM_NS);
        check(told.flood_ns > 0);
        check(told.others_ns > flood_ns / 3);
        check_near((double)(told.flood_ns + told.others_ns), (double)flood_ns, (double)flood_ns * 0.03);
        if (split)
                check_near((double)told.others_opps_ns, (double)told.others_ns, (double)told.others_ns * 0.02);
        check_int(write(go[1], "", 1), 1);
        waitpid(flooder, NULL, 0);
}

/* Later polls report nothing of it: the sum is not a living app. */
static void test_is_over(void)
{
        uint64_t others_ns = told.others_ns;

        poll_once();
        poll_once();
        for (size_t i = 0; i < sample.n_processes; i++)
                check(strcmp(sample.processes[i].app, TUNING_OTHER_APPS) != 0);
        check(told.others_ns == others_ns);
}

int main(int argc, char **argv)
{
        struct collector_options options = { .root_fd = make_tree() };
        const char *name = argc > 1 ? argv[1] : "bpf";
        char command[64];
        int err = collector_open(all_collectors, name, &options, &source);

        snprintf(command, sizeof(command), "rm -r %s", tree);
        if (!err && (source->counts & COUNTS_EXITS)) {
                split = source->counts & COUNTS_OPPS;
                ends_open();
                poll_once();
                test_flood();
                test_is_over();
                ends_close();
                source->ops->close(source);
        } else {
                printf("skipped: %s does not load here, or is not told of exits: %s\n", name, strerror(-err));
                check_failures = 0;
        }
        if (system(command) != 0)
                fprintf(stderr, "%s is left behind\n", tree);
        sample_clear(&sample);
        return err ? 77 : ends_result();
}
