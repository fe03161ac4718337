/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run-folder.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "calls.h"
#include "record/same-work.h"
#include "util/util.h"
#include "util/words.h"

#define RUNS_MAX 1000
#define FILE_MAX_BYTES ((off_t)512 << 20)

static const char irregular[] = N_("one of its files is no regular file, or longer than 512 MiB");

int run_folder_open(const struct read *read, const char *path, FILE **ret)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO would wait */
        struct stat status;

        if (fd < 0)
                return errno == ENOENT ? -ENOENT : read_failed(read, -errno);
        if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > FILE_MAX_BYTES)
                return read_damaged(read, 0, irregular);
        *ret = fdopen(fd, "r");
        if (!*ret)
                return read_failed(read, -errno);
        take_fd(&fd);
        return 0;
}

static int add_calls(struct read *read, char *line, size_t number)
{
        char *tab = strrchr(line, '\t');
        double count;

        if (!*line || *line == '#')
                return 0;
        if (!tab || !read_is_text(line, strlen(line)) || util_parse_double(tab + 1, &count) < 0 || count < 0)
                return number == 1 ? 0 : read_damaged(read, number,
                                                      "calls.tsv has no line of a frame, a tab and a count");
        return calls_set(&read->calls, line, (size_t)(tab - line), count);
}

/* The first line may be a heading. */
static int read_calls(struct read *read, const char *path)
{
        _cleanup_fclose_ FILE *file = NULL;
        _cleanup_free_ char *line = NULL;
        size_t size = 0, number = 0;
        int err = run_folder_open(read, path, &file);

        if (err < 0)
                return err == -ENOENT ? 0 : err;
        while (err == 0 && getline(&line, &size, file) >= 0) {
                line[strcspn(line, "\r\n")] = '\0';
                err = add_calls(read, line, ++number);
        }
        return err == -EBADMSG ? err : read_failed(read, err);
}

/* Where a column is; SIZE_MAX: it is not there. */
static size_t find_column(const char *heading, const char *name)
{
        size_t at = 0, length = strlen(name);

        for (const char *cell = heading; cell; cell = strchr(cell, '\t') ? strchr(cell, '\t') + 1 : NULL) {
                if (strncmp(cell, name, length) == 0 && (cell[length] == '\t' || cell[length] == '\0'))
                        return at;
                at++;
        }
        return SIZE_MAX;
}

/* The node of a stack that is there already; -1: it is not. */
static int32_t find_stack(const struct stacks *stacks, char *stack)
{
        int32_t node = 0, label;
        char *frame;

        while (node >= 0 && (frame = strsep(&stack, ";"))) {
                label = labels_find(&stacks->labels, frame, strlen(frame));
                node = label < 0 ? -1 : trie_find(&stacks->trie, node, label);
        }
        return node;
}

/* Indices of columns of components.tsv; SIZE_MAX: it has no such column. */
struct columns {
        size_t variance, largest;
};

static int add_variance(struct read *read, const struct columns *columns, char *line, size_t number)
{
        char *next = line, *stack = strsep(&next, "\t"), *cell;
        double variance = NAN, largest = NAN, value;
        bool wrong = false;
        int32_t node;

        for (size_t i = 1; (cell = strsep(&next, "\t")); i++)
                wrong |= (i == columns->variance && util_parse_double(cell, &variance) < 0) ||
                         (i == columns->largest && (util_parse_double(cell, &largest) < 0 || largest < 0));
        if (wrong || !(variance >= 0))
                return read_damaged(read, number, "components.tsv has no variance for this stack");
        node = find_stack(read->stacks, stack);
        if (node < 0)
                return read_damaged(read, number, "components.tsv has a stack that the folded file of its run has not");
        value = stacks_value(&read->stacks->runs[read->stacks->n_runs - 1], (size_t)node);
        if (isnan(largest)) /* all count the same */
                largest = value > 0 ? variance / value : 0;
        return read_failed(read, stacks_add_samples(read->stacks, node, variance, fmin(largest, value)));
}

/* Reads the variance of each stack of the last run. Recordings of other programs may not have it. */
static int read_variances(struct read *read, const char *path)
{
        _cleanup_fclose_ FILE *file = NULL;
        _cleanup_free_ char *line = NULL;
        struct columns columns = { SIZE_MAX, SIZE_MAX };
        size_t size = 0, number = 0;
        int err = run_folder_open(read, path, &file);

        if (err < 0)
                return err == -ENOENT ? 0 : err;
        while (err == 0 && getline(&line, &size, file) >= 0) {
                line[strcspn(line, "\r\n")] = '\0';
                if (++number == 1)
                        columns = (struct columns){ find_column(line, "variance_nj2"),
                                                    find_column(line, "largest_nj") };
                else if (columns.variance == SIZE_MAX)
                        break;
                else
                        err = add_variance(read, &columns, line, number);
        }
        return err;
}

/* Takes the name of the recorded program, whose DSO is the app's. */
static int take_program(const struct read *read, const cJSON *json)
{
        const cJSON *dearest = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "app_files"), 0);
        const cJSON *command = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "command"), 0);
        /* A command may be a launcher, or a symbolic link. */
        const cJSON *program = cJSON_IsString(dearest) ? dearest : command;

        if (read->stacks->program || !cJSON_IsString(program))
                return 0;
        read->stacks->program = strdup(util_base_name(program->valuestring));
        return read->stacks->program ? 0 : read_failed(read, -ENOMEM);
}

static double number_of(const cJSON *json, const char *key)
{
        const cJSON *number = cJSON_GetObjectItemCaseSensitive(json, key);

        return cJSON_IsNumber(number) && number->valuedouble >= 0 ? number->valuedouble : NAN;
}

/* Takes the work that a run did, which is not its cost. */
static void take_work(struct work_done *work, const cJSON *run)
{
        const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(run, "bytes");
        double status = number_of(run, "exit_status");

        work_add(work, &(struct work_run){ status <= 255 ? (int)status : WORK_STATUS_UNKNOWN,
                                           fmax(number_of(bytes, "read"), number_of(bytes, "net_received")),
                                           fmax(number_of(bytes, "written"), number_of(bytes, "net_sent")),
                                           number_of(run, "wall_s"), number_of(run, "cpu_s") });
}

static void take_pace(struct work_done *work, const cJSON *json)
{
        const char *script = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "input"));
        double frames = number_of(json, "frames_shown");

        work->frames = isnan(frames) ? 0 : frames;
        snprintf(work->script, sizeof(work->script), "%s", script ? script : "");
}

static int read_run(struct read *read, const char *folder, size_t number, const cJSON *run)
{
        const cJSON *samples = cJSON_GetObjectItemCaseSensitive(run, "samples");
        _cleanup_free_ char *path = NULL, *components = NULL;
        struct stat status;
        int err;

        if (asprintf(&path, "%s/runs/%zu.folded", folder, number) < 0)
                path = NULL;
        if (asprintf(&components, "%s/runs/%zu.components.tsv", folder, number) < 0)
                components = NULL;
        if (!path || !components)
                return read_failed(read, -ENOMEM);
        if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) /* a FIFO would wait */
                return read_damaged(read, 0, irregular);
        err = read_file(read, path);
        if (err == 0)
                err = read_variances(read, components);
        if (err == 0 && read->stacks->runs[read->stacks->n_runs - 1].square)
                read->stacks->runs[read->stacks->n_runs - 1].uncounted = false;
        if (err == 0 && cJSON_IsNumber(samples) && samples->valuedouble >= 1) {
                read->stacks->runs[read->stacks->n_runs - 1].samples = samples->valuedouble;
                read->stacks->runs[read->stacks->n_runs - 1].uncounted = false;
        }
        if (err == 0)
                take_work(read->work, run);
        return err;
}

static int read_runs(struct read *read, const char *folder, const cJSON *json)
{
        const cJSON *runs = cJSON_GetObjectItemCaseSensitive(json, "runs");
        const char *unit = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "unit"));
        int n = cJSON_GetArraySize(runs), err = take_program(read, json);

        if (err == 0 && (!cJSON_IsArray(runs) || n < 1 || n > RUNS_MAX))
                return read_damaged(read, 0, "run.json lists no runs");
        for (int i = 0; err == 0 && i < n; i++)
                err = read_run(read, folder, (size_t)i + 1, cJSON_GetArrayItem(runs, i));
        take_pace(read->work, json);
        read->unit = unit && strncmp(unit, "ns", 2) == 0 ? "ns" : "nJ";
        return err;
}

int run_folder_read(struct read *read, const char *path)
{
        _cleanup_free_ char *list = NULL, *tsv = NULL, *text = NULL;
        size_t size = (size_t)4 << 20;
        cJSON *json;
        ssize_t length;
        int err;

        if (asprintf(&list, "%s/run.json", path) < 0)
                list = NULL;
        if (asprintf(&tsv, "%s/calls.tsv", path) < 0)
                tsv = NULL;
        text = malloc(size);
        if (!list || !tsv || !text)
                return read_failed(read, -ENOMEM);
        length = util_read_at(AT_FDCWD, list, text, size);
        if (length == -ENOENT)
                return read_damaged(read, 0, "the folder has no run.json; it is none of joulecast record");
        if (length < 0)
                return read_failed(read, (int)length);
        json = cJSON_Parse(text);
        err = json ? read_runs(read, path, json) : read_damaged(read, 0, "run.json is no JSON");
        cJSON_Delete(json);
        return err < 0 ? err : read_calls(read, tsv);
}
