/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Checks the CPU time that each collector misses of processes that execute another program, or that start or end
 * between two polls, and which program gets the rest. docs/performance.md says the same in words.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "ends.h"
#include "interval/interval.h"
#include "process/collector.h"
#include "source/clock.h"
#include "util/units.h"
#include "util/util.h"

#define BEFORE_NS (60 * NS_PER_MS) /* CPU time up to a poll */
#define AFTER_NS (90 * NS_PER_MS)  /* after it */
#define NEAR_NS (25 * NS_PER_MS)   /* two ticks, and the cost of a start and an end */

static struct sources sources;
static struct sample sample;
static struct interval interval;
static struct interval_maker *maker;
static int go[2], done[2];
static char *argv0;

/* Without apps, rows are by program: the name that a process gives itself, if argv[0] agrees with comm. */
static void be_called(const char *name)
{
        prctl(PR_SET_NAME, name);
        strcpy(argv0, name);
}

static void poll_once(void)
{
        int err;

        check_int(sources_read(&sources, &sample), 0);
        err = interval_make(maker, &sample, &interval);
        check(err == 0 || err == -ENODATA);
}

static uint64_t ran_of(const char *comm)
{
        uint64_t sum_ns = 0;

        for (size_t i = 0; i < interval.n_rows; i++)
                if (strcmp(interval.rows[i].app, comm) == 0)
                        sum_ns += usage_busy_ns(&interval.rows[i].usage);
        return sum_ns;
}

static uint64_t clock_ns(clockid_t clock)
{
        struct timespec now = { 0 };

        clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void spin(uint64_t ns)
{
        uint64_t end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ns;

        while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
                ;
}

/* The child reports that it is ready; wait_for() waits for that, or for let_go(). */
static void tell(void)
{
        (void)!write(done[1], "", 1);
}

static void wait_for(int fd)
{
        char byte;

        check_int(read(fd, &byte, 1), 1);
}

static void let_go(void)
{
        check_int(write(go[1], "", 1), 1);
}

/* The kernel reports ends late, so that time may come in several intervals: this returns the sum. */
static uint64_t ran_until_told(const char *comm, uint64_t wanted_ns)
{
        struct ends_wait wait = { 0 };
        uint64_t sum_ns = 0;

        while (ends_wait(&wait, sum_ns + NEAR_NS >= wanted_ns, 1)) {
                poll_once();
                sum_ns += ran_of(comm);
        }
        return sum_ns;
}

/* A process runs one program until some time after a poll, then another, which still runs at the next poll. */
static void becomes_another(bool told)
{
        pid_t pid = start_child();
        char fd[16];

        snprintf(fd, sizeof(fd), "%d", done[1]);
        if (pid == 0) {
                be_called("missed-first");
                spin(BEFORE_NS);
                tell();
                wait_for(go[0]);
                spin(AFTER_NS);
                execl("/proc/self/exe", "test-missed, once more", "second", fd, (char *)NULL);
                _exit(1);
        }
        wait_for(done[0]);
        poll_once();
        check_near((double)ran_of("missed-first"), (double)BEFORE_NS, (double)NEAR_NS);
        let_go();
        wait_for(done[0]);
        poll_once();
        check_near((double)ran_of("missed-first"), told ? (double)AFTER_NS : 0, (double)NEAR_NS);
        check_near((double)ran_of("missed-second"), (double)(told ? BEFORE_NS : AFTER_NS + BEFORE_NS),
                   (double)NEAR_NS);
        end_child(pid);
}

/* A process starts and ends between two polls. */
static void between_two_polls(bool told)
{
        pid_t pid;

        poll_once();
        pid = start_child();
        if (pid == 0) {
                be_called("missed-brief");
                spin(AFTER_NS);
                _exit(0);
        }
        waitpid(pid, NULL, 0);
        check_near((double)ran_until_told("missed-brief", told ? AFTER_NS : 1), told ? (double)AFTER_NS : 0,
                   (double)NEAR_NS);
}

/* A process was seen at one poll, and ends before the next. */
static void ends_after_a_poll(bool told)
{
        pid_t pid = start_child();

        if (pid == 0) {
                be_called("missed-end");
                spin(BEFORE_NS);
                tell();
                wait_for(go[0]);
                spin(AFTER_NS);
                _exit(0);
        }
        wait_for(done[0]);
        poll_once();
        check_near((double)ran_of("missed-end"), (double)BEFORE_NS, (double)NEAR_NS);
        let_go();
        waitpid(pid, NULL, 0);
        check_near((double)ran_until_told("missed-end", told ? AFTER_NS : 1), told ? (double)AFTER_NS : 0,
                   (double)NEAR_NS);
}

/* Runs as the second program, with the descriptors of the first. */
static _Noreturn void be_second(int told_fd)
{
        be_called("missed-second");
        spin(BEFORE_NS);
        (void)!write(told_fd, "", 1);
        for (;;)
                pause();
}

int main(int argc, char **argv)
{
        const char *name = argc > 1 ? argv[1] : "kept";
        struct collector_options options = { .root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        struct source *source = NULL;
        bool exits, execs;
        int err;

        argv0 = argv[0];
        if (argc > 2)
                be_second(atoi(argv[2]));
        if (strcmp(name, "kept-without-ends") == 0) { /* like a collector without root */
                name = "kept";
                options.leave_out = COUNTS_EXITS;
        }
        err = clock_open(options.root_fd, &source);
        if (!err)
                err = sources_add(&sources, source);
        if (!err)
                err = collector_open(all_collectors, name, &options, &source);
        if (!err)
                err = sources_add(&sources, source);
        exits = !err && (source->counts & COUNTS_EXITS);
        execs = exits && strncmp(name, "bpf", 3) == 0;
        if (err || (!exits && !options.leave_out && strcmp(name, "proc") != 0)) {
                printf("skipped: %s does not load here, or is not told of exits: %s\n", name, strerror(-err));
                return 77;
        }
        ends_open();
        check_int(interval_maker_new(&maker), 0);
        check_int(pipe(go), 0);
        check_int(pipe(done), 0);
        poll_once();
        becomes_another(execs);
        between_two_polls(exits);
        ends_after_a_poll(exits);
        ends_close();
        sources_close(&sources);
        sample_clear(&sample);
        interval_clear(&interval);
        interval_maker_free(maker);
        return ends_result();
}
