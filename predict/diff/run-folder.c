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

#include "tree/labels.h"
#include "util/util.h"

#define RUNS_MAX 1000

struct calls {
        struct labels labels; /* as in the stacks: frame@dso */
        double *count;
        size_t capacity;
};

void run_folder_free_calls(struct calls *calls)
{
        if (!calls)
                return;
        labels_clear(&calls->labels);
        free(calls->count);
        free(calls);
}

double run_folder_calls(const struct calls *calls, const char *frame)
{
        int32_t label = labels_find(&calls->labels, frame, strlen(frame));

        return label < 0 ? NAN : calls->count[label];
}

static int add_calls(const struct read *read, struct calls *calls, char *line, size_t number)
{
        char *tab = strrchr(line, '\t');
        int32_t label;
        double count;

        if (!*line || *line == '#')
                return 0;
        if (!tab || !read_is_text(line, strlen(line)) || util_parse_double(tab + 1, &count) < 0 || count < 0)
                return number == 1 ? 0 : read_damaged(read, number, "calls.tsv has no line of a frame, a tab and a count");
        label = labels_add(&calls->labels, line, (size_t)(tab - line));
        if (label < 0)
                return label;
        if ((size_t)label >= calls->capacity &&
            util_grow(&calls->count, &calls->capacity, (size_t)label + 1, sizeof(*calls->count)) < 0)
                return -ENOMEM;
        calls->count[label] = count;
        return 0;
}

/* The first line may be a heading. */
static int read_calls(const struct read *read, const char *path, struct calls **ret)
{
        _cleanup_fclose_ FILE *file = fopen(path, "re");
        _cleanup_free_ char *line = NULL;
        struct calls *calls = NULL;
        size_t size = 0, number = 0;
        int err = 0;

        if (!file)
                return errno == ENOENT ? 0 : read_failed(read, -errno);
        calls = *ret ? *ret : calloc(1, sizeof(*calls));
        if (!calls)
                return read_failed(read, -ENOMEM);
        *ret = calls;
        while (err == 0 && getline(&line, &size, file) >= 0) {
                line[strcspn(line, "\r\n")] = '\0';
                err = add_calls(read, calls, line, ++number);
        }
        return err == -EBADMSG ? err : read_failed(read, err);
}

/* Its program, whose DSO is the app's. */
static int take_program(const struct read *read, const cJSON *json)
{
        const cJSON *command = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "command"), 0);

        if (read->stacks->program || !cJSON_IsString(command))
                return 0;
        read->stacks->program = strdup(util_base_name(command->valuestring));
        return read->stacks->program ? 0 : read_failed(read, -ENOMEM);
}

static int read_run(struct read *read, const char *folder, size_t number, const cJSON *run)
{
        const cJSON *samples = cJSON_GetObjectItemCaseSensitive(run, "samples");
        _cleanup_free_ char *path = NULL;
        int err;

        if (asprintf(&path, "%s/runs/%zu.folded", folder, number) < 0) {
                path = NULL;
                return read_failed(read, -ENOMEM);
        }
        err = read_file(read, path);
        if (err == 0 && cJSON_IsNumber(samples) && samples->valuedouble >= 1)
                read->stacks->runs[read->stacks->n_runs - 1].samples = samples->valuedouble;
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
        read->unit = unit && strncmp(unit, "ns", 2) == 0 ? "ns" : "nJ";
        return err;
}

int run_folder_read(struct read *read, const char *path, struct calls **calls)
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
        return err < 0 ? err : read_calls(read, tsv, calls);
}
