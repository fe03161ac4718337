/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A machine tree in one file: a line "path TAB content" for each file, with \n, \t and \\ escaped; lines that
 * begin with # are comments. Unpacked into a folder, --machine reads it like a device.
 */

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/util.h"

static inline size_t tree_unescape(char *text)
{
        char *out = text;

        for (const char *in = text; *in; in++) {
                if (*in == '\\' && in[1]) {
                        in++;
                        *out++ = *in == 'n' ? '\n' : *in == 't' ? '\t' : *in == '0' ? '\0' : *in;
                } else {
                        *out++ = *in;
                }
        }
        return (size_t)(out - text);
}

static inline bool tree_write(const char *dir, const char *path, const char *content, size_t length)
{
        char name[1024];
        _cleanup_fclose_ FILE *file = NULL;

        snprintf(name, sizeof(name), "%s/%s", dir, path + (*path == '/'));
        if (util_make_parent(name, 0755) < 0)
                return false;
        file = fopen(name, "we");
        return file && fwrite(content, 1, length, file) == length;
}

/* Makes a folder under /tmp and writes its name to @dir. */
static inline bool tree_unpack(const char *path, char *dir, size_t size)
{
        _cleanup_fclose_ FILE *file = fopen(path, "re");
        _cleanup_free_ char *line = NULL;
        size_t capacity = 0;

        snprintf(dir, size, "/tmp/joulecast-tree-XXXXXX");
        if (!file || !mkdtemp(dir))
                return false;
        while (getline(&line, &capacity, file) > 0) {
                char *tab = strchr(line, '\t');

                line[strcspn(line, "\n")] = '\0';
                if (*line == '#' || !tab)
                        continue;
                *tab = '\0';
                if (!tree_write(dir, line, tab + 1, tree_unescape(tab + 1)))
                        return false;
        }
        return true;
}

static inline int tree_remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
        return remove(path);
}

static inline void tree_remove(const char *dir)
{
        nftw(dir, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
