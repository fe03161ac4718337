/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "subordinate.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util.h"

#define TEXT_MAX (1 << 20) /* bytes of the file: twenty thousand users */
#define NAME_LENGTH_MAX 256

struct range { /* ascending by first */
        uid_t first, last;
        uid_t owner;
};

/* One table for the process, as the machine has one file. */
static struct range *ranges;
static size_t n_ranges;
static struct stat seen;

static int by_first(const void *a, const void *b)
{
        const struct range *one = a, *other = b;

        return one->first < other->first ? -1 : one->first > other->first;
}

static bool read_number(const char *text, uint32_t *ret)
{
        char *end;
        unsigned long long number;

        if (*text < '0' || *text > '9')
                return false;
        errno = 0;
        number = strtoull(text, &end, 10);
        *ret = (uint32_t)number;
        return !*end && !errno && number <= UINT32_MAX;
}

static bool find_user(const char *name, uid_t *ret)
{
        const struct passwd *user;

        if (read_number(name, ret))
                return true;
        user = getpwnam(name);
        if (user)
                *ret = user->pw_uid;
        return user != NULL;
}

/* -EINVAL: the line gives no range to a user. */
static int parse_line(char *line, struct range *ret)
{
        char *first = strchr(line, ':'), *count = first ? strchr(first + 1, ':') : NULL;
        uint32_t n = 0;

        if (!count || first - line > NAME_LENGTH_MAX)
                return -EINVAL;
        *first++ = *count++ = '\0';
        if (!read_number(first, &ret->first) || !read_number(count, &n) || n == 0 || n > UINT32_MAX - ret->first ||
            !find_user(line, &ret->owner))
                return -EINVAL;
        ret->last = ret->first + (n - 1);
        if (ret->owner == 0) /* root's range for containers counts as one user of its own, not as root */
                ret->owner = ret->first;
        return ret->first == 0 ? -EINVAL : 0; /* root cannot be a subordinate id */
}

int subordinate_parse(const char *text)
{
        _cleanup_free_ char *copy = strdup(text);
        struct range *list = NULL;
        size_t n = 0, capacity = 0;
        char *rest = copy, *line;
        int err = copy ? 0 : -ENOMEM;

        while (!err && (line = strsep(&rest, "\n"))) {
                struct range range;

                if (parse_line(line, &range) < 0)
                        continue;
                err = util_grow(&list, &capacity, n + 1, sizeof(*list));
                if (!err)
                        list[n++] = range;
        }
        if (err) {
                free(list);
                return err;
        }
        if (n > 0)
                qsort(list, n, sizeof(*list), by_first);
        free(ranges);
        ranges = list;
        n_ranges = n;
        return 0;
}

static bool is_seen(const struct stat *there)
{
        return there->st_ino == seen.st_ino && there->st_size == seen.st_size &&
               there->st_mtim.tv_sec == seen.st_mtim.tv_sec && there->st_mtim.tv_nsec == seen.st_mtim.tv_nsec;
}

void subordinate_read(const char *path)
{
        _cleanup_free_ char *text = NULL;
        struct stat there;

        if (stat(path, &there) < 0 || is_seen(&there))
                return;
        text = malloc(TEXT_MAX);
        if (text && util_read_at(AT_FDCWD, path, text, TEXT_MAX) >= 0 && subordinate_parse(text) == 0)
                seen = there;
}

uid_t subordinate_owner(uid_t uid)
{
        size_t low = 0, high = n_ranges;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (ranges[middle].first <= uid)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low > 0 && uid <= ranges[low - 1].last ? ranges[low - 1].owner : uid;
}
