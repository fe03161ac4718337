/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Reader of files of valgrind's callgrind: valgrind.org/docs/manual/cl-format.html. Costs are instructions
 * (Ir) if these were counted, else the first event. A file is a call graph; callgraph.c makes stacks of it.
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "calls.h"
#include "read.h"
#include "util/util.h"

#define FUNCTIONS_MAX 1000000
#define EDGES_MAX 8000000
#define NAMES_MAX 4000000
#define NAME_SIZE 4096
#define COUNT_MAX 0x1p53

struct name {
        const char *at;
        size_t length;
};

/* Names by number: a file has "(12) name" once, and "(12)" afterwards. */
struct names {
        struct name *list;
        size_t n, capacity;
};

struct callgrind {
        struct read *read;
        size_t line;
        struct names objects, functions;
        struct name object, callee_object; /* files of code of the next functions and callees: "ob=", "cob=" */
        bool has_callee_object;
        struct labels keys; /* function and object, as they are in the file; each key is a function of the graph */
        struct callgraph graph;
        double *calls; /* number of calls of each function */
        size_t calls_capacity;
        int32_t function, callee; /* -1: none yet */
        bool calling;    /* the next line of costs belongs to the call */
        size_t positions, event; /* number of columns before the costs; index of the cost that counts */
};

static void callgrind_clear(struct callgrind *callgrind)
{
        free(callgrind->objects.list);
        free(callgrind->functions.list);
        free(callgrind->calls);
        labels_clear(&callgrind->keys);
        callgraph_clear(&callgrind->graph);
}

static bool starts(const char *text, size_t length, const char *with)
{
        return length > 0 && length >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

bool callgrind_is(const char *text, size_t length)
{
        static const char *const heads[] = { "# callgrind format", "version: 1\n",
                                             "creator: ", "events: ", "event: ", "positions: " };

        while (length > 0 && *text == '\n') {
                text++;
                length--;
        }
        for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
                if (starts(text, length, heads[i]))
                        return true;
        return false;
}

static int damaged(const struct callgrind *callgrind)
{
        return read_damaged(callgrind->read, callgrind->line, "it is no line of callgrind");
}

static int too_large(const struct callgrind *callgrind)
{
        return read_damaged(callgrind->read, callgrind->line, "a value is no number from 0 to 2^53");
}

/* Reads "(12) name", "(12)" or "name". */
static int take_name(struct callgrind *callgrind, struct names *names, struct name text, struct name *ret)
{
        const char *at = text.at, *end = text.at + text.length;
        size_t number = 0, room = names->n;

        if (text.length < 3 || *at != '(' || !isdigit((unsigned char)at[1])) {
                *ret = text;
                return 0;
        }
        for (at++; at < end && isdigit((unsigned char)*at) && number <= NAMES_MAX; at++)
                number = number * 10 + (size_t)(*at - '0');
        if (at == end || *at++ != ')' || number > NAMES_MAX)
                return damaged(callgrind);
        while (at < end && *at == ' ')
                at++;
        if (at == end) {
                if (number >= names->n || !names->list[number].at)
                        return read_damaged(callgrind->read, callgrind->line, "an index points to nothing");
                *ret = names->list[number];
                return 0;
        }
        if (number >= room) {
                if (util_grow(&names->list, &names->capacity, number + 1, sizeof(*names->list)) < 0)
                        return read_failed(callgrind->read, -ENOMEM);
                names->n = number + 1;
                memset(names->list + room, 0, (names->n - room) * sizeof(*names->list));
        }
        *ret = names->list[number] = (struct name){ at, (size_t)(end - at) };
        return 0;
}

/* The label of a function without the callers that --separate-callers adds after "'". An address is no name. */
static int32_t make_label(const struct callgrind *callgrind, struct name object, struct name function)
{
        const char *mark = function.length > 1 ? memchr(function.at + 1, '\'', function.length - 1) : NULL;
        size_t length = mark ? (size_t)(mark - function.at) : function.length;

        if (starts(function.at, length, "0x") || (length == 3 && memcmp(function.at, "???", 3) == 0))
                length = 0;
        if (object.length == 3 && memcmp(object.at, "???", 3) == 0)
                object.length = 0;
        return read_label(callgrind->read, function.at, length, object.at, object.length);
}

/* "/lib64/ld-linux-x86-64.so.2" */
static bool is_loader(struct name object)
{
        const char *slash = object.length ? memrchr(object.at, '/', object.length) : NULL;
        size_t before = slash ? (size_t)(slash + 1 - object.at) : 0;

        return starts(object.at + before, object.length - before, "ld-");
}

static int find_function(struct callgrind *callgrind, struct name object, struct name function, int32_t *ret)
{
        struct callgraph *graph = &callgrind->graph;
        char key[2 * NAME_SIZE];
        size_t n = MIN(function.length, (size_t)NAME_SIZE - 1), m = MIN(object.length, (size_t)NAME_SIZE);
        int32_t label, known;

        memcpy(key, function.at, n);
        key[n++] = '\n';
        if (m > 0)
                memcpy(key + n, object.at, m);
        known = labels_add(&callgrind->keys, key, n + m);
        if (known < 0)
                return read_failed(callgrind->read, known);
        *ret = known;
        if ((size_t)known < graph->n)
                return 0;
        if (graph->n >= FUNCTIONS_MAX)
                return read_damaged(callgrind->read, callgrind->line, "it has more than a million functions");
        label = make_label(callgrind, object, function);
        if (label < 0 || util_grow(&graph->functions, &graph->capacity, graph->n + 1, sizeof(*graph->functions)) < 0 ||
            util_grow(&callgrind->calls, &callgrind->calls_capacity, graph->n + 1, sizeof(*callgrind->calls)) < 0)
                return read_failed(callgrind->read, label < 0 ? label : -ENOMEM);
        callgrind->calls[graph->n] = 0;
        graph->functions[graph->n++] = (struct callgraph_function){ .label = label, .start = is_loader(object) };
        return 0;
}

/* Chooses the column that counts from a line like "Ir Dr Dw". */
static void choose_event(struct callgrind *callgrind, const char *at, const char *end)
{
        size_t i = 0;

        callgrind->event = 0;
        while (at < end) {
                const char *word;

                while (at < end && *at == ' ')
                        at++;
                word = at;
                while (at < end && *at != ' ')
                        at++;
                if (at - word == 2 && memcmp(word, "Ir", 2) == 0) {
                        callgrind->event = i;
                        callgrind->read->unit = "instructions";
                        return;
                }
                i += at > word;
        }
}

static size_t count_words(const char *at, const char *end)
{
        size_t n = 0;

        for (; at < end; at++)
                n += *at != ' ' && (at + 1 == end || at[1] == ' ');
        return n;
}

static double take_count(const char **at, const char *end)
{
        double value = 0;

        while (*at < end && **at == ' ')
                (*at)++;
        while (*at < end && isdigit((unsigned char)**at))
                value = value * 10 + (*(*at)++ - '0');
        return value;
}

/* Reads "+3 * 0x12 100 7": positions, then costs; the last costs may be missing. */
static int take_costs(struct callgrind *callgrind, const char *at, const char *end, double *ret)
{
        for (size_t i = 0; i < callgrind->positions; i++) {
                while (at < end && *at == ' ')
                        at++;
                if (at == end)
                        return damaged(callgrind);
                while (at < end && *at != ' ') {
                        if (!isxdigit((unsigned char)*at) && *at != '+' && *at != '-' && *at != '*' && *at != 'x')
                                return damaged(callgrind);
                        at++;
                }
        }
        *ret = 0;
        for (size_t i = 0; i <= callgrind->event; i++)
                *ret = take_count(&at, end);
        if (*ret > COUNT_MAX)
                return too_large(callgrind);
        return at == end || *at == ' ' ? 0 : damaged(callgrind);
}

static int add_costs(struct callgrind *callgrind, const char *line, const char *end)
{
        struct callgraph *graph = &callgrind->graph;
        double cost = 0;
        int err = take_costs(callgrind, line, end, &cost);

        if (err < 0)
                return err;
        if (callgrind->function < 0)
                return damaged(callgrind);
        if (!callgrind->calling) {
                graph->functions[callgrind->function].self += cost;
                return 0;
        }
        callgrind->calling = false;
        if (graph->n_edges >= EDGES_MAX)
                return read_damaged(callgrind->read, callgrind->line, "it has more than 8 million calls");
        if (util_grow(&graph->edges, &graph->edges_capacity, graph->n_edges + 1, sizeof(*graph->edges)) < 0)
                return read_failed(callgrind->read, -ENOMEM);
        graph->edges[graph->n_edges++] = (struct callgraph_edge){ callgrind->function, callgrind->callee, cost };
        return 0;
}

/* Reads the line of a call; its costs follow. A callee in the same file of code has no "cob=". */
static int begin_call(struct callgrind *callgrind, const char *at, const char *end)
{
        double calls;

        if (callgrind->callee < 0)
                return damaged(callgrind);
        calls = take_count(&at, end);
        if (calls > COUNT_MAX)
                return too_large(callgrind);
        callgrind->calls[callgrind->callee] += calls;
        callgrind->has_callee_object = false;
        callgrind->calling = true;
        return 0;
}

static int parse_line(struct callgrind *callgrind, const char *line, size_t length)
{
        const char *end = line + length, *stop;
        struct name name;
        int err = 0;

        if (length == 0 || *line == '#')
                return 0;
        if (isdigit((unsigned char)*line) || *line == '+' || *line == '-' || *line == '*')
                return add_costs(callgrind, line, end);
        if (starts(line, length, "fn=")) {
                err = take_name(callgrind, &callgrind->functions, (struct name){ line + 3, length - 3 }, &name);
                return err < 0 ? err : find_function(callgrind, callgrind->object, name, &callgrind->function);
        }
        if (starts(line, length, "cfn=")) {
                err = take_name(callgrind, &callgrind->functions, (struct name){ line + 4, length - 4 }, &name);
                if (err < 0)
                        return err;
                return find_function(callgrind,
                                     callgrind->has_callee_object ? callgrind->callee_object :
                                                                    callgrind->object,
                                     name, &callgrind->callee);
        }
        if (starts(line, length, "calls="))
                return begin_call(callgrind, line + 6, end);
        if (starts(line, length, "ob="))
                return take_name(callgrind, &callgrind->objects, (struct name){ line + 3, length - 3 },
                                 &callgrind->object);
        if (starts(line, length, "cob=")) {
                callgrind->has_callee_object = true;
                return take_name(callgrind, &callgrind->objects, (struct name){ line + 4, length - 4 },
                                 &callgrind->callee_object);
        }
        if (starts(line, length, "events: "))
                choose_event(callgrind, line + 8, end);
        else if (starts(line, length, "positions: "))
                callgrind->positions = count_words(line + 11, end);
        else if (starts(line, length, "cmd: ")) {
                for (line += 5; line < end && *line == ' '; line++)
                        ;
                for (stop = line; stop < end && *stop != ' '; stop++)
                        ;
                err = read_program(callgrind->read, line, (size_t)(stop - line));
        } else if (!memchr(line, ':', length) && !memchr(line, '=', length)) {
                err = damaged(callgrind);
        }
        return err;
}

/* Keeps how often functions were called in all their contexts together. */
static int keep_calls(struct callgrind *callgrind)
{
        const struct labels *labels = &callgrind->read->stacks->labels;
        _cleanup_free_ double *sum = calloc(labels->n + 1, sizeof(*sum));
        int err = 0;

        if (!sum)
                return read_failed(callgrind->read, -ENOMEM);
        for (size_t i = 0; i < callgrind->graph.n; i++)
                sum[callgrind->graph.functions[i].label] += callgrind->calls[i];
        for (size_t i = 0; i < labels->n && err == 0; i++) {
                const char *text = labels_text(labels, (int32_t)i);

                if (sum[i] > 0)
                        err = calls_set(&callgrind->read->calls, text, strlen(text), sum[i]);
        }
        return err < 0 ? read_failed(callgrind->read, err) : 0;
}

static int expand(struct callgrind *callgrind)
{
        struct stacks *stacks = callgrind->read->stacks;
        const char *name = stacks->program ? stacks->program : "app";
        int32_t root = read_label(callgrind->read, name, strlen(name), NULL, 0);

        if (root >= 0)
                root = trie_child(&stacks->trie, 0, root);
        return root < 0 ? read_failed(callgrind->read, root) :
                          callgraph_expand(&callgrind->graph, callgrind->read, root);
}

int callgrind_parse(struct read *read, const char *text, size_t length)
{
        _cleanup_(callgrind_clear) struct callgrind callgrind = {
                .read = read, .object = { "", 0 }, .function = -1, .callee = -1, .positions = 1
        };
        const char *end = text + length;
        int err = 0;

        read->unit = "events";
        while (err == 0 && text < end) {
                const char *line_end = memchr(text, '\n', (size_t)(end - text)), *stop;

                if (!line_end)
                        line_end = end;
                stop = line_end > text && line_end[-1] == '\r' ? line_end - 1 : line_end;
                callgrind.line++;
                err = parse_line(&callgrind, text, (size_t)(stop - text));
                text = line_end + 1;
        }
        if (err == 0)
                err = expand(&callgrind);
        return err < 0 ? err : keep_calls(&callgrind);
}
