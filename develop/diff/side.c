/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "side.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "calls.h"
#include "run-folder.h"
#include "util/util.h"

void side_clear(struct side *side)
{
        free(side->name);
        stacks_clear(&side->stacks);
        contexts_clear(&side->contexts);
        calls_free(side->calls);
        *side = (struct side){ 0 };
}

static int read_one(struct side *side, const char *path, struct read *read)
{
        char name[256];
        struct stat status;
        const char *unit = read->unit;
        int err;

        read->name = util_printable(strcmp(path, "-") == 0 ? "standard input" : path, name, sizeof(name));
        if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
                err = run_folder_read(read, path);
        else
                err = read_file(read, path);
        if (err == 0 && unit && strcmp(unit, read->unit) != 0) {
                log_error(read->log, "%s counts %s, and other runs of the same program count %s", read->name,
                          read->unit, unit);
                err = -EINVAL;
        }
        return err;
}

/* Reads files with commas between, unless the whole text is the name of one file. */
static int read_all(struct side *side, char *words, struct read *read)
{
        char *next = words, *path;
        struct stat status;
        int err = 0;

        if (stat(words, &status) == 0 || !strchr(words, ','))
                return read_one(side, words, read);
        while (err == 0 && (path = strsep(&next, ",")))
                if (*path)
                        err = read_one(side, path, read);
        if (err == 0 && side->stacks.n_runs == 0) {
                log_error(read->log, "\"%s\" names no file", side->name);
                err = -EINVAL;
        }
        return err;
}

double side_mean_sample(const struct stacks *stacks)
{
        double total = 0, samples = 0;

        for (size_t i = 0; i < stacks->n_runs; i++) {
                double counted = stacks_total(&stacks->runs[i]);

                total += counted;
                samples += isnan(stacks->runs[i].samples) ? counted : stacks->runs[i].samples;
        }
        return samples > 0 ? total / samples : 1;
}

int side_read(const char *words, const char *event, const struct log *log, struct side *ret)
{
        _cleanup_(side_clear) struct side side = { 0 };
        _cleanup_free_ char *copy = strdup(words);
        struct read read = { .log = log, .stacks = &side.stacks, .work = &side.work, .event = *event ? event : NULL };
        char name[256];
        int err;

        side.name = strdup(util_printable(words, name, sizeof(name)));
        if (!copy || !side.name || stacks_new(&side.stacks) < 0)
                return -ENOMEM;
        err = read_all(&side, copy, &read);
        side.calls = read.calls;
        if (err < 0)
                return err;
        side.unit = read.unit;
        side.seconds = read.seconds;
        memcpy(side.event, read.event_read, sizeof(side.event));
        for (size_t i = 0; i < side.stacks.n_runs; i++)
                side.uncounted |= side.stacks.runs[i].uncounted && side.stacks.n_runs < DISPERSION_RUNS_MIN;
        side.sample = side_mean_sample(&side.stacks);
        *ret = side;
        side = (struct side){ 0 };
        return 0;
}

static bool has_frame(const struct side *side, bool (*is_it)(const char *text))
{
        for (size_t i = 0; i < side->stacks.labels.n; i++)
                if (is_it(labels_text(&side->stacks.labels, (int32_t)i)))
                        return true;
        return false;
}

bool side_has_dsos(const struct side *side)
{
        return has_frame(side, frame_has_dso);
}

bool side_has_python(const struct side *side)
{
        return has_frame(side, frame_is_python);
}

bool side_has_jit(const struct side *side)
{
        return has_frame(side, frame_is_jit);
}

double side_calls(const struct side *side, const char *frame)
{
        return side->calls ? calls_of(side->calls, frame) : NAN;
}

double side_value(const struct side *side, int32_t node)
{
        double sum = 0;

        for (size_t i = 0; node >= 0 && i < side->contexts.n_runs; i++)
                sum += side->contexts.value[i][node];
        return sum / (double)side->contexts.n_runs;
}

double side_self(const struct side *side, int32_t node)
{
        double sum = 0;

        for (size_t i = 0; i < side->contexts.n_runs; i++)
                sum += side->contexts.self[i][node];
        return sum / (double)side->contexts.n_runs;
}

double side_without_app(const struct side *side)
{
        double without = 0, all = 0;

        for (size_t i = 0; i < side->contexts.n_runs; i++) {
                without += side->contexts.without_app[i];
                all += stacks_total(&side->stacks.runs[i]);
        }
        return without / all;
}

/* Mean value of a sample of this run. */
static double mean_of_run(const struct side *side, size_t run)
{
        const struct stacks_run *read = &side->stacks.runs[run];
        double total = stacks_total(read), samples = isnan(read->samples) ? total : read->samples;

        return samples > 0 ? total / samples : 1;
}

/* Sum of the squared samples of a node. Where a file does not have it for each stack, all samples count the same. */
static double square_of(const struct side *side, int32_t node, size_t run)
{
        if (side->contexts.square[run])
                return side->contexts.square[run][node];
        return side->contexts.value[run][node] * mean_of_run(side, run);
}

double side_effective_samples(const struct side *side, int32_t node)
{
        double sum = 0, square = 0;

        for (size_t i = 0; node >= 0 && i < side->contexts.n_runs; i++) {
                sum += side->contexts.value[i][node];
                square += square_of(side, node, i);
        }
        return square > 0 ? sum * sum / square : 0;
}

double side_sample(const struct side *side, int32_t node)
{
        double samples = side_effective_samples(side, node);

        return samples > 0 ? side_value(side, node) * (double)side->contexts.n_runs / samples : side->sample;
}

double side_largest_sample(const struct side *side, int32_t node)
{
        double largest = side_sample(side, node);

        for (size_t i = 0; node >= 0 && i < side->contexts.n_runs; i++)
                if (!side->contexts.square[i] && side->contexts.value[i][node] > 0)
                        largest = fmax(largest, mean_of_run(side, i));
        return node < 0 ? largest : fmax(largest, side->contexts.largest[node]);
}
