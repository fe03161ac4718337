/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "disk-load.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "pace.h"
#include "random.h"
#include "util/units.h"
#include "util/util.h"

/*
 * All that is due is done in slices, with a sleep between them: a thousand sleeps a second for small reads
 * would keep a core awake, and its power would be taken for the disk's.
 */
#define SLICE_NS (20 * NS_PER_MS)
#define STOP_LOOK_NS (100 * NS_PER_MS)
#define BUFFER_BYTES ((size_t)1 << 20) /* random: storages that compress would write less */

struct file_state {
        struct disk_file *file;
        int err;
        uint64_t read_bytes, written_bytes; /* moved by jobs */
};

struct disk_load {
        pthread_t thread;
        pthread_mutex_t lock; /* protects all below */
        pthread_cond_t changed;
        bool ending, ready;
        struct disk_job job;
        unsigned generation;  /* number of the job */
        struct disk_counts counts;
        struct file_state *files;
        size_t n_files;

        /* Only used by the thread. */
        uint64_t file_bytes;
        double limit_bytes;
        char *buffer;
        struct random random;
        struct pace read, write;
        size_t turn;          /* whose file is next */
};

/* Checked before each write, so that the limit is never exceeded. */
static bool may_write(struct disk_load *load, uint64_t bytes)
{
        if ((double)(load->counts.written_bytes + load->counts.made_bytes + bytes) <= load->limit_bytes)
                return true;
        load->counts.limit_reached = true;
        return false;
}

/* ---- making the files ---- */

static bool may_fill(void *data, uint64_t bytes)
{
        struct disk_load *load = data;
        bool may;

        pthread_mutex_lock(&load->lock);
        may = !load->ending && may_write(load, bytes);
        load->counts.made_bytes += may ? bytes : 0;
        pthread_mutex_unlock(&load->lock);
        return may;
}

static void make_files(struct disk_load *load)
{
        for (size_t i = 0; i < load->n_files; i++) {
                struct file_state *state = &load->files[i];
                int err = disk_file_make(state->file, load->file_bytes, load->buffer, BUFFER_BYTES, may_fill,
                                         load);

                if (err)
                        disk_file_remove(state->file); /* at once: others may need the space */
                pthread_mutex_lock(&load->lock);
                state->err = err == -EINTR && load->counts.limit_reached ? -EDQUOT : err;
                pthread_mutex_unlock(&load->lock);
        }
        pthread_mutex_lock(&load->lock);
        load->ready = true;
        pthread_cond_broadcast(&load->changed);
        pthread_mutex_unlock(&load->lock);
}

/* ---- the load ---- */

/* The storages take turns. NULL: none is usable. */
static struct file_state *next_file(struct disk_load *load)
{
        for (size_t i = 0; i < load->n_files; i++) {
                struct file_state *state = &load->files[load->turn++ % load->n_files];

                if (!state->err)
                        return state;
        }
        return NULL;
}

static uint64_t random_offset(struct disk_load *load, const struct disk_file *file,
                              const struct disk_job *job, size_t length)
{
        uint64_t places = file->bytes / length;

        if (job->operations)
                places = MIN(places, job->operations);
        return places ? random_below(&load->random, places) * length : 0;
}

/* One read or write; the lock is released during it. Returns its bytes; 0: failed. */
static size_t operate(struct disk_load *load, bool writes)
{
        struct disk_job job = load->job;
        struct file_state *state = next_file(load);
        uint32_t wanted = job.operation_bytes ? job.operation_bytes : DISK_OPERATION_BYTES, align;
        size_t length;
        uint64_t offset;
        char *from;
        ssize_t n;
        int err;

        if (!state)
                return 0;
        align = state->file->storage->align;
        length = MIN(((size_t)wanted + align - 1) / align * align, BUFFER_BYTES / 2);
        if (writes && !may_write(load, length))
                return 0;
        offset = random_offset(load, state->file, &job, length);
        from = load->buffer + random_below(&load->random, BUFFER_BYTES / 2 / align) * align;
        pthread_mutex_unlock(&load->lock);
        do
                n = writes ? pwrite(state->file->fd, from, length, (off_t)offset)
                           : pread(state->file->fd, from, length, (off_t)offset);
        while (n < 0 && errno == EINTR);
        err = n < 0 ? -errno : n == 0 ? -EIO : 0;
        pthread_mutex_lock(&load->lock);
        if (err) {
                state->err = err;
                return operate(load, writes);
        }
        *(writes ? &load->counts.written_bytes : &load->counts.read_bytes) += (size_t)n;
        *(writes ? &state->written_bytes : &state->read_bytes) += (size_t)n;
        return (size_t)n;
}

static bool goes_on(const struct disk_load *load, unsigned generation)
{
        return !load->ending && load->generation == generation;
}

/* Does all that is due by now, reads and writes in turn. */
static void run_slice(struct disk_load *load)
{
        unsigned generation = load->generation;
        uint64_t now = util_clock_ns(CLOCK_MONOTONIC);
        bool more = true;

        while (more && goes_on(load, generation)) {
                struct pace *const paces[] = { &load->read, &load->write };

                more = false;
                for (size_t i = 0; i < ARRAY_SIZE(paces) && goes_on(load, generation); i++) {
                        size_t bytes = pace_owed(paces[i], now) > 0 ? operate(load, i == 1) : 0;

                        pace_did(paces[i], (double)bytes);
                        more = more || bytes > 0;
                }
        }
}

static void sleep_until(struct disk_load *load, uint64_t until_ns)
{
        struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_S),
                                  .tv_nsec = (long)(until_ns % NS_PER_S) };
        unsigned generation = load->generation;

        while (goes_on(load, generation) && util_clock_ns(CLOCK_MONOTONIC) < until_ns)
                pthread_cond_timedwait(&load->changed, &load->lock, &until);
}

static void run_job(struct disk_load *load)
{
        unsigned generation = load->generation;
        uint64_t slice = util_clock_ns(CLOCK_MONOTONIC);

        pace_start(&load->read, load->job.read_bytes_per_s, slice);
        pace_start(&load->write, load->job.write_bytes_per_s, slice);
        while (goes_on(load, generation)) {
                run_slice(load);
                slice = MAX(slice + SLICE_NS, util_clock_ns(CLOCK_MONOTONIC));
                sleep_until(load, slice);
        }
}

static void *run(void *data)
{
        struct disk_load *load = data;

        make_files(load);
        pthread_mutex_lock(&load->lock);
        while (!load->ending) {
                if (load->job.read_bytes_per_s > 0 || load->job.write_bytes_per_s > 0)
                        run_job(load);
                else
                        pthread_cond_wait(&load->changed, &load->lock);
        }
        pthread_mutex_unlock(&load->lock);
        return NULL;
}

/* ---- from outside ---- */

static void free_load(struct disk_load *load)
{
        free(load->buffer);
        free(load->files);
        free(load);
}

/* Signals go to the main thread. */
static int start_thread(struct disk_load *load)
{
        pthread_condattr_t monotonic;
        sigset_t all, before;
        int err;

        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(&load->changed, &monotonic);
        pthread_condattr_destroy(&monotonic);
        pthread_mutex_init(&load->lock, NULL);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        err = pthread_create(&load->thread, NULL, run, load);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return -err;
}

int disk_load_start(struct disk_file *files, size_t n, uint64_t file_bytes, double limit_bytes,
                    struct disk_load **ret)
{
        struct disk_load *load = calloc(1, sizeof(*load));
        uint64_t seed;
        int err;

        if (!load)
                return -ENOMEM;
        load->files = calloc(n + 1, sizeof(*load->files));
        load->buffer = aligned_alloc(65536, BUFFER_BYTES);
        if (!load->files || !load->buffer) {
                free_load(load);
                return -ENOMEM;
        }
        for (size_t i = 0; i < n; i++)
                load->files[i].file = &files[i];
        load->n_files = n;
        load->file_bytes = file_bytes;
        load->limit_bytes = limit_bytes;
        if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
                seed = util_clock_ns(CLOCK_MONOTONIC);
        random_start(&load->random, seed, 0);
        for (size_t i = 0; i < BUFFER_BYTES; i += sizeof(seed)) {
                seed = random_below(&load->random, UINT64_MAX);
                memcpy(load->buffer + i, &seed, sizeof(seed));
        }
        err = start_thread(load);
        if (err) {
                free_load(load);
                return err;
        }
        *ret = load;
        return 0;
}

void disk_load_end(struct disk_load *load)
{
        if (!load)
                return;
        pthread_mutex_lock(&load->lock);
        load->ending = true;
        pthread_cond_broadcast(&load->changed);
        pthread_mutex_unlock(&load->lock);
        pthread_join(load->thread, NULL);
        for (size_t i = 0; i < load->n_files; i++)
                disk_file_remove(load->files[i].file);
        pthread_cond_destroy(&load->changed);
        pthread_mutex_destroy(&load->lock);
        free_load(load);
}

/* At 5 MB/s, 256 MB take most of a minute. A signal does not end this wait, so @stop is polled. */
ssize_t disk_load_ready(struct disk_load *load, const volatile sig_atomic_t *stop)
{
        ssize_t usable = 0;

        pthread_mutex_lock(&load->lock);
        while (!load->ready && !(stop && *stop)) {
                uint64_t until_ns = util_clock_ns(CLOCK_MONOTONIC) + STOP_LOOK_NS;
                struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_S),
                                          .tv_nsec = (long)(until_ns % NS_PER_S) };

                pthread_cond_timedwait(&load->changed, &load->lock, &until);
        }
        for (size_t i = 0; i < load->n_files; i++)
                usable += load->files[i].err == 0;
        if (!load->ready)
                usable = -EINTR;
        pthread_mutex_unlock(&load->lock);
        return usable;
}

void disk_load_set(struct disk_load *load, const struct disk_job *job)
{
        pthread_mutex_lock(&load->lock);
        load->job = *job;
        load->generation++;
        pthread_cond_broadcast(&load->changed);
        pthread_mutex_unlock(&load->lock);
}

void disk_load_counts(struct disk_load *load, struct disk_counts *ret)
{
        pthread_mutex_lock(&load->lock);
        *ret = load->counts;
        pthread_mutex_unlock(&load->lock);
}

void disk_load_drop(struct disk_load *load, size_t file, int err)
{
        pthread_mutex_lock(&load->lock);
        load->files[file].err = err;
        pthread_mutex_unlock(&load->lock);
}

int disk_load_error(struct disk_load *load, size_t file)
{
        int err;

        pthread_mutex_lock(&load->lock);
        err = load->files[file].err;
        pthread_mutex_unlock(&load->lock);
        return err;
}

void disk_load_file_counts(struct disk_load *load, size_t file, uint64_t *read_bytes, uint64_t *written_bytes)
{
        pthread_mutex_lock(&load->lock);
        *read_bytes = load->files[file].read_bytes;
        *written_bytes = load->files[file].written_bytes;
        pthread_mutex_unlock(&load->lock);
}
