/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "perf-map.h"
#include "util/util.h"

#define LOOKED_MAX 4096 /* lines that may cover an address */

struct code {
        uint64_t from, to;
        uint64_t reach; /* the greatest @to up to here */
        size_t end;     /* where in the file its line ends */
        const char *name;
};

struct perf_map {
        char *text; /* names end in NUL in it */
        struct code *list;
        size_t n, capacity;
};

void perf_map_free(struct perf_map *map)
{
        if (!map)
                return;
        free(map->text);
        free(map->list);
        free(map);
}

DEFINE_CLEANUP(struct perf_map, perf_map_free)

static bool take_hex(char **at, uint64_t *ret)
{
        char *end;

        if (!isxdigit((unsigned char)**at))
                return false;
        errno = 0;
        *ret = strtoull(*at, &end, 16);
        if (errno || end == *at || *end != ' ')
                return false;
        *at = end + 1;
        return true;
}

static int by_from(const void *a, const void *b)
{
        const struct code *first = a, *second = b;

        if (first->from != second->from)
                return first->from < second->from ? -1 : 1;
        return (first->end > second->end) - (first->end < second->end);
}

static void sort(struct perf_map *map)
{
        if (map->n == 0)
                return;
        qsort(map->list, map->n, sizeof(*map->list), by_from);
        for (size_t i = 0; i < map->n; i++)
                map->list[i].reach = MAX(map->list[i].to, i > 0 ? map->list[i - 1].reach : 0);
}

int perf_map_parse(const char *text, size_t length, struct perf_map **ret)
{
        _cleanup_(perf_map_freep) struct perf_map *map = calloc(1, sizeof(*map));
        char *at, *end;

        if (!map)
                return -ENOMEM;
        map->text = malloc(length + 1);
        if (!map->text)
                return -ENOMEM;
        memcpy(map->text, text, length);
        map->text[length] = '\0';
        for (at = map->text; at < map->text + length; at = end + 1) {
                struct code code = { 0 };
                uint64_t size;

                end = at + strcspn(at, "\n");
                code.end = (size_t)(end - map->text);
                *end = '\0';
                if (!take_hex(&at, &code.from) || !take_hex(&at, &size) || size == 0 ||
                    code.from + size < code.from || !*at)
                        continue;
                code.to = code.from + size;
                code.name = at;
                if (util_grow(&map->list, &map->capacity, map->n + 1, sizeof(*map->list)) < 0)
                        return -ENOMEM;
                map->list[map->n++] = code;
        }
        sort(map);
        *ret = TAKE_PTR(map);
        return 0;
}

/* Anyone can write a file in /tmp: only names come from it, and it is a plain file. */
int perf_map_load(pid_t pid, struct perf_map **ret)
{
        _cleanup_close_ int fd = -1;
        _cleanup_free_ char *text = NULL;
        struct stat status;
        char path[64];
        size_t length = 0;

        snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > PERF_MAP_BYTES_MAX)
                return -ENOENT;
        text = malloc((size_t)status.st_size + 1);
        if (!text)
                return -ENOMEM;
        while (length < (size_t)status.st_size) {
                ssize_t got = read(fd, text + length, (size_t)status.st_size - length);

                if (got <= 0)
                        break;
                length += (size_t)got;
        }
        return perf_map_parse(text, length, ret);
}

static int covers(const void *key, const void *element)
{
        uint64_t address = *(const uint64_t *)key;

        return address < ((const struct code *)element)->from ? -1 : 1;
}

/* Other code began at the same address later. */
static bool is_gone(const struct perf_map *map, size_t i, size_t known)
{
        return i + 1 < map->n && map->list[i + 1].from == map->list[i].from && map->list[i + 1].end <= known;
}

/* Is the line of @a nearer to what was known then than that of @b? */
static bool is_better(const struct code *a, const struct code *b, size_t known)
{
        if ((a->end <= known) != (b->end <= known))
                return a->end <= known;
        return a->end <= known ? a->end > b->end : a->end < b->end;
}

const char *perf_map_find(const struct perf_map *map, uint64_t address, size_t known)
{
        size_t after = util_lower_bound(&address, map->list, map->n, sizeof(*map->list), covers), looked = 0;
        const struct code *best = NULL;

        for (size_t i = after; i > 0 && map->list[i - 1].reach > address && looked < LOOKED_MAX; i--, looked++) {
                const struct code *code = &map->list[i - 1];

                if (address < code->to && !is_gone(map, i - 1, known) && (!best || is_better(code, best, known)))
                        best = code;
        }
        return best ? best->name : NULL;
}
