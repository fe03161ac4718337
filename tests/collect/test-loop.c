/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The reported lifetime of an app that is a loop of short processes, like `while :; do sleep 0.5; done`, for SPAN_S
 * between two polls. Each row of `collectors` has the bounds of one collector.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "ends.h"
#include "interval/interval.h"
#include "process/collector.h"
#include "source/clock.h"
#include "util/units.h"
#include "util/util.h"

#define SPAN_S 10
#define CHILD "loop-child" /* name of the processes */

static const struct {
        const char *name;
        double least, most; /* reported time, as a part of the time they lived */
        double edge;        /* part of one life that may be reported or not */
} collectors[] = {
        { "bpf", 0.98, 1.02, 0.1 },
        { "bpf-iter", 0.98, 1.02, 0.1 },
        { "kept", 0.9, 1.02, 0.1 }, /* a life ends where the exit begins: some ms early on a busy machine */
        { "proc", 0, 1.02, 1 },    /* only processes alive at a poll */
};

static struct sources sources;
static struct sample sample;
static struct interval interval;
static struct interval_maker *maker;

static void poll_once(void)
{
        int err;

        check_int(sources_read(&sources, &sample), 0);
        err = interval_make(maker, &sample, &interval);
        check(err == 0 || err == -ENODATA);
}

static double active_s(void)
{
        double sum = 0;

        for (size_t i = 0; i < interval.n_rows; i++)
                if (strcmp(interval.rows[i].app, CHILD) == 0)
                        sum += (double)interval.rows[i].active_ns / NS_PER_S;
        return sum;
}

/*
 * Waits until the next poll. The kernel reports the last end late, and the interval that gets it contains that life
 * too; an interval reports no more than its length, so it must be as long as one life.
 */
static bool wait_for_ends(struct ends_wait *wait, double length_s)
{
        usleep((useconds_t)(length_s * 1e6));
        return ends_wait(wait, 0, 1);
}

/*
 * Runs a copy of sleep again and again, like a shell. Returns the sum of their lifetimes, each until it was waited for.
 */
static double run_loop(const char *folder, double length_s)
{
        char command[256], text[32];
        double lived_s = 0;
        uint64_t end_ns = util_boottime_ns() + SPAN_S * NS_PER_S;

        snprintf(text, sizeof(text), "%g", length_s);
        snprintf(command, sizeof(command), "%s/" CHILD, folder);
        while (util_boottime_ns() + (uint64_t)(length_s * NS_PER_S) <= end_ns) {
                uint64_t began_ns = util_boottime_ns();
                pid_t pid = start_child();

                if (pid == 0) {
                        execl(command, CHILD, text, (char *)NULL);
                        _exit(1);
                }
                waitpid(pid, NULL, 0);
                lived_s += (double)(util_boottime_ns() - began_ns) / NS_PER_S;
        }
        return lived_s;
}

static void loop_of(const char *folder, double length_s, size_t kind)
{
        struct ends_wait wait = { 0 };
        double lived_s, told_s = 0, edge_s = collectors[kind].edge * length_s + 0.05;

        poll_once();
        lived_s = run_loop(folder, length_s);
        do {
                poll_once();
                told_s += active_s();
        } while (collectors[kind].least > 0 && told_s < 0.995 * lived_s && wait_for_ends(&wait, length_s));
        printf("%s: processes of %g s lived for %.2f s, told %.2f s\n", collectors[kind].name, length_s, lived_s,
               told_s);
        check(told_s >= collectors[kind].least * lived_s - edge_s);
        check(told_s <= collectors[kind].most * lived_s + edge_s);
        poll_once();
        check_near(active_s(), 0, edge_s); /* each is reported once */
}

int main(int argc, char **argv)
{
        static const double lengths_s[] = { 0.05, 0.5, 2 };
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        char folder[] = "/tmp/test-loop-XXXXXX", path[64], command[128];
        struct source *source = NULL;
        size_t kind = 0;
        int err;

        while (kind + 1 < ARRAY_SIZE(collectors) && (argc < 2 || strcmp(collectors[kind].name, argv[1]) != 0))
                kind++;
        err = clock_open(options.root_fd, &source);
        if (!err)
                err = sources_add(&sources, source);
        if (!err)
                err = collector_open(all_collectors, collectors[kind].name, &options, &source);
        if (!err)
                err = sources_add(&sources, source);
        if (err || (collectors[kind].least > 0 && !(source->counts & COUNTS_EXITS))) {
                printf("skipped: %s does not load here, or is not told of exits: %s\n", collectors[kind].name,
                       strerror(-err));
                return 77;
        }
        check(mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/" CHILD, folder);
        snprintf(command, sizeof(command), "cp \"$(command -v sleep)\" %s", path);
        check_int(system(command), 0);
        ends_open();
        check_int(interval_maker_new(&maker), 0);
        for (size_t i = 0; i < ARRAY_SIZE(lengths_s); i++)
                loop_of(folder, lengths_s[i], kind);
        ends_close();
        unlink(path);
        rmdir(folder);
        sources_close(&sources);
        sample_clear(&sample);
        interval_clear(&interval);
        interval_maker_free(maker);
        return ends_result();
}
