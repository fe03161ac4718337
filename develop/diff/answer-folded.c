/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Folded stacks with two counts, as difffolded.pl writes and flamegraph.pl and inferno-flamegraph read them. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "joined.h"
#include "util/text.h"
#include "util/util.h"

/* The folded stack of the node that is written. The stacks of the nodes below it begin with it. */
struct path {
        char *text;
        size_t capacity;
        size_t *end; /* length of the stack of each node */
};

static void path_clear(struct path *path)
{
        free(path->text);
        free(path->end);
}

static int append(struct path *path, size_t *length, const char *text)
{
        size_t n = strlen(text);

        if (util_grow(&path->text, &path->capacity, *length + n, 1) < 0)
                return -ENOMEM;
        memcpy(path->text + *length, text, n);
        *length += n;
        return 0;
}

static int go_to(const struct joined *joined, struct path *path, int32_t node)
{
        struct joined_frame frame;
        size_t length = node > 0 ? path->end[joined->trie.parent[node]] : 0;
        int err;

        if (node == 0) {
                err = append(path, &length, joined->program);
        } else {
                joined_spell(joined, joined->trie.label[node], &frame);
                err = append(path, &length, ";");
                if (err == 0)
                        err = append(path, &length, frame.name);
                if (err == 0 && frame.dso[0])
                        err = append(path, &length, "@");
                if (err == 0)
                        err = append(path, &length, frame.dso);
        }
        path->end[node] = length;
        return err;
}

static int print(FILE *file, const struct joined *joined)
{
        _cleanup_(path_clear) struct path path = { .end = calloc(joined->trie.n, sizeof(*path.end)) };
        size_t written = 0;

        if (!path.end)
                return -ENOMEM;
        for (size_t i = 0; i < joined->trie.n; i++) {
                int32_t node = joined->order[i];

                if (go_to(joined, &path, node) < 0)
                        return -ENOMEM;
                if (joined->a[node] == 0 && joined->b[node] == 0)
                        continue;
                written += path.end[node];
                if (written > DIFF_FILE_MAX)
                        return -E2BIG;
                fwrite(path.text, 1, path.end[node], file);
                fprintf(file, " %" PRId64 " %" PRId64 "\n", joined->a[node], joined->b[node]);
        }
        return 0;
}

int answer_folded(const struct comparison *comparison, char **ret, size_t *length)
{
        _cleanup_(joined_clear) struct joined joined = { 0 };
        struct text_kept kept = { 0 };
        int err = joined_make(comparison, &joined);
        FILE *file;

        if (err < 0)
                return err;
        file = text_open(&kept);
        if (!file)
                return -ENOMEM;
        err = print(file, &joined);
        *ret = text_close(file, &kept);
        *length = kept.length;
        if (err < 0) {
                free(*ret);
                *ret = NULL;
                return err;
        }
        return *ret ? 0 : -ENOMEM;
}
