/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-private.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/util.h"

/* Words of ids that many apps have. */
static const char common_words[] =
        "ai app application browser ce client co codeberg com community de default desktop dev edition edu fr github "
        "gitlab im info io me net org page professional sf sourceforge stable tv uk ultimate us xyz";

/* Words for the maker of an app, not for the app: ids with different makers are different apps. */
static const char makers[] = "gnome google jetbrains kde microsoft mozilla";

#define WORDS_MAX 16

struct word {
        const char *at;
        size_t length;
};

/* An id's words. Those of its last part that names something are its name: "Chrome" of "com.google.Chrome". */
struct id_words {
        struct word name[WORDS_MAX], makers[WORDS_MAX];
        size_t n_names, n_makers;
};

static bool is_number(const struct word *word)
{
        return strspn(word->at, "0123456789") >= word->length;
}

static void add(struct word *list, size_t *n, const struct word *word)
{
        if (*n < WORDS_MAX)
                list[(*n)++] = *word;
}

/* Splits at all that is neither letter nor digit. A part before the name, which a dot ends, is its maker's. */
static void split(const char *id, struct id_words *ret)
{
        bool dot = false;

        *ret = (struct id_words){ 0 };
        for (const char *at = id; *at;) {
                struct word word = { .at = at };

                while (isalnum((unsigned char)at[word.length]) || (unsigned char)at[word.length] >= 0x80)
                        word.length++;
                if (word.length == 0) {
                        dot = dot || *at == '.';
                        at++;
                        continue;
                }
                at += word.length;
                if (is_number(&word) || app_is_listed(common_words, word.at, word.length))
                        continue;
                if (app_is_listed(makers, word.at, word.length)) {
                        add(ret->makers, &ret->n_makers, &word);
                        continue;
                }
                for (size_t i = 0; dot && i < ret->n_names; i++)
                        add(ret->makers, &ret->n_makers, &ret->name[i]);
                ret->n_names = dot ? 0 : ret->n_names;
                dot = false;
                add(ret->name, &ret->n_names, &word);
        }
}

/* A word begins and ends at a character that is no letter or digit, and at a capital letter after any other letter. */
static bool is_edge(const char *text, size_t at)
{
        unsigned char before = at ? (unsigned char)text[at - 1] : '\0', after = (unsigned char)text[at];

        return !before || !isalnum(before) || !isalnum(after) || (!isupper(before) && isupper(after));
}

static bool has_word(const char *text, const struct word *word)
{
        size_t length = strlen(text);

        for (size_t i = 0; i + word->length <= length; i++)
                if (strncasecmp(text + i, word->at, word->length) == 0 && is_edge(text, i) &&
                    is_edge(text, i + word->length))
                        return true;
        return false;
}

/* How many of these words has the text? */
static size_t count_words(const char *text, const struct word *words, size_t n)
{
        size_t found = 0;

        for (size_t i = 0; i < n; i++)
                found += has_word(text, &words[i]);
        return found;
}

static bool has_all(const char *text, const struct word *words, size_t n)
{
        return n > 0 && count_words(text, words, n) == n;
}

enum app_fit app_fit_words(const char *app, const char *window)
{
        struct id_words a, w;
        int fits;

        split(app, &a);
        split(window, &w);
        if (a.n_makers > 0 && w.n_makers > 0 && !count_words(window, a.makers, a.n_makers) &&
            !count_words(app, w.makers, w.n_makers))
                return APP_FIT_NOT;
        fits = has_all(window, a.name, a.n_names) + has_all(app, w.name, w.n_names);
        return fits == 2 ? APP_FIT_WORDS : fits == 1 ? APP_FIT_PART : APP_FIT_NOT;
}

/* "steam_app_413150". Without such a number a launcher other than Steam started the game: "steam_app_default". */
static bool is_steam_number(const char *text)
{
        return *text >= '1' && *text <= '9' && text[strspn(text, "0123456789")] == '\0' && strlen(text) <= 10;
}

void app_window_read(struct apps *apps, const char *id, struct app_window *ret)
{
        const char *number = app_after(id, "steam_app_");

        *ret = (struct app_window){ .id = id, .entry = desktop_by_window(app_index(apps), id) };
        ret->nameless = number && !is_steam_number(number);
        if (number && !ret->nameless)
                snprintf(ret->app, sizeof(ret->app), "steam:%s", number);
        else if (ret->entry)
                app_desktop_id(ret->entry, ret->app);
}

static bool equal(const char *a, const char *b)
{
        return a && b && strcasecmp(a, b) == 0;
}

static bool same_program(const char *a, const char *b)
{
        return a && b && app_command_same(a, b);
}

/* A browser's web apps have entries of their own, which start the browser's program. */
static bool has_name(struct apps *apps, const char *app, const struct app_window *window)
{
        const struct desktop_entry *entry = desktop_by_id(app_index(apps), app);
        const char *snap = app_after(app, "snap:");

        if (snap && strncasecmp(window->id, snap, strlen(snap)) == 0 && strchr("_.", window->id[strlen(snap)]))
                return true;
        return entry && (equal(entry->class, window->id) || equal(entry->program, window->id) ||
                         (window->entry && same_program(entry->program, window->entry->program)));
}

enum app_fit app_window_fit(struct apps *apps, const struct app_window *window, const char *app)
{
        const char *colon = strchr(app, ':');

        if (equal(app, window->id) || equal(app, window->app))
                return APP_FIT_SAME;
        if (window->nameless)
                return APP_FIT_NOT;
        return has_name(apps, app, window) ? APP_FIT_NAME : app_fit_words(colon ? colon + 1 : app, window->id);
}

bool app_is_bridge(const struct app_entry *process)
{
        const struct lead_line *of_app = lead_find(process->app), *of_comm = lead_find_comm(process->comm);

        return (of_app && of_app->bridge) || (of_comm && of_comm->bridge && !app_after(process->app, "steam:"));
}

/* Processes have names, too: that of Flatpak's Firefox is "firefox", and Edge's web apps are "msedge-ID-Default". */
static enum app_fit fit_process(struct apps *apps, const struct app_window *window, const struct app_entry *process)
{
        const struct lead_line *line = lead_find_comm(process->comm);
        enum app_fit fit;

        if (process->kernel || app_after(process->app, "sys:") || app_is_bridge(process))
                return APP_FIT_NOT;
        fit = app_window_fit(apps, window, process->app);
        if (fit < APP_FIT_NAME && (app_command_same(process->comm, window->id) ||
                                   (window->entry && equal(process->comm, window->entry->program))))
                return APP_FIT_NAME;
        return fit == APP_FIT_NOT && line && line->lead == LEAD_ALIAS ? app_fit_words(process->comm, window->id) : fit;
}

static bool match(struct apps *apps, const char *app_id, enum app_fit least, char *ret)
{
        const struct app_entry *best = NULL;
        enum app_fit best_fit = least;
        struct app_window window;
        bool several = false;

        app_window_read(apps, app_id, &window);
        for (const struct app_entry *at = apps->entries; at; at = at->hh.next) {
                enum app_fit fit = fit_process(apps, &window, at);

                if (fit < best_fit)
                        continue;
                several = best && fit == best_fit && (several || strcmp(best->app, at->app) != 0);
                best_fit = fit;
                best = at;
        }
        if (!best || several)
                return false;
        snprintf(ret, APP_ID_MAX, "%s", best->app);
        return true;
}

/* Processes that started since the last poll. False: there are none. */
static bool find_new(struct apps *apps)
{
        _cleanup_closedir_ DIR *folder = util_opendir_at(apps->root_fd, "proc");
        const struct dirent *file;
        bool found = false;

        while (folder && (file = readdir(folder))) {
                struct app_process process;
                char *end, comm[32], app[APP_ID_MAX];
                long pid = strtol(file->d_name, &end, 10);

                if (*end || pid <= 0 || pid > INT32_MAX || app_entry_find(apps, (pid_t)pid) ||
                    app_process_read(apps->root_fd, (pid_t)pid, &process, comm, sizeof(comm)) < 0)
                        continue;
                found = apps_find(apps, &process, app) == 0 || found;
        }
        return found;
}

bool app_match_window(struct apps *apps, const char *app_id, enum app_fit least, char *ret)
{
        return *app_id && (match(apps, app_id, least, ret) || (find_new(apps) && match(apps, app_id, least, ret)));
}
