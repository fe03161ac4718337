/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gzip/gzip.h"
#include "util/util.h"
#include "util/words.h"

#define CHUNK ((size_t)2 << 20) /* more than the longest line */
#define WHOLE_MAX ((size_t)512 << 20) /* largest file that is kept in memory while it is read */
#define FRAME_MAX 4096
#define VALUE_MAX 0x1p53

int read_damaged(const struct read *read, size_t line, const char *what)
{
        if (line > 0)
                log_error(read->log, "%s, line %zu: %s", read->name, line, _(what));
        else
                log_error(read->log, "%s: %s", read->name, _(what));
        return -EBADMSG;
}

int read_failed(const struct read *read, int err)
{
        if (err == -E2BIG)
                log_error(read->log, "%s: more than 2 million different calling contexts, 8 million in all "
                          "runs together, or 256 MiB of names; use shorter recordings or fewer",
                          read->name);
        else if (err == -EOVERFLOW)
                log_error(read->log, "%s: its counts are more than 2^53 together; give them in a larger unit",
                          read->name);
        else if (err < 0)
                log_error(read->log, "%s: %s", read->name, util_reason(err));
        return err;
}

/* Length of the UTF-8 sequence that begins with a byte above 0x7f; 0: it is invalid. */
static size_t sequence(const unsigned char *text, size_t length)
{
        size_t n = *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;

        if (*text < 0xc2 || *text > 0xf4 || n > length)
                return 0;
        for (size_t i = 1; i < n; i++)
                if ((text[i] & 0xc0) != 0x80)
                        return 0;
        if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] > 0x9f) ||
            (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] > 0x8f))
                return 0;
        return n;
}

bool read_is_text(const char *text, size_t length)
{
        const unsigned char *at = (const unsigned char *)text, *end = at + length;
        const uint64_t ones = 0x0101010101010101ULL, high = ones << 7;
        uint64_t word;
        size_t n;

        while (at < end) {
                if (end - at >= 8) {
                        memcpy(&word, at, 8);
                        if (!((word | (word - ones)) & high)) { /* neither above 0x7f nor 0 */
                                at += 8;
                                continue;
                        }
                }
                n = *at < 0x80 ? *at != 0 : sequence(at, (size_t)(end - at));
                if (n == 0)
                        return false;
                at += n;
        }
        return true;
}

/* Writes a part of a label: '?' for invalid UTF-8 and control characters, '_' for those of @reserved. Its length. */
static size_t put_part(char *out, size_t room, const char *text, size_t length, const char *reserved)
{
        size_t n = 0, size;

        for (size_t i = 0; i < length; i += size) {
                unsigned char c = (unsigned char)text[i];

                size = c < 0x80 ? 1 : sequence((const unsigned char *)text + i, length - i);
                if (n + size > room)
                        break;
                if (size > 1) {
                        memcpy(out + n, text + i, size);
                        n += size;
                        continue;
                }
                size = 1;
                if (c >= 0x80 || c < 0x20 || c == 0x7f)
                        out[n++] = '?';
                else
                        out[n++] = strchr(reserved, c) ? '_' : (char)c;
        }
        return n;
}

/* The part after the last '/'; the whole path if that is empty. @length: in and out. */
static const char *base_name(const char *path, size_t *length)
{
        const char *slash = memrchr(path, '/', *length);

        if (!slash || slash + 1 == path + *length)
                return path;
        *length -= (size_t)(slash + 1 - path);
        return slash + 1;
}

bool read_is_jit(const char *file, size_t length)
{
        if (length == 0) /* then there may be no text */
                return false;
        file = base_name(file, &length);
        return (length > 9 && memcmp(file, "perf-", 5) == 0 && memcmp(file + length - 4, ".map", 4) == 0) ||
               (length > 10 && memcmp(file, "jitted-", 7) == 0 && memcmp(file + length - 3, ".so", 3) == 0);
}

/* Is it no library, but the source of code that an interpreter runs, as some formats have it in a file's place? */
static bool is_script(const char *file, size_t length)
{
        static const char *const endings[] = { ".py", ".rb", ".js", ".mjs", ".cjs",
                                               ".ts", ".php", ".lua", ".pl", ".ex" };

        for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
                size_t size = strlen(endings[i]);

                if (length > size && memcmp(file + length - size, endings[i], size) == 0)
                        return true;
        }
        return false;
}

int32_t read_label(struct read *read, const char *function, size_t function_length, const char *file,
                   size_t file_length)
{
        char text[FRAME_MAX + 256];
        bool script = is_script(file, file_length);
        size_t n = 0;

        if (function_length == 0) {
                function = script ? "(anonymous)" : "[unknown]";
                function_length = strlen(function);
        }
        if (script && !memmem(function, function_length, file, file_length)) {
                n = put_part(text, FRAME_MAX / 2, file, file_length, ";");
                text[n++] = ':';
        }
        n += put_part(text + n, FRAME_MAX - n, function, function_length, ";");
        if (script || read_is_jit(file, file_length)) {
                file = "[jit]"; /* as joulecast record names it */
                file_length = strlen(file);
        }
        if (file_length > 0) {
                file = base_name(file, &file_length);
                text[n++] = '@';
                n += put_part(text + n, sizeof(text) - n, file, file_length, ";@ ");
        }
        return labels_add(&read->stacks->labels, text, n);
}

int read_add(struct read *read, int32_t node, double value, double samples)
{
        struct stacks_run *run = &read->stacks->runs[read->stacks->n_runs - 1];
        int err;

        if (!(value >= 0) || value > VALUE_MAX || !(samples >= 0) || samples > VALUE_MAX)
                return read_damaged(read, 0, "a value is no number from 0 to 2^53");
        err = stacks_add(read->stacks, node, value);
        if (err == 0 && samples > 0) {
                run->samples = (isnan(run->samples) ? 0 : run->samples) + samples;
                err = stacks_add_samples(read->stacks, node, value * value / samples, value / samples);
        }
        return read_failed(read, err);
}

static bool is_unknown(const char *label)
{
        return *label == '[' && strncmp(label, "[unknown]", strlen("[unknown]")) == 0;
}

/*
 * The number of frames without the unnamed ones above main() or a thread's function: libraries often have no
 * names for the functions that start these.
 */
static size_t cut_start(const struct read *read, const int32_t *labels, size_t n)
{
        const struct stacks *stacks = read->stacks;
        size_t known = n;
        const char *dso;

        while (known > 0 && is_unknown(labels_text(&stacks->labels, labels[known - 1])))
                known--;
        if (known == n || known == 0 || !stacks->program)
                return n;
        dso = strrchr(labels_text(&stacks->labels, labels[known - 1]), '@');
        return dso && strcmp(dso + 1, stacks->program) == 0 ? known : n;
}

int read_stack(struct read *read, int32_t root, const int32_t *labels, size_t n, double value, double samples)
{
        int32_t node;

        if (n >= STACKS_DEPTH_MAX)
                return read_damaged(read, 0, "a stack has more than 4096 frames");
        node = stacks_node(read->stacks, root, labels, cut_start(read, labels, n));
        return node < 0 ? read_failed(read, node) : read_add(read, node, value, samples);
}

double read_unit(struct read *read, const char *name, size_t length)
{
        static const struct {
                const char *name, *unit;
                double factor;
        } units[] = {
                { "count", "samples", 1 },      { "samples", "samples", 1 },  { "none", "samples", 1 },
                { "nanoseconds", "ns", 1 },     { "ns", "ns", 1 },            { "microseconds", "ns", 1e3 },
                { "us", "ns", 1e3 },            { "\u00b5s", "ns", 1e3 },     { "milliseconds", "ns", 1e6 },
                { "ms", "ns", 1e6 },            { "seconds", "ns", 1e9 },     { "s", "ns", 1e9 },
                { "nanojoules", "nJ", 1 },      { "microjoules", "nJ", 1e3 }, { "millijoules", "nJ", 1e6 },
                { "joules", "nJ", 1e9 },        { "bytes", "bytes", 1 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
                if (strlen(units[i].name) != length || memcmp(units[i].name, name, length) != 0)
                        continue;
                read->unit = units[i].unit;
                return units[i].factor;
        }
        return 0;
}

int read_program(struct read *read, const char *path, size_t length)
{
        if (read->stacks->program || length == 0)
                return 0;
        path = base_name(path, &length);
        read->stacks->program = strndup(path, length);
        return read->stacks->program ? 0 : read_failed(read, -ENOMEM);
}

/* Up to @size bytes; fewer at the end of the file. A negative errno after its sentence. */
static ssize_t read_full(const struct read *read, FILE *file, char *buf, size_t size)
{
        size_t n = fread(buf, 1, size, file);
        int err = ferror(file) ? -errno : 0;

        return err < 0 ? read_damaged(read, 0, gzip_reason(err)) : (ssize_t)n;
}

typedef int (*read_lines_t)(struct read *read, void *reader, const char *text, size_t length);

/* Parses chunks that end where a line does. @n: number of bytes that are in @buf already. */
static int read_lines(struct read *read, FILE *file, char *buf, size_t n, read_lines_t parse,
                      void *reader)
{
        ssize_t got;

        for (;;) {
                const char *line = n < CHUNK ? NULL : memrchr(buf, '\n', n);
                size_t whole = line ? (size_t)(line + 1 - buf) : n;
                int err = parse(read, reader, buf, whole);

                if (err < 0 || n < CHUNK)
                        return err;
                memmove(buf, buf + whole, n - whole);
                got = read_full(read, file, buf + (n - whole), CHUNK - (n - whole));
                if (got < 0)
                        return (int)got;
                n = n - whole + (size_t)got;
        }
}

static int parse_folded(struct read *read, void *reader, const char *text, size_t length)
{
        return folded_parse(read, reader, text, length);
}

static int read_folded(struct read *read, FILE *file, char *buf, size_t n)
{
        _cleanup_(folded_freep) struct folded *folded = NULL;
        int err = folded_new(&folded);

        if (err < 0)
                return read_failed(read, err);
        err = read_lines(read, file, buf, n, parse_folded, folded);
        return err < 0 ? err : folded_end(read, folded);
}

static int parse_perf_script(struct read *read, void *reader, const char *text, size_t length)
{
        return perf_script_parse(read, reader, text, length);
}

static int read_perf_script(struct read *read, FILE *file, char *buf, size_t n)
{
        _cleanup_(perf_script_freep) struct perf_script *script = NULL;
        int err = perf_script_new(&script);

        if (err < 0)
                return read_failed(read, err);
        err = read_lines(read, file, buf, n, parse_perf_script, script);
        return err < 0 ? err : perf_script_end(read, script);
}

/* Reads the whole file. @buf: in and out, CHUNK + 1 bytes with @n bytes in it. The length, or a negative errno. */
static ssize_t read_whole(const struct read *read, FILE *file, char **buf, size_t n)
{
        size_t size = CHUNK;
        ssize_t got;
        char *more;

        while (n == size) {
                if (size >= WHOLE_MAX)
                        return read_damaged(read, 0, "it is longer than 512 MiB; use a shorter recording, or "
                                                     "folded stacks");
                more = realloc(*buf, 2 * size + 1);
                if (!more)
                        return read_failed(read, -ENOMEM);
                *buf = more;
                got = read_full(read, file, more + n, size);
                if (got < 0)
                        return got;
                n += (size_t)got;
                size *= 2;
        }
        (*buf)[n] = '\0';
        return (ssize_t)n;
}

/*
 * A message that the file has a known format without stacks, and what to do about it; NULL: it has none of these.
 * @buf: at least 64 bytes, with zeros after a short file.
 */
static const char *find_other(const char *buf)
{
        static const struct {
                const char *head, *what;
        } others[] = {
                { "\xff\xfe", N_("it is UTF-16; convert it with iconv -f UTF-16 -t UTF-8") },
                { "\xfe\xff", N_("it is UTF-16; convert it with iconv -f UTF-16 -t UTF-8") },
                { "PERFILE2", N_("it is of perf record; print it with perf script, and give that") },
                { "heap profile:", N_("it is a heap profile, which has no CPU time") },
                { "heap_v2/", N_("it is a heap profile, which has no CPU time") }, /* jemalloc */
                { "--- heap", N_("it is a heap profile, which has no CPU time") },
                { "--- growth", N_("it is a heap profile, which has no CPU time") },
                { "--- symbol", N_("google-pprof --raw leaves out which files functions are in; give the "
                                   "profile that it was made of") },
                { "--- contention", N_("it is a profile of locks or threads, which has no CPU time") },
                { "--- threadz", N_("it is a profile of locks or threads, which has no CPU time") },
                { "desc: ", N_("it is a heap profile, which has no CPU time") }, /* massif */
                { "# To display the perf.data",
                  N_("perf report printed it; print the recording with perf script, and give that") },
                { "Attaching ", N_("it is bpftrace's own text; stackcollapse-bpftrace.pl makes folded stacks of it") },
                { "@[", N_("it is bpftrace's own text; stackcollapse-bpftrace.pl makes folded stacks of it") },
                { "File: ", N_("it is text that pprof printed; give the profile itself") },
                { "Type: ", N_("it is text that pprof printed; give the profile itself") },
                { "PeriodType: ", N_("it is text that pprof printed; give the profile itself") },
                { "<!DOCTYPE", N_("it is a page or a picture; give the stacks that it was made of") },
                { "<html", N_("it is a page or a picture; give the stacks that it was made of") },
                { "<?xml", N_("it is a page or a picture; give the stacks that it was made of") },
                { "<svg", N_("it is a page or a picture; give the stacks that it was made of") },
                { "FLR", N_("it is a recording of Java Flight Recorder; async-profiler's jfrconv -o collapsed makes "
                            "folded stacks of it") },
                { "Nettrace",
                  N_("dotnet-trace made it; give what dotnet-trace convert --format Speedscope makes of it") },
                { "\x7f" "ELF", N_("it is a program or library, and no stacks") },
                { "SQLite format 3", N_("it is a database, and no stacks") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                if (strncmp(buf, others[i].head, strlen(others[i].head)) == 0)
                        return others[i].what;
        return NULL;
}

static int read_known(struct read *read, FILE *file, char **buf, size_t n)
{
        static const struct {
                bool (*is)(const char *data, size_t length);
                int (*parse)(struct read *read, const char *data, size_t length);
        } formats[] = {
                { cpu_profile_is, cpu_profile_parse },
                { callgrind_is, callgrind_parse },
                { json_stacks_is, json_stacks_parse },
                { pprof_is, pprof_parse },
        };
        const char *other = find_other(*buf);
        ssize_t length;

        if (read->events && (other || !perf_script_is(*buf, n)))
                return 0;
        if (other)
                return read_damaged(read, 0, other);
        for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
                if (read->events || !formats[i].is(*buf, n))
                        continue;
                length = read_whole(read, file, buf, n);
                return length < 0 ? (int)length : formats[i].parse(read, *buf, (size_t)length);
        }
        return perf_script_is(*buf, n) ? read_perf_script(read, file, *buf, n) : read_folded(read, file, *buf, n);
}

int read_stream(struct read *read, FILE *file)
{
        _cleanup_free_ char *buf = calloc(1, CHUNK + 1);
        ssize_t n;

        if (!buf)
                return read_failed(read, -ENOMEM);
        n = read_full(read, file, buf, CHUNK);
        return n < 0 ? (int)n : read_known(read, file, &buf, (size_t)n);
}

int read_file(struct read *read, const char *path)
{
        _cleanup_fclose_ FILE *file = NULL;
        int err = stacks_begin(read->stacks);

        if (err < 0)
                return read_failed(read, err);
        err = gzip_open(path, &file);
        if (err < 0)
                return read_damaged(read, 0, gzip_reason(err));
        err = read_stream(read, file);
        if (err == 0 && read->stacks->runs[read->stacks->n_runs - 1].sum == 0)
                return read_damaged(read, 0, "it has no stacks with a count above 0");
        if (err < 0)
                return err;
        err = samples_find(read);
        return read_failed(read, err < 0 ? err : stacks_end(read->stacks));
}

void read_events(const char *path, struct perf_events *ret)
{
        struct log quiet = { 0 };
        struct read read = { .name = path, .log = &quiet, .events = ret };
        _cleanup_fclose_ FILE *file = NULL;
        struct stat status;

        if (strcmp(path, "-") == 0 || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
                return;
        if (gzip_open(path, &file) == 0)
                (void)read_stream(&read, file);
}
