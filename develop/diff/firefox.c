/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Files of the Firefox Profiler, which samply and others write, too: the processed format, in which tables
 * are objects of columns and may be shared by threads, and the one that Firefox itself writes, with rows,
 * and processes in processes.
 *
 * Samples are taken of time that passes, so a waiting thread has them, too. Where threads tell how much CPU
 * time they used since the sample before, that time counts.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "firefox-table.h"
#include "read.h"
#include "util/util.h"

#define NAME_SIZE 4096
#define PROCESSES_DEEP 4

enum {
        SAMPLES_STACK,
        SAMPLES_WEIGHT,
        SAMPLES_CPU,
        STACK_PREFIX,
        STACK_FRAME,
        FRAME_FUNC,
        FRAME_LOCATION,
        FUNC_NAME,
        FUNC_RESOURCE,
        RESOURCE_NAME,
        COLUMNS
};

static const struct {
        const char *table;
        int first, n;
} tables[] = {
        { "samples", SAMPLES_STACK, 3 },  { "stackTable", STACK_PREFIX, 2 },      { "frameTable", FRAME_FUNC, 2 },
        { "funcTable", FUNC_NAME, 2 },    { "resourceTable", RESOURCE_NAME, 1 },
};

static const char *const column_names[COLUMNS] = {
        "stack", "weight", "threadCPUDelta", "prefix", "frame", "func", "location", "name", "resource", "name"
};

/* Tables of a thread, or those that all threads share. */
struct thread {
        struct firefox_column columns[COLUMNS];
        struct firefox_strings strings;
};

/* Mapping of a library, for addresses without a name. */
struct library {
        double start, end;
        char name[256];
};

struct firefox {
        struct read *read;
        struct thread shared;
        struct library *libraries;
        size_t n_libraries, libraries_room;
        double cpu_factor; /* factor that converts CPU time to @cpu_unit; 0: the file has none */
        const char *cpu_unit;
        bool counts_time; /* a sample counts CPU time */
        int32_t product;
};

static void thread_clear(struct thread *thread)
{
        for (size_t i = 0; i < COLUMNS; i++)
                free(thread->columns[i].values);
        free(thread->strings.at);
}

static void firefox_clear(struct firefox *firefox)
{
        thread_clear(&firefox->shared);
        free(firefox->libraries);
}

static int fail(const struct firefox *firefox, int err)
{
        if (err == -E2BIG)
                return read_damaged(firefox->read, 0, "a table has more than 4 million rows");
        if (err == -EBADMSG)
                return read_damaged(firefox->read, 0, "it is a damaged file of the Firefox Profiler");
        return read_failed(firefox->read, err);
}

static int no_such(const struct firefox *firefox)
{
        return read_damaged(firefox->read, 0, "an index points to nothing");
}

static int read_thread(const struct firefox *firefox, struct json_text *json, struct thread *thread,
                       struct json_text *name)
{
        static const char *const names[] = { "samples",     "stackTable",    "frameTable",
                                             "funcTable",   "resourceTable", "stringArray",
                                             "stringTable", "processName",   "name" };
        struct json_text found[ARRAY_SIZE(names)];
        int err = 0;

        for (size_t i = 0; i < COLUMNS; i++)
                thread->columns[i].name = column_names[i];
        json_members(json, names, ARRAY_SIZE(names), found);
        if (json->failed)
                return fail(firefox, -EBADMSG);
        for (size_t i = 0; i < ARRAY_SIZE(tables) && err == 0; i++)
                if (found[i].at)
                        err = firefox_table_read(found[i], &thread->columns[tables[i].first], (size_t)tables[i].n);
        if (err == 0 && (found[5].at || found[6].at))
                err = firefox_table_read_strings(found[5].at ? found[5] : found[6], &thread->strings);
        *name = found[7].at ? found[7] : found[8];
        return err < 0 ? fail(firefox, err) : 0;
}

static const struct firefox_column *column(const struct firefox *firefox, const struct thread *thread, int which)
{
        return thread->columns[which].there ? &thread->columns[which] : &firefox->shared.columns[which];
}

static const struct firefox_strings *strings_of(const struct firefox *firefox, const struct thread *thread)
{
        return thread->strings.there ? &thread->strings : &firefox->shared.strings;
}

/* NAN: null, or the column is not there. False: the index points to nothing. */
static bool value_at(const struct firefox_column *column, double index, double *ret)
{
        *ret = NAN;
        if (isnan(index) || !column->there)
                return true;
        if (index < 0 || index >= (double)column->n || index != floor(index))
                return index == -1; /* none */
        *ret = column->values[(size_t)index];
        return true;
}

/* "name (in library)", "name (https://place/file.js:1:2)", "0x7f001234" or "name". */
static int32_t location_label(const struct firefox *firefox, const char *text, size_t length)
{
        char *inside = memmem(text, length, " (in ", 5), *open, *close, number[32] = "";
        const char *library;
        double address;

        if (inside) {
                library = inside + 5;
                close = memchr(library, ')', length - (size_t)(library - text));
                return read_label(firefox->read, text, (size_t)(inside - text), library,
                                  close ? (size_t)(close - library) : length - (size_t)(library - text));
        }
        if (length > 2 && length < sizeof(number) && memcmp(text, "0x", 2) == 0) {
                memcpy(number, text, length);
                address = strtod(number, NULL);
                for (size_t i = 0; i < firefox->n_libraries; i++)
                        if (address >= firefox->libraries[i].start && address < firefox->libraries[i].end)
                                return read_label(firefox->read, "", 0, firefox->libraries[i].name,
                                                  strlen(firefox->libraries[i].name));
                return read_label(firefox->read, "", 0, "", 0);
        }
        open = length > 2 && text[length - 1] == ')' ? memrchr(text, '(', length) : NULL;
        if (!open || open < text + 2 || open[-1] != ' ')
                return read_label(firefox->read, text, length, "", 0);
        library = open + 1;
        close = memchr(library, ':', length - (size_t)(library - text));
        if (close && (size_t)(close - text) + 2 < length && close[1] == '/')
                close = memchr(close + 1, ':', length - (size_t)(close + 1 - text));
        return read_label(firefox->read, text, (size_t)(open - 1 - text), library,
                          (size_t)((close ? close : text + length - 1) - library));
}

static int32_t frame_label(const struct firefox *firefox, const struct thread *thread, double frame)
{
        const struct firefox_strings *strings = strings_of(firefox, thread);
        const struct firefox_column *locations = column(firefox, thread, FRAME_LOCATION);
        char name[NAME_SIZE], library[NAME_SIZE];
        double func, resource, text;
        long length, library_length;

        if (locations->there) {
                length = value_at(locations, frame, &text) ?
                                 firefox_table_string(strings, text, name, sizeof(name)) :
                                 -1;
                return length < 0 ? -ENOENT : location_label(firefox, name, (size_t)length);
        }
        if (!value_at(column(firefox, thread, FRAME_FUNC), frame, &func) || isnan(func) ||
            !value_at(column(firefox, thread, FUNC_NAME), func, &text) ||
            !value_at(column(firefox, thread, FUNC_RESOURCE), func, &resource))
                return -ENOENT;
        length = firefox_table_string(strings, text, name, sizeof(name));
        if (!value_at(column(firefox, thread, RESOURCE_NAME), resource, &text))
                return -ENOENT;
        library_length = firefox_table_string(strings, text, library, sizeof(library));
        if (length < 0 || library_length < 0)
                return -ENOENT;
        if (length > 2 && memcmp(name, "0x", 2) == 0) /* an address without a known name */
                length = 0;
        return read_label(firefox->read, name, (size_t)length, library, (size_t)library_length);
}

/* The value of a sample: its CPU time if that counts, else its weight, or 1. */
static double value_of(const struct firefox *firefox, const struct thread *thread, size_t sample)
{
        const struct firefox_column *weights = &thread->columns[SAMPLES_WEIGHT];
        double value;

        if (firefox->counts_time) {
                value = thread->columns[SAMPLES_CPU].values[sample] * firefox->cpu_factor;
                return value > 0 ? value : 0;
        }
        return weights->there && !isnan(weights->values[sample]) ? weights->values[sample] : 1;
}

struct work {
        char *used;      /* for each stack, whether it or a stack that begins with it has samples */
        int32_t *labels; /* label + 1 of each frame; 0: not made yet */
        int32_t *nodes;  /* node of each stack that is used */
        uint16_t *depth;
};

static void work_clear(struct work *work)
{
        free(work->used);
        free(work->labels);
        free(work->nodes);
        free(work->depth);
}

/* Marks stacks that are used. A prefix must be listed before the stacks that begin with it: there are no cycles. */
static int mark_used(const struct firefox *firefox, const struct thread *thread, struct work *work)
{
        const struct firefox_column *prefixes = column(firefox, thread, STACK_PREFIX),
                                    *stacks = &thread->columns[SAMPLES_STACK];

        for (size_t i = 0; i < stacks->n; i++) {
                double stack = stacks->values[i];

                if (isnan(stack) || stack == -1)
                        continue;
                if (stack < 0 || stack >= (double)prefixes->n || stack != floor(stack))
                        return no_such(firefox);
                work->used[(size_t)stack] |= value_of(firefox, thread, i) > 0;
        }
        for (size_t i = prefixes->n; i-- > 0;) {
                double prefix = prefixes->values[i];

                if (!work->used[i] || isnan(prefix) || prefix == -1)
                        continue;
                if (prefix < 0 || prefix >= (double)i || prefix != floor(prefix))
                        return read_damaged(firefox->read, 0,
                                            "a stack begins with itself, or with one that is not there");
                work->used[(size_t)prefix] = 1;
        }
        return 0;
}

static int make_node(const struct firefox *firefox, const struct thread *thread, struct work *work,
                     size_t stack, int32_t root)
{
        double prefix = column(firefox, thread, STACK_PREFIX)->values[stack],
               frame = column(firefox, thread, STACK_FRAME)->values[stack];
        size_t n_frames = MAX(column(firefox, thread, FRAME_FUNC)->n, column(firefox, thread, FRAME_LOCATION)->n);
        bool top = isnan(prefix) || prefix == -1;
        int32_t *label;

        if (!(frame >= 0) || frame >= (double)n_frames || frame != floor(frame))
                return no_such(firefox);
        label = &work->labels[(size_t)frame];
        if (*label == 0)
                *label = frame_label(firefox, thread, frame) + 1;
        if (*label <= 0)
                return *label == 1 - ENOENT ? no_such(firefox) : read_failed(firefox->read, *label - 1);
        work->depth[stack] = top ? 1 : (uint16_t)(work->depth[(size_t)prefix] + 1);
        if (work->depth[stack] >= STACKS_DEPTH_MAX)
                return read_damaged(firefox->read, 0, "a stack has more than 4096 frames");
        work->nodes[stack] = trie_child(&firefox->read->stacks->trie,
                                        top ? root : work->nodes[(size_t)prefix], *label - 1);
        return work->nodes[stack] < 0 ? read_failed(firefox->read, work->nodes[stack]) : 0;
}

static int add_samples(const struct firefox *firefox, const struct thread *thread, int32_t root_label)
{
        _cleanup_(work_clear) struct work work = { 0 };
        size_t n = column(firefox, thread, STACK_PREFIX)->n;
        size_t n_frames = MAX(column(firefox, thread, FRAME_FUNC)->n, column(firefox, thread, FRAME_LOCATION)->n);
        int32_t root = trie_child(&firefox->read->stacks->trie, 0, root_label);
        int err;

        work.used = calloc(n + 1, 1);
        work.labels = calloc(n_frames + 1, sizeof(*work.labels));
        work.nodes = calloc(n + 1, sizeof(*work.nodes));
        work.depth = calloc(n + 1, sizeof(*work.depth));
        if (root < 0 || !work.used || !work.labels || !work.nodes || !work.depth)
                return read_failed(firefox->read, root < 0 ? root : -ENOMEM);
        err = mark_used(firefox, thread, &work);
        for (size_t i = 0; i < n && err == 0; i++)
                err = work.used[i] ? make_node(firefox, thread, &work, i, root) : 0;
        for (size_t i = 0; i < thread->columns[SAMPLES_STACK].n && err == 0; i++) {
                double stack = thread->columns[SAMPLES_STACK].values[i], value = value_of(firefox, thread, i);

                if (!isnan(stack) && stack != -1 && value != 0)
                        err = read_add(firefox->read, work.nodes[(size_t)stack], value, 1);
        }
        return err;
}

/* Chooses CPU time, or samples where no thread tells how much CPU time it used, even if the file has a unit for it. */
static int choose_unit(struct firefox *firefox, bool has_cpu)
{
        bool time = has_cpu && firefox->cpu_factor > 0;

        if (!firefox->read->unit)
                firefox->read->unit = time ? firefox->cpu_unit : "samples";
        if (strcmp(firefox->read->unit, time ? firefox->cpu_unit : "samples") != 0)
                return read_damaged(firefox->read, 0,
                                    "some of its threads say how much CPU time they used, and some do not");
        firefox->counts_time = time;
        return 0;
}

static int add_thread(struct firefox *firefox, struct json_text *json)
{
        _cleanup_(thread_clear) struct thread thread = { 0 };
        struct json_text name;
        char text[NAME_SIZE];
        size_t length;
        int32_t root = firefox->product;
        int err = read_thread(firefox, json, &thread, &name);

        if (err < 0)
                return err;
        if (thread.columns[SAMPLES_STACK].n == 0)
                return 0;
        if (!column(firefox, &thread, STACK_PREFIX)->there ||
            column(firefox, &thread, STACK_PREFIX)->n != column(firefox, &thread, STACK_FRAME)->n)
                return fail(firefox, -EBADMSG);
        err = choose_unit(firefox, thread.columns[SAMPLES_CPU].there);
        if (err < 0)
                return err;
        length = name.at ? json_string(&name, text, sizeof(text)) : 0;
        if (length > 0)
                root = read_label(firefox->read, text, length, "", 0);
        return root < 0 ? read_failed(firefox->read, root) : add_samples(firefox, &thread, root);
}

static int read_libraries(struct firefox *firefox, struct json_text libraries)
{
        static const char *const names[] = { "start", "end", "name" };

        for (bool more = json_begin(&libraries, '['); more; more = json_more(&libraries, ']')) {
                struct json_text found[ARRAY_SIZE(names)];
                struct library library = { 0 };

                if (json_peek(&libraries) != '{') {
                        json_skip(&libraries);
                        continue;
                }
                json_members(&libraries, names, ARRAY_SIZE(names), found);
                if (!found[0].at || !found[1].at || !found[2].at || firefox->n_libraries >= 65536)
                        continue;
                library.start = json_number(&found[0]);
                library.end = json_number(&found[1]);
                library.name[json_string(&found[2], library.name, sizeof(library.name) - 1)] = '\0';
                if (util_grow(&firefox->libraries, &firefox->libraries_room, firefox->n_libraries + 1,
                              sizeof(library)) < 0)
                        return fail(firefox, -ENOMEM);
                firefox->libraries[firefox->n_libraries++] = library;
        }
        return libraries.failed ? fail(firefox, -EBADMSG) : 0;
}

/* Reads the product's name, and the unit of CPU time, if the file has one. */
static int read_meta(struct firefox *firefox, struct json_text meta)
{
        static const char *const names[] = { "product", "sampleUnits" }, *const units[] = { "threadCPUDelta" };
        struct json_text found[ARRAY_SIZE(names)], unit;
        char text[NAME_SIZE];
        const char *before = firefox->read->unit;
        size_t length;

        json_members(&meta, names, ARRAY_SIZE(names), found);
        if (meta.failed)
                return fail(firefox, -EBADMSG);
        length = found[0].at ? json_string(&found[0], text, sizeof(text)) : 0;
        firefox->product = length ? read_label(firefox->read, text, length, "", 0) :
                                    read_label(firefox->read, "app", 3, "", 0);
        if (firefox->product < 0)
                return read_failed(firefox->read, firefox->product);
        if (found[1].at && json_peek(&found[1]) == '{') {
                json_members(&found[1], units, 1, &unit);
                length = unit.at ? json_string(&unit, text, sizeof(text)) : 0;
                firefox->cpu_factor = read_unit(firefox->read, text, length);
                firefox->cpu_unit = firefox->read->unit;
                firefox->read->unit = before;
        }
        return 0;
}

static int parse(struct read *read, struct json_text root, int deep)
{
        static const char *const names[] = { "meta", "libs", "shared", "threads", "processes" };
        struct json_text found[ARRAY_SIZE(names)], none;
        _cleanup_(firefox_clear) struct firefox firefox = { .read = read };
        int err;

        json_members(&root, names, ARRAY_SIZE(names), found);
        if (root.failed || !found[0].at || !found[3].at || deep > PROCESSES_DEEP)
                return fail(&firefox, -EBADMSG);
        err = read_meta(&firefox, found[0]);
        if (err == 0 && found[1].at)
                err = read_libraries(&firefox, found[1]);
        if (err == 0 && found[2].at && json_peek(&found[2]) == '{')
                err = read_thread(&firefox, &found[2], &firefox.shared, &none);
        for (bool more = err == 0 && json_begin(&found[3], '['); more && err == 0;
             more = err == 0 && json_more(&found[3], ']'))
                err = add_thread(&firefox, &found[3]);
        if (err == 0 && found[3].failed)
                err = fail(&firefox, -EBADMSG);
        if (!found[4].at || err < 0)
                return err;
        for (bool more = json_begin(&found[4], '['); more && err == 0; more = err == 0 && json_more(&found[4], ']')) {
                struct json_text process = found[4];

                json_skip(&found[4]);
                err = parse(read, process, deep + 1);
        }
        return err == 0 && found[4].failed ? fail(&firefox, -EBADMSG) : err;
}

int firefox_parse(struct read *read, struct json_text root)
{
        int err;

        read->unit = NULL;
        err = parse(read, root, 0);
        read->unit = read->unit ? read->unit : "samples";
        return err;
}
