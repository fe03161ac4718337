/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <pthread.h>
#include <sched.h>

#include "threads.h"
#include "util/util.h"

struct thread {
        pthread_t id;
        int (*run)(void *data, size_t thread);
        void *data;
        size_t number;
        int err;
};

size_t threads_count(void)
{
        cpu_set_t cpus;

        return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? MIN((size_t)CPU_COUNT(&cpus), THREADS_MAX) : 1;
}

static void *begin(void *data)
{
        struct thread *thread = data;

        thread->err = thread->run(thread->data, thread->number);
        return NULL;
}

int threads_run(int (*run)(void *data, size_t thread), void *data, size_t n)
{
        struct thread threads[THREADS_MAX];
        size_t begun = 1;
        int err;

        for (; begun < MIN(n, THREADS_MAX); begun++) {
                threads[begun] = (struct thread){ .run = run, .data = data, .number = begun };
                if (pthread_create(&threads[begun].id, NULL, begin, &threads[begun]) != 0)
                        break;
        }
        err = run(data, 0);
        for (size_t i = 1; i < begun; i++) {
                pthread_join(threads[i].id, NULL);
                err = err ? err : threads[i].err;
        }
        return err;
}
