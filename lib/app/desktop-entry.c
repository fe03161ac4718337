/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "desktop-entry.h"

#include <errno.h>
#include <string.h>

#include "app-command.h"
#include "util/util.h"

#define NAME_MAX_BYTES 128

void desktop_entry_clear(struct desktop_entry *entry)
{
        free(entry->id);
        free(entry->name);
        free(entry->program);
        free(entry->path);
        free(entry->words);
        free(entry->folder);
        free(entry->class);
        *entry = (struct desktop_entry){ 0 };
}

/*
 * How well a key's locale matches the user's, in the specification's order lang_COUNTRY@MODIFIER (4), lang_COUNTRY,
 * lang@MODIFIER, lang (1). 0: no match.
 */
static int locale_rank(const char *key, size_t length, const char *locale)
{
        size_t lang = strcspn(locale, "_.@"), country = strcspn(locale, ".@");
        const char *modifier = strchr(locale, '@');
        size_t m = modifier ? strlen(modifier) : 0;

        if (m && length == country + m && strncmp(key, locale, country) == 0 &&
            strncmp(key + country, modifier, m) == 0)
                return country > lang ? 4 : 2;
        if (country > lang && length == country && strncmp(key, locale, country) == 0)
                return 3;
        if (m && length == lang + m && strncmp(key, locale, lang) == 0 &&
            strncmp(key + lang, modifier, m) == 0)
                return 2;
        return length == lang && strncmp(key, locale, lang) == 0;
}

/* Replaces the escapes \s \n \t \r \\. Exec has further ones, of its own. */
static void unescape(const char *value, size_t length, char *ret, size_t size)
{
        for (const char *end = value + length; value < end && size > 1; value++, size--) {
                bool escaped = *value == '\\' && value + 1 < end && strchr("\\sntr", value[1]);

                value += escaped;
                *ret++ = escaped && *value != '\\' ? ' ' : *value;
        }
        *ret = '\0';
}

/* The words of Exec, without the fields for files. Their length. */
static size_t exec_words(const char *value, size_t length, char *words, size_t size)
{
        char text[2048];
        size_t all, kept = 0;

        unescape(value, length, text, sizeof(text));
        app_command_words(text, "", words, size, &all);
        for (size_t at = 0; at < all;) {
                size_t one = strlen(words + at) + 1;

                if (words[at] && words[at] != '%') {
                        memmove(words + kept, words + at, one);
                        kept += one;
                }
                at += one;
        }
        words[kept] = '\0';
        return kept;
}

static int parse_exec(const char *value, size_t length, struct desktop_entry *ret)
{
        struct app_command command;
        char words[2048], name[NAME_MAX_BYTES];
        size_t all = exec_words(value, length, words, sizeof(words));

        app_command_parse(words, all, &command);
        free(TAKE_PTR(ret->program));
        free(TAKE_PTR(ret->path));
        free(TAKE_PTR(ret->words));
        if (!command.runs[0])
                return 0;
        app_command_name(command.runs, name, sizeof(name));
        ret->words = command.elsewhere ? strdup(name) : command.line ? NULL : strndup(value, length);
        if (command.elsewhere)
                return ret->words ? 0 : -ENOMEM;
        ret->program = strdup(name);
        ret->path = strdup(command.runs);
        ret->plain = all > strlen(command.runs) && strcmp(words + all - strlen(command.runs) - 1,
                                                             command.runs) == 0;
        return ret->program && ret->path ? 0 : -ENOMEM;
}

struct parsing {
        struct desktop_entry *entry;
        const char *locale;
        int name_rank; /* locale_rank() of the current name; -1: none yet */
        bool application, hidden;
};

static bool is(const char *text, size_t length, const char *wanted)
{
        return strlen(wanted) == length && memcmp(text, wanted, length) == 0;
}

static int replace(char **text, const char *value, size_t length)
{
        char raw[1024], plain[NAME_MAX_BYTES], *copy;

        unescape(value, length, raw, sizeof(raw));
        copy = strdup(util_printable(raw, plain, sizeof(plain)));
        if (!copy)
                return -ENOMEM;
        free(*text);
        *text = copy;
        return 0;
}

static int parse_key(struct parsing *parsing, const char *key, size_t key_length, const char *value,
                     size_t length)
{
        const char *bracket = memchr(key, '[', key_length);
        size_t plain = bracket ? (size_t)(bracket - key) : key_length;
        int rank = 0;

        if (bracket) {
                if (!parsing->locale || key[key_length - 1] != ']')
                        return 0;
                rank = locale_rank(bracket + 1, key_length - plain - 2, parsing->locale);
                if (!rank)
                        return 0;
        }
        if (is(key, plain, "Name")) {
                if (rank <= parsing->name_rank)
                        return 0;
                parsing->name_rank = rank;
                return replace(&parsing->entry->name, value, length);
        }
        if (bracket)
                return 0;
        if (is(key, plain, "Type"))
                parsing->application = is(value, length, "Application");
        else if (is(key, plain, "Hidden"))
                parsing->hidden = is(value, length, "true");
        else if (is(key, plain, "Exec"))
                return parse_exec(value, length, parsing->entry);
        else if (is(key, plain, "Categories"))
                parsing->entry->terminal = memmem(value, length, "TerminalEmulator", strlen("TerminalEmulator"));
        else if (is(key, plain, "StartupWMClass"))
                return replace(&parsing->entry->class, value, length);
        return 0;
}

int desktop_entry_parse(const char *text, const char *locale, struct desktop_entry *ret)
{
        struct parsing parsing = { .entry = ret, .locale = locale, .name_rank = -1 };
        bool inside = false;

        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                size_t length = strcspn(line, "\n"), key;
                const char *equals = memchr(line, '=', length), *value;
                int err;

                while (length > 0 && strchr(" \t\r", line[length - 1]))
                        length--;
                if (length > 0 && line[0] == '[') {
                        inside = is(line, length, "[Desktop Entry]");
                        continue;
                }
                if (!inside || line[0] == '#' || !equals || equals >= line + length)
                        continue;
                for (key = (size_t)(equals - line); key > 0 && line[key - 1] == ' '; key--)
                        ;
                for (value = equals + 1; value < line + length && *value == ' '; value++)
                        ;
                if (key == 0)
                        continue;
                err = parse_key(&parsing, line, key, value, (size_t)(line + length - value));
                if (err)
                        return err;
        }
        return parsing.application && !parsing.hidden ? 0 : -ENODATA;
}
