/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "limit-state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "util/ini-text.h"
#include "util/text.h"
#include "util/util.h"

#define FILE_MAX (128 << 10)

static const char *const effects[LIMIT_EFFECTS] = {
        "absent", "front", "waits", "cpu", "frozen", "busy", "unseen", "refused", "failed",
};

int limit_state_path(const char *name, char **ret)
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");

        if (!runtime || runtime[0] != '/')
                return -ENOENT;
        return asprintf(ret, "%s/%s", runtime, name) < 0 ? -ENOMEM : 0;
}

static bool is_unit(const char *text)
{
        return *text && strlen(text) < APP_UNIT_MAX && util_only_has(text, ":_.\\@-");
}

/* "unit QUOTA NAME" */
static void read_unit(struct limit_state *state, const char *words)
{
        char *end;
        struct limit_unit unit = { .quota_us = strtoull(words, &end, 10) };

        if (end == words || *end != ' ' || !is_unit(end + 1) || state->n_units == LIMIT_UNITS_MAX)
                return;
        snprintf(unit.unit, sizeof(unit.unit), "%s", end + 1);
        if (!limit_state_unit(state, unit.unit))
                state->units[state->n_units++] = unit;
}

/* "app SINCE EFFECT ID" */
static void read_app(struct limit_state *state, char *words)
{
        char *end, *word, *id;
        struct limit_app app = { .since_ns = strtoll(words, &end, 10) };

        if (end == words || *end != ' ' || state->n_apps == LIMIT_APPS_MAX)
                return;
        word = end + 1;
        id = strchr(word, ' ');
        if (!id || !id[1] || strlen(id + 1) >= APP_ID_MAX)
                return;
        *id++ = '\0';
        while (app.effect < LIMIT_EFFECTS && strcmp(effects[app.effect], word) != 0)
                app.effect++;
        if (app.effect == LIMIT_EFFECTS)
                return;
        util_printable(id, app.app, sizeof(app.app));
        if (!limit_state_app(state, app.app))
                state->apps[state->n_apps++] = app;
}

void limit_state_parse(char *text, struct limit_state *ret)
{
        char *rest = NULL;

        *ret = (struct limit_state){ 0 };
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                if (strncmp(line, "unit ", 5) == 0)
                        read_unit(ret, line + 5);
                else if (strncmp(line, "app ", 4) == 0)
                        read_app(ret, line + 4);
                else if (strncmp(line, "wishes ", 7) == 0)
                        ret->wishes_ns = strtoll(line + 7, NULL, 10);
        }
}

int limit_state_read(const char *path, struct limit_state *ret)
{
        const struct log quiet = { 0 };
        _cleanup_free_ char *text = NULL;
        size_t length;
        int err = ini_text_read(path, FILE_MAX, &quiet, &text, &length);

        if (err == -ENOENT) {
                *ret = (struct limit_state){ 0 };
                return 0;
        }
        if (!err)
                limit_state_parse(text, ret);
        return err;
}

int limit_state_write(const char *path, const struct limit_state *state)
{
        _cleanup_free_ char *text = NULL;
        struct text_kept kept;
        FILE *file = text_open(&kept);

        if (!file)
                return -ENOMEM;
        fprintf(file, "wishes %lld\n", (long long)state->wishes_ns);
        for (size_t i = 0; i < state->n_units; i++)
                fprintf(file, "unit %llu %s\n", (unsigned long long)state->units[i].quota_us, state->units[i].unit);
        for (size_t i = 0; i < state->n_apps; i++)
                fprintf(file, "app %lld %s %s\n", (long long)state->apps[i].since_ns, effects[state->apps[i].effect],
                        state->apps[i].app);
        text = text_close(file, &kept);
        return text ? util_write_file(path, text, strlen(text), 0600) : -ENOMEM;
}

struct limit_unit *limit_state_unit(struct limit_state *state, const char *unit)
{
        for (size_t i = 0; i < state->n_units; i++)
                if (strcmp(state->units[i].unit, unit) == 0)
                        return &state->units[i];
        return NULL;
}

struct limit_app *limit_state_app(struct limit_state *state, const char *app)
{
        for (size_t i = 0; i < state->n_apps; i++)
                if (strcmp(state->apps[i].app, app) == 0)
                        return &state->apps[i];
        return NULL;
}

int limit_state_lock(void)
{
        _cleanup_free_ char *path = NULL;
        _cleanup_close_ int fd = -1;
        int err = limit_state_path(LIMIT_LOCK, &path);

        if (err)
                return err;
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return errno == EWOULDBLOCK ? -EBUSY : -errno;
        return take_fd(&fd);
}
