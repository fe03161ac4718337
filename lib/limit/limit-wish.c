/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "limit-wish.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "util/ini-text.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"

#define FILE_MAX (64 << 10)

struct reader {
        struct limit_wishes *wishes;
        char section[INI_LINE_MAX];
};

/* Sections are [limit 1], [limit 2] ..., since ids may have letters that a section's name may not. */
static int set_key(void *data, const struct ini_place *place, const char *section, const char *name, const char *value)
{
        struct reader *reader = data;
        struct limit_wishes *wishes = reader->wishes;
        struct limit_wish *wish;
        double seconds;
        int err;

        if (strncmp(section, "limit ", 6) != 0)
                return ini_error(place, "there is no section [%s]", section);
        if (strcmp(reader->section, section) != 0) {
                if (wishes->n == LIMIT_WISHES_MAX)
                        return ini_error(place, "there are more than %d limits", LIMIT_WISHES_MAX);
                snprintf(reader->section, sizeof(reader->section), "%s", section);
                wishes->list[wishes->n++] = (struct limit_wish){ 0 };
        }
        wish = &wishes->list[wishes->n - 1];
        if (strcmp(name, "cpu_percent") == 0)
                return ini_number(place, name, value, LIMIT_CPU_MIN, LIMIT_CPU_MAX, &wish->cpu_percent);
        if (strcmp(name, "freeze_after_s") == 0)
                return ini_number(place, name, value, LIMIT_FREEZE_MIN, LIMIT_FREEZE_MAX, &wish->freeze_after_s);
        if (strcmp(name, "since_s") == 0) {
                err = ini_number(place, name, value, 0, 7258118400, &seconds); /* up to the year 2200 */
                if (!err)
                        wish->since_ns = (int64_t)(seconds * (double)NS_PER_S);
                return err;
        }
        if (strcmp(name, "app") != 0)
                return ini_error(place, "there is no key \"%s\" in [%s]", name, section);
        if (!*value || strlen(value) >= APP_ID_MAX)
                return ini_error(place, "\"%s\" is no app's id", value);
        util_printable(value, wish->app, sizeof(wish->app));
        return 0;
}

static int check(const char *path, const struct log *log, const struct limit_wishes *wishes)
{
        const struct ini_place place = { .name = path, .log = log };

        for (size_t i = 0; i < wishes->n; i++) {
                const struct limit_wish *wish = &wishes->list[i];

                if (!*wish->app)
                        return ini_error(&place, "a limit has no app");
                if (!(wish->cpu_percent > 0 || wish->freeze_after_s > 0))
                        return ini_error(&place, "the limit of %s says neither cpu_percent nor freeze_after_s",
                                         wish->app);
                for (size_t k = 0; k < i; k++)
                        if (strcmp(wishes->list[k].app, wish->app) == 0)
                                return ini_error(&place, "%s has two limits", wish->app);
        }
        return 0;
}

int limit_wishes_read(const char *path, const struct log *log, struct limit_wishes *ret)
{
        _cleanup_free_ struct limit_wishes *wishes = calloc(1, sizeof(*wishes));
        struct reader reader = { .wishes = wishes };
        _cleanup_free_ char *text = NULL;
        struct stat status;
        size_t length;
        int err = 0;

        if (!wishes)
                return -ENOMEM;
        if (stat(path, &status) == 0) {
                err = ini_text_read(path, FILE_MAX, log, &text, &length);
                if (!err && length > 0)
                        err = ini_text_parse(text, length, path, log, set_key, &reader);
                if (!err)
                        err = check(path, log, wishes);
                wishes->written_ns = (int64_t)status.st_mtim.tv_sec * (int64_t)NS_PER_S + status.st_mtim.tv_nsec;
        } else if (errno != ENOENT) {
                return -errno;
        }
        if (!err)
                *ret = *wishes;
        return err;
}

static char *print(const struct limit_wishes *wishes)
{
        struct text_kept kept;
        FILE *file = text_open(&kept);

        if (!file)
                return NULL;
        fputs("# Written by joulecast limit, done by joulecast-focus.\n", file);
        for (size_t i = 0; i < wishes->n; i++) {
                const struct limit_wish *wish = &wishes->list[i];
                char number[32];

                fprintf(file, "[limit %zu]\napp = %s\n", i + 1, wish->app);
                if (wish->cpu_percent > 0)
                        fprintf(file, "cpu_percent = %s\n",
                                util_print_double(wish->cpu_percent, number, sizeof(number)));
                if (wish->freeze_after_s > 0)
                        fprintf(file, "freeze_after_s = %s\n",
                                util_print_double(wish->freeze_after_s, number, sizeof(number)));
                fprintf(file, "since_s = %lld\n", (long long)(wish->since_ns / (int64_t)NS_PER_S));
        }
        return text_close(file, &kept);
}

int limit_wishes_write(const char *path, struct limit_wishes *wishes)
{
        _cleanup_free_ char *text = print(wishes);
        struct stat status;
        int err = text ? util_make_parent(path, 0700) : -ENOMEM;

        if (!err)
                err = util_write_file(path, text, strlen(text), 0600);
        if (!err && stat(path, &status) == 0)
                wishes->written_ns = (int64_t)status.st_mtim.tv_sec * (int64_t)NS_PER_S + status.st_mtim.tv_nsec;
        return err;
}

struct limit_wish *limit_wish_find(struct limit_wishes *wishes, const char *app)
{
        for (size_t i = 0; i < wishes->n; i++)
                if (strcmp(wishes->list[i].app, app) == 0)
                        return &wishes->list[i];
        return NULL;
}

/* An INI file strips blanks at both ends, and " ;" begins a comment. */
static bool is_holdable(const char *app)
{
        size_t length = strlen(app);

        return length > 0 && app[0] != ' ' && app[length - 1] != ' ' && !strstr(app, " ;") && app[0] != ';';
}

int limit_wish_set(struct limit_wishes *wishes, const struct limit_wish *wish)
{
        struct limit_wish *old = limit_wish_find(wishes, wish->app);

        if (!is_holdable(wish->app))
                return -EINVAL;
        if (!old && wishes->n == LIMIT_WISHES_MAX)
                return -ENOSPC;
        if (!old)
                old = &wishes->list[wishes->n++];
        *old = *wish;
        return 0;
}

void limit_wish_remove(struct limit_wishes *wishes, const char *app)
{
        struct limit_wish *wish = limit_wish_find(wishes, app);

        if (wish)
                *wish = wishes->list[--wishes->n];
}
