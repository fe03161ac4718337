/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/options.h"
#include "answer/program.h"
#include "util/util.h"

#define RUN_BYTES_MAX ((size_t)4 << 20)
#define ARGUMENTS_MAX 4096

struct line {
        char *words[2 * ARGUMENTS_MAX + 8]; /* words of the commands are owned by @json */
        size_t n;
        cJSON *json[2];
};

static void line_free(struct line **line)
{
        for (int i = 0; *line && i < 2; i++)
                cJSON_Delete((*line)->json[i]);
        free(*line);
}

/* The frame of a task as in the stacks: function@file. NULL: there is no such task. */
static const char *find_frame(const struct comparison *comparison, const char *wanted)
{
        char name[FRAME_NAME_MAX];

        for (size_t i = 0; i < comparison->n; i++) {
                const struct task *task = &comparison->tasks[i];
                const struct side *side = task->a.node >= 0 ? comparison->a : comparison->b;
                int32_t node = task->a.node >= 0 ? task->a.node : task->b.node;

                task_name(comparison->labels, side->contexts.shown[node], name, sizeof(name));
                if (strcmp(name, wanted) == 0)
                        return labels_text(&side->stacks.labels, side->stacks.trie.label[side->contexts.origin[node]]);
        }
        return NULL;
}

/* Adds the command of a folder's run.json. */
static int add_command(struct line *line, int side, const char *folder)
{
        _cleanup_free_ char *path = NULL, *text = malloc(RUN_BYTES_MAX);
        const cJSON *command, *word;
        char name[256];

        if (!text || asprintf(&path, "%s/run.json", folder) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        util_printable(folder, name, sizeof(name));
        if (util_read_at(AT_FDCWD, path, text, RUN_BYTES_MAX) > 0)
                line->json[side] = cJSON_Parse(text);
        command = cJSON_GetObjectItemCaseSensitive(line->json[side], "command");
        if (cJSON_GetArraySize(command) < 1 || cJSON_GetArraySize(command) > ARGUMENTS_MAX) {
                log_error(&program_log, "--probe runs the programs again: it needs folders of joulecast "
                                        "record, and %s is none", name);
                return -EINVAL;
        }
        cJSON_ArrayForEach(word, command) {
                if (!cJSON_IsString(word) || strcmp(word->valuestring, ":::") == 0) {
                        log_error(&program_log, "%s: its command cannot be run again", name);
                        return -EINVAL;
                }
                line->words[line->n++] = word->valuestring;
        }
        return 0;
}

int probe_become(const struct comparison *comparison, const char *const folders[2], const char *task)
{
        static char record[] = "record", option[] = "--probe", command[] = "--", between[] = ":::";
        _cleanup_(line_free) struct line *line = calloc(1, sizeof(*line));
        _cleanup_free_ char *frame = NULL;
        const char *found = find_frame(comparison, task);
        char name[256];
        int err;

        if (!found) {
                log_error(&program_log, "there is no task %s; the first column of the table has their names",
                          util_printable(task, name, sizeof(name)));
                return CODE_FAILED;
        }
        frame = strdup(found);
        if (!line || !frame)
                return CODE_FAILED;
        line->words[line->n++] = record;
        line->words[line->n++] = option;
        line->words[line->n++] = frame;
        line->words[line->n++] = command;
        err = add_command(line, 0, folders[0]);
        line->words[line->n++] = between;
        if (err == 0)
                err = add_command(line, 1, folders[1]);
        return err < 0 ? CODE_FAILED : program_become("record", "develop", "joulecast-record", NULL, line->words);
}
