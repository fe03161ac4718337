/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The output of `perf script` for a recording with call graphs: for each sample a line "comm 123 [001] 45.678:
 * 1000000 cpu-clock:", then a line "  address symbol+0x12 (/path/of/dso)" for each frame from the leaf up,
 * then an empty line. Fields may be missing, and names may have blanks. Only samples of one event count:
 * read->event, or that of the first sample.
 */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "util/util.h"

#define LINES_MAX 100000000
#define LINE_MAX_BYTES ((size_t)1 << 20)

struct perf_script {
        size_t lines;
        bool command; /* after "# cmdline : ...", which may have line breaks */
        bool open;    /* a sample's header came, and its stack has not ended */
        bool other;   /* after PERF_RECORD_..., which may have more lines, with blanks in front */
        bool counted; /* the sample is of the event that counts */
        bool warned;
        int32_t root;
        double period;
        char event[PERF_EVENT_SIZE]; /* samples of this event count */
        const char *unit;
        bool has_event, weighs; /* @weighs: a sample counts its period */
        char *program; /* the only file of code that is no library; NULL: none was seen */
        bool programs; /* there are several such files */
        size_t n;
        int32_t stack[STACKS_DEPTH_MAX];
};

int perf_events_add(struct perf_events *events, const char *name)
{
        for (size_t i = 0; i < events->n; i++)
                if (strcmp(events->names[i], name) == 0)
                        return 0;
        if (events->n < PERF_EVENTS_MAX)
                snprintf(events->names[events->n++], PERF_EVENT_SIZE, "%s", name);
        return 0;
}

int perf_script_new(struct perf_script **ret)
{
        struct perf_script *script = calloc(1, sizeof(*script));

        if (!script)
                return -ENOMEM;
        *ret = script;
        return 0;
}

void perf_script_freep(struct perf_script **script)
{
        if (*script)
                free((*script)->program);
        free(*script);
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t';
}

/* Skips the blanks at the start of a frame, its address, and one blank; NULL: it is no frame. */
static const char *pass_address(const char *at, const char *end)
{
        const char *address;

        if (at == end || !is_blank(*at))
                return NULL;
        while (at < end && is_blank(*at))
                at++;
        address = at;
        while (at < end && isxdigit((unsigned char)*at))
                at++;
        return at > address && at < end && is_blank(*at) ? at + 1 : NULL;
}

struct header {
        const char *comm, *event;
        size_t comm_length, event_length;
        double period; /* 0: it does not say */
};

/* The start of the word that ends at @end, but not before @from. */
static const char *last_word(const char *from, const char *end)
{
        while (end > from && !is_blank(end[-1]))
                end--;
        return end;
}

static const char *trim(const char *from, const char *end)
{
        while (end > from && is_blank(end[-1]))
                end--;
        return end;
}

static bool is_number(const char *from, const char *end, const char *also)
{
        const char *at;

        for (at = from; at < end && (isdigit((unsigned char)*at) || strchr(also, *at)); at++)
                ;
        return at == end && end > from;
}

/* Does the text before the time end in a thread id, with or without a CPU after it, as "app 100/101 [003]"? */
static bool ends_in_thread(const char *line, const char *end)
{
        const char *word;

        end = trim(line, end);
        word = last_word(line, end);
        if (word > line && is_number(word, end, "[]") && *word == '[') {
                end = trim(line, word);
                word = last_word(line, end);
        }
        return word > line && is_number(word, end, "/-");
}

/* Is the rest of a header empty, or a period and an event, which ends in a colon? */
static bool is_event(const char *at, const char *end)
{
        for (int i = 0; i < 2; i++) {
                const char *word;

                while (at < end && is_blank(*at))
                        at++;
                for (word = at; at < end && !is_blank(*at); at++)
                        ;
                if (at == word || at[-1] == ':')
                        return true;
                if (!is_number(word, at, ""))
                        return at - word > 12 && memcmp(word, "PERF_RECORD_", 12) == 0;
        }
        return at == end;
}

/* Where "45.678901:" begins and what follows it; NULL: there is none. The name of a thread may look like it. */
static const char *find_time(const char *line, const char *end, const char **after)
{
        const char *word, *found = NULL;

        for (const char *colon = memchr(line, ':', (size_t)(end - line)); colon;
             colon = memchr(colon + 1, ':', (size_t)(end - colon - 1))) {
                bool sure;

                for (word = colon; word > line && (isdigit((unsigned char)word[-1]) || word[-1] == '.'); word--)
                        ; /* not to the last blank: a line of other formats may have thousands of colons and none */
                if (word == line || word == colon || !is_blank(word[-1]) ||
                    !memchr(word, '.', (size_t)(colon - word)))
                        continue;
                sure = ends_in_thread(line, word) && is_event(colon + 1, end);
                if (found && !sure)
                        continue;
                *after = colon + 1;
                found = word;
                if (sure)
                        break;
        }
        return found;
}

/* Is it surely the header of a sample? */
static bool is_header(const char *line, const char *end)
{
        const char *after, *time = find_time(line, end, &after);

        return time && ends_in_thread(line, time) && is_event(after, end);
}

bool perf_script_is(const char *text, size_t length)
{
        const char *end = text + length, *before = NULL;

        for (int i = 0; i < 1000 && text < end; i++) {
                const char *next = memchr(text, '\n', (size_t)(end - text)), *line_end = next ? next : end;

                line_end -= line_end > text && line_end[-1] == '\r';
                if (before && pass_address(text, line_end) && line_end[-1] == ')')
                        return true;
                if (is_header(text, line_end))
                        return true;
                before = line_end > text && *text != '#' && line_end[-1] != ')' ? text : NULL;
                text = next ? next + 1 : end;
        }
        return false;
}

/* "  1000000  cpu-clock:u: ", and what a tracepoint prints behind it. */
static void read_event(const char *at, const char *end, struct header *ret)
{
        const char *word;

        for (int i = 0; i < 2; i++) {
                while (at < end && is_blank(*at))
                        at++;
                word = at;
                while (at < end && !is_blank(*at))
                        at++;
                if (at > word && !is_number(word, at, "")) {
                        ret->event = word;
                        ret->event_length = (size_t)(at - word) - (at[-1] == ':');
                        return;
                }
                ret->period = at > word ? strtod(word, NULL) : 0;
        }
}

/* "comm  123 [001] 45.678901:    1000000   cpu-clock:u: ": the name of a process may have blanks and colons. */
static bool read_header(const char *line, const char *end, struct header *ret)
{
        const char *after, *word = find_time(line, end, &after);
        int numbers = word ? 1 : 2; /* numbers after the name: process and thread; the period, if there is no time */

        *ret = (struct header){ 0 };
        if (word) {
                read_event(after, end, ret);
                end = trim(line, word);
        } else if (trim(line, end) > line && trim(line, end)[-1] == ':') {
                end = trim(line, end);
                word = last_word(line, end);
                read_event(word, end, ret);
                end = trim(line, word);
        }
        while (numbers-- > 0) {
                end = trim(line, end);
                word = last_word(line, end);
                if (end > line && end[-1] == ']') { /* the CPU */
                        end = trim(line, word);
                        word = last_word(line, end);
                }
                if (word == line || !is_number(word, end, "/-"))
                        break;
                end = word;
        }
        end = trim(line, end);
        while (line < end && is_blank(*line))
                line++;
        ret->comm = line;
        ret->comm_length = (size_t)(end - line);
        return ret->comm_length > 0;
}

/*
 * The event's name without the modifiers after a colon, and for a CPU's own events without the type of CPU:
 * "cpu_core/cycles/P" and "cpu_atom/cycles/P", which are the halves of one event, are "cycles".
 */
static void name_event(const struct header *header, char *buf)
{
        const char *name = header->event ? header->event : "", *colon;
        size_t length = header->event_length;
        const char *slash = memchr(name, '/', length), *last = memrchr(name, '/', length);

        if (slash && last > slash && (strncmp(name, "cpu", 3) == 0 || strncmp(name, "armv", 4) == 0)) {
                name = slash + 1;
                length = (size_t)(last - name);
        }
        length = MIN(length, (size_t)PERF_EVENT_SIZE - 1);
        memcpy(buf, name, length);
        buf[length] = '\0';
        colon = strrchr(buf, ':');
        if (colon && strspn(colon + 1, "ukhGHpPSDIeWb") == strlen(colon + 1))
                buf[colon - buf] = '\0';
}

/* The unit of an event's period; NULL: a sample counts 1. */
static const char *unit_of(const char *event)
{
        static const struct {
                const char *event, *unit;
        } known[] = {
                { "cpu-clock", "ns" },      { "task-clock", "ns" },    { "cycles", "cycles" },
                { "cpu-cycles", "cycles" }, { "cpu_cycles", "cycles" }, { "instructions", "instructions" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (strcmp(known[i].event, event) == 0)
                        return known[i].unit;
        return NULL;
}

static int finish_sample(struct read *read, struct perf_script *script)
{
        bool counts = script->open && script->counted && script->n > 0;

        script->open = false;
        return counts ? read_stack(read, script->root, script->stack, script->n,
                                   script->weighs ? script->period : 1, 1)
                      : 0;
}

static int begin_sample(struct read *read, struct perf_script *script, const char *line, const char *end)
{
        struct header header;
        char event[PERF_EVENT_SIZE];

        if (!read_header(line, end, &header))
                return read_damaged(read, script->lines, "it is neither a sample nor a frame of perf script");
        name_event(&header, event);
        if (read->events) {
                script->open = true;
                return perf_events_add(read->events, event);
        }
        if (!script->has_event && read->event)
                snprintf(script->event, sizeof(script->event), "%s", read->event);
        else if (!script->has_event)
                memcpy(script->event, event, sizeof(event));
        script->has_event = true;
        script->counted = strcmp(event, script->event) == 0;
        if (script->counted && !script->unit) {
                script->weighs = header.period > 0 && unit_of(event);
                script->unit = read->unit = script->weighs ? unit_of(event) : "samples";
        }
        if (!script->counted && !script->warned)
                log_warning(read->log, "%s has several events; only samples of %s count", read->name, script->event);
        script->warned |= !script->counted;
        script->open = true;
        script->n = 0;
        script->period = header.period;
        script->root = read_label(read, header.comm, header.comm_length, NULL, 0);
        return script->root < 0 ? read_failed(read, script->root) : 0;
}

/* Finds the program by its file of code, if there is only one that is no library: threads have names of their own. */
static int look_at_file(struct read *read, struct perf_script *script, const char *file, size_t length)
{
        if (length == 0 || *file != '/' || memmem(file, length, ".so", 3) || read_is_jit(file, length) ||
            script->programs)
                return 0;
        if (!script->program)
                script->program = strndup(file, length);
        else
                script->programs = strlen(script->program) != length || memcmp(script->program, file, length) != 0;
        return script->program ? 0 : read_failed(read, -ENOMEM);
}

/* The end of a name without its "+0x12", an offset in a symbol, or by -F +dsoff in a file. */
static const char *cut_offset(const char *from, const char *end)
{
        const char *plus = memrchr(from, '+', (size_t)(end - from));

        return plus && end - plus > 3 && plus[1] == '0' && plus[2] == 'x' ? plus : end;
}

/* Adds "symbol+0x12 (/path/of/dso)". An inlined function has "(inlined)" instead, and belongs to its caller. */
static int add_frame(struct read *read, struct perf_script *script, const char *at, const char *end)
{
        const char *file, *symbol_end;
        size_t known;
        int32_t label;

        end = trim(at, end);
        while (at < end && is_blank(*at))
                at++;
        file = end > at && end[-1] == ')' ? memmem(at, (size_t)(end - at), " (/", 3) : NULL;
        if (file)
                file++;
        else if (end > at && end[-1] == ')')
                file = memrchr(at, '(', (size_t)(end - at));
        while (file && file > at && !is_blank(file[-1]))
                file = memrchr(at, '(', (size_t)(file - at));
        if (!file)
                return read_damaged(read, script->lines, "the frame does not end in its file, as perf script "
                                                         "-F +dso prints it");
        symbol_end = cut_offset(at, trim(at, file));
        file++;
        end = cut_offset(file, end - 1);
        if (end - file >= 9 && memcmp(end - 9, "(deleted)", 9) == 0)
                end = trim(file, end - 9);
        if (script->n >= STACKS_DEPTH_MAX - 1)
                return read_damaged(read, script->lines, "a stack has more than 4096 frames");
        if (symbol_end - at == 9 && memcmp(at, "[unknown]", 9) == 0)
                at = symbol_end;
        if (end - file == 9 && memcmp(file, "[unknown]", 9) == 0)
                file = end;
        if (end - file == 7 && memcmp(file, "inlined", 7) == 0) {
                file = "[inlined]";
                end = file + strlen(file);
        }
        known = read->stacks->labels.n;
        label = read_label(read, at, (size_t)(symbol_end - at), file, (size_t)(end - file));
        if (label < 0)
                return read_failed(read, label);
        script->stack[script->n++] = label;
        return (size_t)label >= known ? look_at_file(read, script, file, (size_t)(end - file)) : 0;
}

/* Is it no sample, but what --show-mmap-events and the like print, or a line more of it? */
static bool is_other(const struct perf_script *script, const char *line, const char *end)
{
        const char *record = memmem(line, (size_t)(end - line), "PERF_RECORD_", 12);

        if (script->other && is_blank(*line) && !is_header(line, end))
                return true;
        return record && (record == line || is_blank(record[-1]));
}

/* Is the line of an option, as "  main.c:12" of -F +srcline? A header has a time, or ends in its event. */
static bool is_addition(const struct perf_script *script, const char *line, const char *end)
{
        const char *after;

        return script->open && is_blank(*line) && trim(line, end)[-1] != ':' && !pass_address(line, end) &&
               !find_time(line, end, &after);
}

static int parse_line(struct read *read, struct perf_script *script, const char *line, const char *end)
{
        const char *frame;
        int err;

        if (end > line && end[-1] == '\r')
                end--;
        if (trim(line, end) == line) {
                script->other = false;
                return script->command ? 0 : finish_sample(read, script);
        }
        if (*line == '#' &&
            (memmem(line, (size_t)(end - line), " : ", 3) || memmem(line, (size_t)(end - line), "# ====", 6)))
                script->command = end - line > 9 && memcmp(line, "# cmdline", 9) == 0;
        if (*line == '#' || script->command)
                return 0;
        if (is_addition(script, line, end))
                return 0;
        /* without stacks, blanks stand in front of the process, whose name may look like an address: "dd" */
        frame = script->open && !(*line == ' ' && is_header(line, end)) ? pass_address(line, end) : NULL;
        if (frame)
                return script->counted ? add_frame(read, script, frame, end) : 0;
        err = finish_sample(read, script);
        script->other = is_other(script, line, end);
        return err < 0 || script->other ? err : begin_sample(read, script, line, end);
}

int perf_script_parse(struct read *read, struct perf_script *script, const char *text, size_t length)
{
        const char *end = text + length;

        while (text < end) {
                const char *line_end = memchr(text, '\n', (size_t)(end - text));
                int err;

                if (!line_end)
                        line_end = end;
                if (++script->lines > LINES_MAX)
                        return read_damaged(read, script->lines, "it has more than 100 million lines");
                if ((size_t)(line_end - text) > LINE_MAX_BYTES)
                        return read_damaged(read, script->lines, "the line is longer than 1 MiB");
                err = parse_line(read, script, text, line_end);
                if (err < 0)
                        return err;
                text = line_end + 1;
        }
        return 0;
}

int perf_script_end(struct read *read, struct perf_script *script)
{
        int err = finish_sample(read, script);

        if (err == 0 && script->unit && read->stacks->runs[read->stacks->n_runs - 1].sum == 0)
                return read_damaged(read, 0, "its samples have no call stacks; perf record --call-graph dwarf,8192 "
                                             "records them");
        snprintf(read->event_read, sizeof(read->event_read), "%s", script->event);
        if (err < 0 || !script->program || script->programs)
                return err;
        return read_program(read, script->program, strlen(script->program));
}
