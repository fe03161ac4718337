/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spin.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "util/util.h"

struct spin {
        atomic_bool stop;
        size_t n;
        pthread_t threads[];
};

/*
 * Arithmetic in registers, as in inner loops of programs: no memory access, no system call; the flag is read
 * every 1024 rounds.
 */
static void *work(void *data)
{
        struct spin *spin = data;
        uint64_t x = 1;

        while (!atomic_load_explicit(&spin->stop, memory_order_relaxed)) {
                for (unsigned i = 0; i < 1024; i++) {
                        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                        __asm__ volatile("" : "+r"(x));
                }
        }
        return NULL;
}

static int start_on(struct spin *spin, uint32_t cpu)
{
        cpu_set_t set;
        int err;

        if (cpu >= CPU_SETSIZE)
                return -EINVAL;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        err = -pthread_create(&spin->threads[spin->n], NULL, work, spin);
        return err ? err : -pthread_setaffinity_np(spin->threads[spin->n++], sizeof(set), &set);
}

int spin_start(const uint32_t *cpus, size_t n, struct spin **ret)
{
        struct spin *spin = calloc(1, sizeof(*spin) + n * sizeof(spin->threads[0]));
        sigset_t all, before;
        int err = 0;

        if (!spin)
                return -ENOMEM;
        sigfillset(&all); /* signals go to the main thread */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        for (size_t i = 0; !err && i < n; i++)
                err = start_on(spin, cpus[i]);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (err) {
                spin_stop(spin);
                return err;
        }
        *ret = spin;
        return 0;
}

void spin_stop(struct spin *spin)
{
        if (!spin)
                return;
        atomic_store(&spin->stop, true);
        for (size_t i = 0; i < spin->n; i++)
                pthread_join(spin->threads[i], NULL);
        free(spin);
}
