/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What `perf script` prints of a recording with call graphs: of each sample a line "comm 123 [001] 45.678:  1000000 cpu-clock:", then a
 * line "  address symbol+0x12 (/path/of/dso)" for each frame from the leaf up, then an empty line. Fields may be missing, and
 * blanks may be in names. Only the event of the first sample counts.
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "util/util.h"

#define LINES_MAX 100000000
#define LINE_MAX_BYTES ((size_t)1 << 20)
#define EVENT_SIZE 64

struct perf_script {
        size_t lines;
        bool open;    /* a sample's header came, and its stack has not ended */
        bool counted; /* it is of the event that counts */
        bool warned;
        int32_t root;
        double period;
        char event[EVENT_SIZE]; /* of the first sample */
        bool has_event, time;
        char *program; /* the only file of code that is no library; NULL: none was seen */
        bool programs; /* there are several */
        size_t n;
        int32_t stack[STACKS_DEPTH_MAX];
};

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

/* Where the blanks that a frame begins with, its address and one more blank end; NULL: it is no frame. */
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

bool perf_script_is(const char *text, size_t length)
{
        const char *end = text + length, *before = NULL;

        for (int i = 0; i < 1000 && text < end; i++) {
                const char *line_end = memchr(text, '\n', (size_t)(end - text));

                if (!line_end)
                        line_end = end;
                if (before && pass_address(text, line_end) && line_end[-1] == ')')
                        return true;
                before = line_end > text && *text != '#' && line_end[-1] != ')' ? text : NULL;
                text = line_end + 1;
        }
        return false;
}

struct header {
        const char *comm, *event;
        size_t comm_length, event_length;
        double period; /* 0: it does not say */
};

/* A word that ends at @end, after @from. */
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

/* Where "45.678901:" begins and what follows it; NULL: there is none. */
static const char *find_time(const char *line, const char *end, const char **after)
{
        const char *word;

        for (const char *colon = memchr(line, ':', (size_t)(end - line)); colon; colon = memchr(colon + 1, ':', (size_t)(end - colon - 1))) {
                word = last_word(line, colon);
                if (word == line || !is_number(word, colon, ".") || !memchr(word, '.', (size_t)(colon - word)))
                        continue;
                *after = colon + 1;
                return word;
        }
        return NULL;
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
        int numbers = word ? 1 : 2; /* of process and thread; and the period, if there is no time */

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

/* Without the type of CPU, as in cpu_core/cycles/, and without the modifiers after a colon. */
static void name_event(const struct header *header, char *buf)
{
        const char *name = header->event ? header->event : "", *colon, *slash;
        size_t length = header->event_length;

        slash = length > 1 && name[length - 1] == '/' ? memchr(name, '/', length - 1) : NULL;
        if (slash) {
                length -= (size_t)(slash + 1 - name) + 1;
                name = slash + 1;
        }
        length = MIN(length, (size_t)EVENT_SIZE - 1);
        memcpy(buf, name, length);
        buf[length] = '\0';
        colon = strrchr(buf, ':');
        if (colon && strspn(colon + 1, "ukhGHpPSDIeWb") == strlen(colon + 1))
                buf[colon - buf] = '\0';
}

static int finish_sample(struct read *read, struct perf_script *script)
{
        bool counts = script->open && script->counted && script->n > 0;

        script->open = false;
        return counts ? read_stack(read, script->root, script->stack, script->n, script->time ? script->period : 1, 1) : 0;
}

static int begin_sample(struct read *read, struct perf_script *script, const char *line, const char *end)
{
        struct header header;
        char event[EVENT_SIZE];

        if (!read_header(line, end, &header))
                return read_damaged(read, script->lines, "it is neither a sample nor a frame of perf script");
        name_event(&header, event);
        if (!script->has_event) {
                script->has_event = true;
                memcpy(script->event, event, sizeof(event));
                script->time = header.period > 0 && (strcmp(event, "cpu-clock") == 0 || strcmp(event, "task-clock") == 0);
                read->unit = script->time ? "ns" : "samples";
        }
        script->counted = strcmp(event, script->event) == 0;
        if (!script->counted && !script->warned)
                log_warning(read->log, "%s has several events; only samples of the first one, %s, count", read->name, script->event);
        script->warned |= !script->counted;
        script->open = true;
        script->n = 0;
        script->period = header.period;
        script->root = read_label(read, header.comm, header.comm_length, NULL, 0);
        return script->root < 0 ? read_failed(read, script->root) : 0;
}

/* Threads have names of their own, so it is the file that tells the program, where there is only one. */
static int look_at_file(struct read *read, struct perf_script *script, const char *file, size_t length)
{
        if (length == 0 || *file != '/' || memmem(file, length, ".so", 3) || script->programs)
                return 0;
        if (!script->program)
                script->program = strndup(file, length);
        else
                script->programs = strlen(script->program) != length || memcmp(script->program, file, length) != 0;
        return script->program ? 0 : read_failed(read, -ENOMEM);
}

/* "symbol+0x12 (/path/of/dso)": an inlined function has "(inlined)" instead, and is its caller's. */
static int add_frame(struct read *read, struct perf_script *script, const char *at, const char *end)
{
        const char *file, *symbol_end, *plus;
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
                return read_damaged(read, script->lines, "the frame does not end in its file, as perf script -F +dso prints it");
        symbol_end = trim(at, file);
        plus = memrchr(at, '+', (size_t)(symbol_end - at));
        if (plus && symbol_end - plus > 3 && plus[1] == '0' && plus[2] == 'x')
                symbol_end = plus;
        file++;
        end--;
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
        if (end - file > 9 && memcmp(end - 4, ".map", 4) == 0 && memmem(file, (size_t)(end - file), "/perf-", 6)) {
                file = "[jit]"; /* code of an interpreter, as joulecast record names it */
                end = file + strlen(file);
        }
        known = read->stacks->labels.n;
        label = read_label(read, at, (size_t)(symbol_end - at), file, (size_t)(end - file));
        if (label < 0)
                return read_failed(read, label);
        script->stack[script->n++] = label;
        return (size_t)label >= known ? look_at_file(read, script, file, (size_t)(end - file)) : 0;
}

static int parse_line(struct read *read, struct perf_script *script, const char *line, const char *end)
{
        const char *frame;
        int err;

        if (end > line && end[-1] == '\r')
                end--;
        if (trim(line, end) == line)
                return finish_sample(read, script);
        if (*line == '#')
                return 0;
        frame = script->open ? pass_address(line, end) : NULL;
        if (frame)
                return script->counted ? add_frame(read, script, frame, end) : 0;
        err = finish_sample(read, script);
        return err < 0 ? err : begin_sample(read, script, line, end);
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

        if (err < 0 || !script->program || script->programs)
                return err;
        return read_program(read, script->program, strlen(script->program));
}
