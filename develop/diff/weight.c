/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "weight.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run-folder.h"
#include "util/util.h"
#include "util/words.h"

#define COLUMNS_MAX 32
#define LINE_MAX_BYTES ((size_t)1 << 20)
#define PAGE_BYTES 4096.0 /* bytes that a sample counts: the kernel counts storage in pages, and a packet is less */

static const struct {
        const char *word, *unit, *columns; /* @columns: in runs/N.components.tsv; NULL: calls.tsv is read */
        const char *missing;
} known[] = {
        [WEIGHT_ENERGY] = { "energy", NULL, NULL, NULL },
        [WEIGHT_TIME] = { "time", "ns", " cpu_ns ", N_("it has no CPU time") },
        [WEIGHT_BYTES] = { "bytes", "bytes", " disk_write_bytes disk_read_bytes net_sent_bytes net_received_bytes ",
                           N_("it shows no bytes of storages or networks; run.json says what could be seen") },
        [WEIGHT_CALLS] = { "calls", "calls", NULL, N_("it has no calls: joulecast record --calls counts them") },
};

enum weight weight_of(const char *word)
{
        for (size_t i = 0; word && i < ARRAY_SIZE(known); i++)
                if (strcmp(known[i].word, word) == 0)
                        return (enum weight)i;
        return WEIGHT_ENERGY;
}

/* State of a file that is read line by line. */
struct reader {
        struct read read;
        struct folded *folded;
        FILE *file;
        char *line;
        size_t size, number;
        bool counts[COLUMNS_MAX]; /* whether each column counts, from the right */
        size_t n_columns, samples; /* @samples: which column, from the right; COLUMNS_MAX: none */
        double sum_samples;
};

static void reader_clear(struct reader *reader)
{
        if (reader->file)
                fclose(reader->file);
        folded_freep(&reader->folded);
        free(reader->line);
}

/* Adds a stack and its value through the reader of folded stacks, which knows how to split a stack. */
static int count(struct reader *reader, const char *stack, double value)
{
        _cleanup_free_ char *text = NULL;
        int length = value > 0 ? asprintf(&text, "%s %.17g\n", stack, value) : 0;

        if (length < 0) {
                text = NULL;
                return read_failed(&reader->read, -ENOMEM);
        }
        return length > 0 ? folded_parse(&reader->read, reader->folded, text, (size_t)length) : 0;
}

static bool is_word(const char *word, const char *words)
{
        char text[64];

        snprintf(text, sizeof(text), " %.50s ", word);
        return strstr(words, text) != NULL;
}

static int take_heading(struct reader *reader, const char *columns)
{
        char *tab;

        reader->samples = COLUMNS_MAX;
        while ((tab = strrchr(reader->line, '\t'))) {
                if (reader->n_columns >= COLUMNS_MAX)
                        return read_damaged(&reader->read, 1, "it has more than 32 columns");
                reader->counts[reader->n_columns] = is_word(tab + 1, columns);
                if (strcmp(tab + 1, "samples") == 0)
                        reader->samples = reader->n_columns;
                reader->n_columns++;
                *tab = '\0';
        }
        return 0;
}

static int take_stack(struct reader *reader)
{
        double value = 0, number;

        for (size_t i = 0; i < reader->n_columns; i++) {
                char *tab = strrchr(reader->line, '\t');

                if (!tab || util_parse_double(tab + 1, &number) < 0 || !(number >= 0 && number <= 0x1p53))
                        return read_damaged(&reader->read, reader->number,
                                            "it has not as many numbers as the heading has columns");
                if (i == reader->samples)
                        reader->sum_samples += number;
                value += reader->counts[i] ? number : 0;
                *tab = '\0';
        }
        return count(reader, reader->line, value);
}

static int take_calls(struct reader *reader)
{
        char *tab = strrchr(reader->line, '\t');
        _cleanup_free_ char *stack = NULL;
        double number;

        if (!tab || util_parse_double(tab + 1, &number) < 0 || !(number >= 0 && number <= 0x1p53))
                return reader->number == 1 ? 0 : read_damaged(&reader->read, reader->number,
                                                              "calls.tsv has no line of a frame, a tab and a count");
        *tab = '\0';
        if (asprintf(&stack, "app;%s", reader->line) < 0) {
                stack = NULL;
                return read_failed(&reader->read, -ENOMEM);
        }
        return count(reader, stack, number);
}

static int take_lines(struct reader *reader, enum weight weight)
{
        ssize_t length;
        int err = 0;

        while (err == 0 && (length = getline(&reader->line, &reader->size, reader->file)) >= 0) {
                reader->number++;
                if ((size_t)length > LINE_MAX_BYTES || !read_is_text(reader->line, (size_t)length))
                        return read_damaged(&reader->read, reader->number, "it is not UTF-8, or longer than 1 MiB");
                reader->line[strcspn(reader->line, "\r\n")] = '\0';
                if (weight == WEIGHT_CALLS)
                        err = take_calls(reader);
                else
                        err = reader->number == 1 ? take_heading(reader, known[weight].columns) : take_stack(reader);
        }
        return err;
}

static int read_one(const char *folder, size_t number, enum weight weight, const struct log *log, struct stacks *stacks)
{
        _cleanup_(reader_clear) struct reader reader = { .read = { .log = log, .stacks = stacks } };
        struct stacks_run *run;
        char *path = NULL, name[256];
        int err, made = weight == WEIGHT_CALLS ? asprintf(&path, "%s/calls.tsv", folder)
                                               : asprintf(&path, "%s/runs/%zu.components.tsv", folder, number);
        _cleanup_free_ char *owned = made < 0 ? NULL : path;

        reader.read.name = util_printable(owned ? owned : folder, name, sizeof(name));
        if (!owned || stacks_begin(stacks) < 0 || folded_new(&reader.folded) < 0)
                return read_failed(&reader.read, -ENOMEM);
        err = run_folder_open(&reader.read, owned, &reader.file);
        if (err == -ENOENT)
                return weight == WEIGHT_CALLS ? read_damaged(&reader.read, 0, known[weight].missing) :
                                                read_failed(&reader.read, err);
        if (err == 0)
                err = take_lines(&reader, weight);
        if (err < 0)
                return err;
        run = &stacks->runs[stacks->n_runs - 1];
        if (run->sum == 0)
                return read_damaged(&reader.read, 0, known[weight].missing);
        if (weight == WEIGHT_TIME && reader.sum_samples >= 1)
                run->samples = reader.sum_samples;
        if (weight == WEIGHT_BYTES)
                run->samples = fmax(1, stacks_total(run) / PAGE_BYTES);
        return read_failed(&reader.read, stacks_end(stacks));
}

int weight_take(const char *folder, enum weight weight, const struct log *log, struct side *side)
{
        _cleanup_(stacks_clear) struct stacks stacks = { 0 };
        size_t n = weight == WEIGHT_CALLS ? 1 : side->stacks.n_runs;
        struct stat status;
        int err;

        if (weight == WEIGHT_ENERGY)
                return 0;
        if (stat(folder, &status) < 0 || !S_ISDIR(status.st_mode)) {
                log_error(log, "--weight %s needs folders of joulecast record, which %s is not",
                          known[weight].word, side->name);
                return -EINVAL;
        }
        err = stacks_new(&stacks);
        for (size_t i = 0; err == 0 && i < n; i++)
                err = read_one(folder, i + 1, weight, log, &stacks);
        if (err < 0)
                return err;
        stacks.program = TAKE_PTR(side->stacks.program);
        stacks_clear(&side->stacks);
        side->stacks = stacks;
        stacks = (struct stacks){ 0 };
        side->unit = known[weight].unit;
        side->sample = side_mean_sample(&side->stacks);
        return 0;
}
