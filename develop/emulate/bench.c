/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/util.h"
#include "util/words.h"

#define MEMORY_BYTES (64u << 20)
#define WORDS (MEMORY_BYTES / sizeof(uint32_t))
#define LINE_WORDS 16 /* words in a cache line */
#define SORTED 4096
#define REPEATS_MAX 15

const struct bench_kind bench_kinds[BENCH_KERNELS] = {
        [BENCH_INT] = { "int", N_("M steps/s"), N_("whole numbers, each from the one before") },
        [BENCH_FLOAT] = { "float", N_("M operations/s"), N_("divisions and square roots") },
        [BENCH_CHASE] = { "chase", N_("M loads/s"), N_("memory in random order") },
        [BENCH_STREAM] = { "stream", "MB/s", N_("memory in order") },
        [BENCH_SORT] = { "sort", N_("M elements/s"), N_("unpredictable branches") },
};

struct memory {
        uint32_t *words;
        uint32_t at;      /* word at which the next chase goes on */
        uint32_t random;
        volatile uint32_t sink;
};

static uint32_t next_random(uint32_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        return *state;
}

static double run_int(struct memory *memory)
{
        uint32_t x = memory->random;

        for (int i = 0; i < 100000; i++)
                next_random(&x);
        memory->random = x;
        return 0.1;
}

static double run_float(struct memory *memory)
{
        volatile double start = 2;
        double x = start;

        for (int i = 0; i < 10000; i++)
                x = sqrt(x + 1) / 1.5 + 1;
        memory->sink = (uint32_t)x;
        return 0.02;
}

static double run_chase(struct memory *memory)
{
        uint32_t at = memory->at;

        for (int i = 0; i < 10000; i++)
                at = memory->words[at];
        memory->at = at;
        return 0.01;
}

/* Reads a part of the memory at a time, as all of it takes long on a slow machine. The words are not changed. */
static double run_stream(struct memory *memory)
{
        size_t part = WORDS / 8, from = (memory->random++ % 8) * part;
        uint32_t sum = 0;

        for (size_t i = from; i < from + part; i++)
                sum += memory->words[i] * 3;
        memory->sink = sum;
        return (double)part * sizeof(uint32_t) / 1e6;
}

static void sort(uint32_t *list, size_t n)
{
        while (n > 1) {
                uint32_t middle = list[(n - 1) / 2];
                size_t low = 0, high = n - 1;

                for (;; low++, high--) {
                        while (list[low] < middle)
                                low++;
                        while (list[high] > middle)
                                high--;
                        if (low >= high)
                                break;
                        uint32_t other = list[low];
                        list[low] = list[high];
                        list[high] = other;
                }
                sort(list, high + 1);
                list += high + 1;
                n -= high + 1;
        }
}

static double run_sort(struct memory *memory)
{
        static uint32_t list[SORTED];

        for (size_t i = 0; i < SORTED; i++)
                list[i] = next_random(&memory->random);
        sort(list, SORTED);
        memory->sink = list[SORTED / 2];
        return SORTED / 1e6;
}

static double (*const kernels[BENCH_KERNELS])(struct memory *) = { run_int, run_float, run_chase, run_stream,
                                                                   run_sort };

/* One cycle through the first words of all lines, in a random order (Sattolo). */
static int fill(struct memory *memory)
{
        size_t lines = WORDS / LINE_WORDS;
        uint32_t *order = malloc(lines * sizeof(*order));

        memory->words = calloc(WORDS, sizeof(*memory->words));
        memory->random = 2463534242u;
        if (!order || !memory->words) {
                free(order);
                return -ENOMEM;
        }
        for (size_t i = 0; i < lines; i++)
                order[i] = (uint32_t)i;
        for (size_t i = lines - 1; i > 0; i--) {
                size_t j = next_random(&memory->random) % i;
                uint32_t other = order[i];

                order[i] = order[j];
                order[j] = other;
        }
        for (size_t i = 0; i < lines; i++)
                memory->words[i * LINE_WORDS] = order[i] * LINE_WORDS;
        free(order);
        return 0;
}

/* CPU time, so that others who run on this machine do not count. */
static double cpu_s(void)
{
        return (double)util_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

static double measure(struct memory *memory, enum bench_kernel kernel, double seconds)
{
        double start = cpu_s(), units = 0, took;

        do {
                units += kernels[kernel](memory);
                took = cpu_s() - start;
        } while (took < seconds);
        return units / took;
}

static int compare(const void *a, const void *b)
{
        double left = *(const double *)a, right = *(const double *)b;

        return left < right ? -1 : left > right;
}

int bench_run(double seconds, size_t repeats, double ret[BENCH_KERNELS])
{
        struct memory memory = { 0 };
        double results[REPEATS_MAX];
        int err = fill(&memory);

        repeats = MIN(MAX(repeats, (size_t)1), (size_t)REPEATS_MAX);
        for (int k = 0; !err && k < BENCH_KERNELS; k++) {
                for (size_t i = 0; i < repeats; i++)
                        results[i] = measure(&memory, (enum bench_kernel)k, seconds);
                qsort(results, repeats, sizeof(*results), compare);
                ret[k] = results[repeats / 2];
        }
        free(memory.words);
        return err;
}
