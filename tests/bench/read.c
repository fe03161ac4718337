/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How fast files of stacks are read: the bytes of each file by the least CPU time (user and system) that
 * reading it took in RUNS processes, each of which reads it once, with memory that is as new as in `joulecast diff`.
 *
 * Usage: bench-read FILE...
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "read.h"
#include "util/util.h"

#define RUNS 15

static double now(void)
{
        struct timespec time;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Seconds of CPU time; NAN: it cannot be read. */
static double read_once(const char *path)
{
        struct stacks stacks = { 0 };
        struct read read = { .name = path, .stacks = &stacks };
        double start = now();

        return stacks_new(&stacks) == 0 && read_file(&read, path) == 0 ? now() - start : NAN;
}

static double read_in_child(const char *path, double *shared)
{
        pid_t child;

        *shared = NAN;
        child = fork();
        if (child == 0) {
                *shared = read_once(path);
                _exit(0);
        }
        return child > 0 && waitpid(child, NULL, 0) == child ? *shared : NAN;
}

int main(int argc, char **argv)
{
        double *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (argc < 2 || shared == MAP_FAILED) {
                fprintf(stderr, "Usage: bench-read FILE...\n");
                return 2;
        }
        for (int i = 1; i < argc; i++) {
                double best = INFINITY, took;
                struct stat status;

                for (int run = 0; run < RUNS; run++) {
                        took = read_in_child(argv[i], shared);
                        if (isnan(took) || stat(argv[i], &status) < 0) {
                                fprintf(stderr, "bench-read: %s cannot be read\n", argv[i]);
                                return 1;
                        }
                        best = MIN(best, took);
                }
                printf("%-20s %5.1f MB %5.0f MB/s\n", argv[i], (double)status.st_size * 1e-6,
                       (double)status.st_size * 1e-6 / best);
        }
        return 0;
}
