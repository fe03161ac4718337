/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "offer.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "match.h"
#include "paths.h"
#include "util.h"
#include "words.h"

#define SUFFIX ".ini"
#define LONGEST 64

static bool ends_in_ini(const char *name)
{
        size_t length = strlen(name);

        return length > strlen(SUFFIX) && strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

static int is_ini(const struct dirent *entry)
{
        return entry->d_name[0] != '.' && strlen(entry->d_name) < LONGEST && ends_in_ini(entry->d_name);
}

char *offer_words(const char *const *words, size_t n, const char *asked, char *buf, size_t size)
{
        struct match_near near = { .asked = asked };
        char list[512] = "";
        size_t length = 0;

        for (size_t i = 0; i < n; i++) {
                match_near_add(&near, words[i], words[i]);
                if (length < sizeof(list))
                        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s", i ? ", " : "",
                                                   words[i]);
        }
        if (near.found)
                snprintf(buf, size, "did you mean %s? There are %s", near.found, list);
        else
                snprintf(buf, size, "there are %s", list[0] ? list : "none");
        return buf;
}

char *offer_names(const char *folder, const char *name, char *buf, size_t size)
{
        struct dirent **entries = NULL;
        int n = scandir(folder, &entries, is_ini, alphasort);
        _cleanup_free_ const char **names = calloc((size_t)MAX(n, 1), sizeof(*names));

        for (int i = 0; i < n && names; i++) {
                char *one = entries[i]->d_name;

                one[strlen(one) - strlen(SUFFIX)] = '\0';
                names[i] = one;
        }
        offer_words(names, names && n > 0 ? (size_t)n : 0, name, buf, size);
        for (int i = 0; i < n; i++)
                free(entries[i]);
        free(entries);
        return buf;
}

char *offer_list(const char *folder)
{
        struct dirent **entries = NULL;
        int n = scandir(folder, &entries, is_ini, alphasort);
        char *list = n >= 0 ? calloc((size_t)n + 1, LONGEST) : NULL, *end = list;

        for (int i = 0; i < n; i++) {
                size_t length = strlen(entries[i]->d_name) - strlen(SUFFIX);

                if (list)
                        end += sprintf(end, "%.*s\n", (int)length, entries[i]->d_name);
                free(entries[i]);
        }
        free(entries);
        return list;
}

int offer_find(const char *kind, const char *what, const char *name, const struct log *log, char **ret)
{
        _cleanup_free_ char *folder = NULL, *path = NULL;
        char printable[128], offer[640];
        int err;

        if (strchr(name, '/') || ends_in_ini(name)) {
                *ret = strdup(name);
                return *ret ? 0 : -ENOMEM;
        }
        err = paths_data(kind, &folder);
        if (err < 0)
                return err;
        if (asprintf(&path, "%s/%s" SUFFIX, folder, name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (access(path, F_OK) < 0) {
                log_error(log, "there is no %s %s; %s in %s; a file needs a / or %s in its name", _(what),
                          util_printable(name, printable, sizeof(printable)),
                          offer_names(folder, name, offer, sizeof(offer)), folder, SUFFIX);
                return -ENOENT;
        }
        *ret = TAKE_PTR(path);
        return 0;
}
