/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Measures the CPU time that a poll takes to find the processes that use sound and cameras: on this machine; with two
 * sound cards of 16 streams each, two of which run; with a camera that is in use; and with a camera whose driver does
 * not report its number of users, so that each poll reads the descriptors of all processes. Cards and cameras are
 * files in a folder in memory, processes are those of this machine. Prints medians of polls, each after a sleep. Needs
 * root.
 *
 * Usage: bench-held [POLLS]
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "held/held.h"
#include "tree.h"
#include "util/units.h"

#define CARDS 2
#define STREAMS 16
#define POLLS_MAX 1000

static double cpu_us(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
        double one = *(const double *)a, other = *(const double *)b;

        return one < other ? -1 : one > other;
}

static void fill(struct sample *sample, uint64_t now_ns)
{
        _cleanup_closedir_ DIR *dir = opendir("/proc");
        const struct dirent *entry;

        sample_reset(sample);
        sample->monotonic_ns = sample->boottime_ns = now_ns;
        sample->have = SAMPLE_PROCESSES;
        while (dir && (entry = readdir(dir)))
                if (atoi(entry->d_name) > 0) {
                        struct process *process = sample_add_process(sample, false);

                        process->pid = atoi(entry->d_name);
                        process->began_ns = 1;
                }
}

static void measure(const char *what, const char *root, int polls)
{
        double us[POLLS_MAX];
        struct source *source = NULL;
        struct sample sample = { 0 };
        int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (root_fd < 0 || held_open(root_fd, NULL, true, &source) < 0)
                exit(1);
        for (int i = 0; i < polls; i++) {
                double before;

                fill(&sample, (uint64_t)(i + 1) * NS_PER_S);
                usleep(50000);
                before = cpu_us();
                if (source->ops->read(source, &sample) < 0)
                        exit(1);
                us[i] = cpu_us() - before;
        }
        qsort(us, (size_t)polls, sizeof(*us), compare);
        printf("%-24s %4zu processes  %8.1f us\n", what, sample.n_processes, us[polls / 2]);
        source->ops->close(source);
        sample_clear(&sample);
        close(root_fd);
}

static void write_file(const char *dir, const char *path, const char *text)
{
        if (!tree_write(dir, path, text, strlen(text)))
                exit(1);
}

int main(int argc, char **argv)
{
        int polls = argc > 1 ? atoi(argv[1]) : 100;
        char dir[] = "/dev/shm/joulecast-held-XXXXXX", camera[] = "/dev/shm/joulecast-held-XXXXXX";
        char path[128], text[128], list[4096];
        size_t length = 0;

        if (polls < 1 || polls > POLLS_MAX || !mkdtemp(dir) || !mkdtemp(camera))
                return 2;
        for (int i = 0; i < CARDS * STREAMS; i++)
                length += (size_t)snprintf(list + length, sizeof(list) - length, "%02d-%02d: id : name : playback 1\n",
                                           i / STREAMS, i % STREAMS);
        write_file(dir, "proc/asound/pcm", list);
        for (int i = 0; i < CARDS * STREAMS; i++) {
                snprintf(path, sizeof(path), "proc/asound/card%d/pcm%dp/sub0/status", i / STREAMS, i % STREAMS);
                snprintf(text, sizeof(text), "state: RUNNING\nowner_pid   : %d\n", i ? getpid() : 1);
                write_file(dir, path, i % STREAMS == 0 ? text : "closed\n");
        }
        write_file(camera, "sys/class/video4linux/video0/dev", "81:0\n");
        write_file(camera, "sys/class/video4linux/video0/device/driver/module/refcnt", "1\n");
        snprintf(path, sizeof(path), "%s/proc", camera);
        if (symlink("/proc", path) < 0)
                return 1;
        measure("this machine", "/", polls);
        measure("two cards", dir, polls);
        measure("a camera in use", camera, polls);
        write_file(camera, "sys/class/video4linux/video0/device/driver/module/refcnt", "");
        measure("a camera, users unknown", camera, polls);
        tree_remove(dir);
        unlink(path);
        tree_remove(camera);
        return 0;
}
