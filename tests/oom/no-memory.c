/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * An allocator that fails, for LD_PRELOAD: the NO_MEMORY_AT-th allocation of a program gets nothing, and with
 * NO_MEMORY_LAST set all after it, too. The file NO_MEMORY_CALLS gets a line for each place in the program from which
 * memory is allocated: the number of the first allocation from there, and of the last. With NO_MEMORY_SHOW stderr gets
 * the callers of each that failed.
 */

#include <dlfcn.h>
#include <execinfo.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH 14          /* callers that make a place */
#define PLACES (1u << 16) /* a power of two */

static void *(*next_malloc)(size_t size);
static void *(*next_calloc)(size_t n, size_t size);
static void *(*next_realloc)(void *old, size_t size);
static void (*next_free)(void *memory);
static unsigned long count, fail_at, fail_all;
static bool counting, show;
static _Thread_local bool inside;
static pid_t program;

/* dlsym() allocates before there is an allocator. */
static char early[1 << 18] __attribute__((aligned(16)));
static size_t early_used;

static struct place {
        unsigned long hash, first, last;
} *places;

static void *allocate_early(size_t size)
{
        size_t at = early_used;

        early_used += (size + 31) & ~(size_t)15;
        if (early_used > sizeof(early))
                abort();
        *(size_t *)(void *)(early + at) = size;
        return early + at + 16;
}

static bool is_early(const void *memory)
{
        return (const char *)memory >= early && (const char *)memory < early + sizeof(early);
}

static void note_place(void)
{
        void *callers[DEPTH + 2];
        int n = backtrace(callers, DEPTH + 2);
        unsigned long hash = (unsigned long)14695981039346656037ull;
        size_t i;

        for (int j = 2; j < n; j++)
                hash = (hash ^ (unsigned long)callers[j]) * 1099511628211ul;
        for (i = hash % PLACES; places[i].first && places[i].hash != hash; i = (i + 1) % PLACES)
                continue;
        if (!places[i].first)
                places[i] = (struct place){ .hash = hash, .first = count };
        places[i].last = count;
}

static bool fails(void)
{
        void *callers[DEPTH];
        bool now;

        if (!counting || inside)
                return false;
        inside = true;
        count++;
        if (places)
                note_place();
        now = fail_at && (count == fail_at || (fail_all && count > fail_at));
        if (now && show)
                backtrace_symbols_fd(callers, backtrace(callers, DEPTH), STDERR_FILENO);
        inside = false;
        if (now)
                errno = ENOMEM;
        return now;
}

void *malloc(size_t size)
{
        if (!next_malloc)
                return allocate_early(size);
        return fails() ? NULL : next_malloc(size);
}

void *calloc(size_t n, size_t size)
{
        if (!next_calloc)
                return allocate_early(n * size);
        return fails() ? NULL : next_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
        void *new;

        if (!is_early(old) && next_realloc)
                return size > 0 && fails() ? NULL : next_realloc(old, size);
        new = malloc(size);
        if (new && old)
                memcpy(new, old, size < ((size_t *)old)[-2] ? size : ((size_t *)old)[-2]);
        return new;
}

void free(void *memory)
{
        if (memory && !is_early(memory))
                next_free(memory);
}

/* Stores the next definition of a function: dlsym() returns a pointer to an object. */
static void find(void *to, const char *name)
{
        void *found = dlsym(RTLD_NEXT, name);

        memcpy(to, &found, sizeof(found));
}

__attribute__((constructor)) static void begin(void)
{
        const char *at = getenv("NO_MEMORY_AT");
        void *callers[2];

        find(&next_free, "free");
        find(&next_calloc, "calloc");
        find(&next_realloc, "realloc");
        find(&next_malloc, "malloc");
        fail_at = at ? strtoul(at, NULL, 10) : 0;
        fail_all = getenv("NO_MEMORY_LAST") != NULL;
        show = getenv("NO_MEMORY_SHOW") != NULL;
        backtrace(callers, 2); /* it loads a library the first time */
        if (getenv("NO_MEMORY_CALLS"))
                places = next_calloc(PLACES, sizeof(*places));
        program = getpid();
        counting = true;
}

__attribute__((destructor)) static void end(void)
{
        const char *path = getenv("NO_MEMORY_CALLS");
        FILE *file;

        counting = false;
        if (!places || getpid() != program)
                return;
        file = fopen(path, "w");
        for (size_t i = 0; file && i < PLACES; i++)
                if (places[i].first)
                        fprintf(file, "%lu %lu\n", places[i].first, places[i].last);
        if (file)
                fclose(file);
}
