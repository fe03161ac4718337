/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* CPUs that come and go, on a tree of two clusters: what they did is neither lost nor invented. */

#include <fcntl.h>
#include <unistd.h>

#include "check.h"
#include "interval/interval.h"
#include "source/cpu.h"
#include "tree.h"
#include "util/units.h"

#define S NS_PER_S

static char dir[64];

static void put(const char *path, const char *text)
{
        check(tree_write(dir, path, text, strlen(text)));
}

/* The folder of a policy exists while one of its CPUs is online; when it comes back its counters restart. */
static void set_policy(unsigned policy, const char *cpus, unsigned low_khz, unsigned low_ticks,
                       unsigned high_ticks)
{
        char path[128], text[128];

        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpufreq/policy%u/related_cpus", policy);
        put(path, cpus);
        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpufreq/policy%u/stats/time_in_state", policy);
        snprintf(text, sizeof(text), "%u %u\n%u %u\n", low_khz, low_ticks, low_khz + 800000, high_ticks);
        put(path, text);
}

static void remove_policy(unsigned policy)
{
        char path[128];

        snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpufreq/policy%u", dir, policy);
        tree_remove(path);
}

/* Busy ticks of the CPUs 0, 1, 4, 5; -1: offline. */
static void set_cpus(const int *ticks)
{
        static const int numbers[] = { 0, 1, 4, 5 };
        char text[512] = "cpu  0 0 0 0 0 0 0 0 0 0\n";

        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
                if (ticks[i] >= 0)
                        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                                 "cpu%d %d 0 0 0 0 0 0 0 0 0\n", numbers[i], ticks[i]);
        put("proc/stat", text);
}

struct fixture {
        struct source *cpu;
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        uint64_t now_ns;
};

/* Polls ten seconds later; returns CPU time of no app by policy. */
static int look(struct fixture *f, uint64_t *little_ns, uint64_t *big_ns)
{
        int err;

        f->now_ns += 10 * S;
        sample_reset(&f->sample);
        f->sample.boottime_ns = f->sample.monotonic_ns = f->now_ns;
        f->sample.realtime_ns = (int64_t)f->now_ns;
        strcpy(f->sample.boot_id, "one");
        check_int(f->cpu->ops->read(f->cpu, &f->sample), 0);
        check_int(f->sample.n_opps, 4); /* those of both policies, online or not */
        err = interval_make(f->maker, &f->sample, &f->interval);
        *little_ns = *big_ns = 0;
        for (size_t i = 0; !err && i < f->interval.rows[0].usage.cpu.n; i++) {
                const struct point *cpu = &f->interval.rows[0].usage.cpu.list[i];

                *(cpu->policy == 0 ? little_ns : big_ns) += cpu->busy_ns;
                check(cpu->khz != KHZ_UNKNOWN);
        }
        return err;
}

int main(void)
{
        struct fixture f = { .now_ns = 1000 * S };
        uint64_t little_ns, big_ns;
        int root_fd;

        snprintf(dir, sizeof(dir), "/tmp/joulecast-hotplug-XXXXXX");
        check(mkdtemp(dir));
        set_policy(0, "0 1", 1000000, 1000, 1000);
        set_policy(4, "4 5", 1200000, 0, 1000);
        set_cpus((int[]){ 100, 100, 100, 100 });
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(cpu_open(root_fd, &f.cpu), 0);
        check_int(interval_maker_new(&f.maker), 0);
        look(&f, &little_ns, &big_ns);

        /* All are there. */
        set_policy(0, "0 1", 1000000, 2000, 1000);
        set_policy(4, "4 5", 1200000, 0, 2000);
        set_cpus((int[]){ 600, 300, 900, 100 });
        check_int(look(&f, &little_ns, &big_ns), 0);
        check_int(little_ns, 7 * S);
        check_int(big_ns, 8 * S);

        /* The big cluster goes, as in power saving; a CPU that is gone has no share. */
        set_policy(0, "0 1", 1000000, 3000, 1000);
        remove_policy(4);
        set_cpus((int[]){ 1100, 300, -1, -1 });
        check_int(look(&f, &little_ns, &big_ns), 0);
        check_int(f.sample.n_cores, 4); /* swapped: the sample before */
        check_int(little_ns, 5 * S);
        check_int(big_ns, 0);

        /*
         * The policy comes back with new counters, while the other one goes: the number of CPUs is the same, but they
         * are others.
         */
        remove_policy(0);
        set_policy(4, "4 5", 1200000, 0, 300);
        set_cpus((int[]){ -1, -1, 950, 100 });
        check_int(look(&f, &little_ns, &big_ns), 0);
        check_int(little_ns + big_ns, 0); /* since when it ran is not known */

        set_policy(4, "4 5", 1200000, 0, 1300);
        set_cpus((int[]){ -1, -1, 1250, 200 });
        check_int(look(&f, &little_ns, &big_ns), 0);
        check_int(big_ns, 4 * S);

        /* One CPU of it goes offline with less than it had, as drivers that reset their counters do. */
        set_policy(4, "4 5", 1200000, 0, 2300);
        set_cpus((int[]){ -1, -1, 1450, -1 });
        check_int(look(&f, &little_ns, &big_ns), 0);
        check_int(big_ns, 2 * S);
        set_policy(4, "4 5", 1200000, 0, 3300);
        set_cpus((int[]){ -1, -1, 1650, 5 });
        check_int(look(&f, &little_ns, &big_ns), 0);
        check_int(big_ns, 2 * S);
        set_cpus((int[]){ -1, -1, 1650, 105 });
        set_policy(4, "4 5", 1200000, 0, 4300);
        check_int(look(&f, &little_ns, &big_ns), 0);
        check_int(big_ns, 1 * S);

        f.cpu->ops->close(f.cpu);
        interval_maker_free(f.maker);
        sample_clear(&f.sample);
        interval_clear(&f.interval);
        close(root_fd);
        tree_remove(dir);
        return check_result();
}
