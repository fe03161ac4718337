/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "desktop-entry.h"

#include <errno.h>
#include <string.h>

#include "util/util.h"

#define NAME_MAX_BYTES 128

void desktop_entry_clear(struct desktop_entry *entry)
{
        free(entry->id);
        free(entry->name);
        free(entry->program);
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

/* Replaces the escapes \s \n \t \r \\, and makes the text printable. */
static char *value_copy(const char *value, size_t length)
{
        char raw[1024], plain[NAME_MAX_BYTES];
        size_t out = 0;

        for (size_t i = 0; i < length && out + 1 < sizeof(raw); i++) {
                if (value[i] == '\\' && i + 1 < length) {
                        i++;
                        raw[out++] = value[i] == '\\' ? '\\' : ' ';
                } else if (value[i]) {
                        raw[out++] = value[i];
                }
        }
        raw[out] = '\0';
        return strdup(util_printable(raw, plain, sizeof(plain)));
}

/* The next word of an Exec line, which has quotes and backslashes as in a shell. */
static const char *exec_word(const char *text, const char *end, char *word, size_t size)
{
        size_t length = 0;
        bool quoted = false;

        while (text < end && (*text == ' ' || *text == '\t'))
                text++;
        while (text < end && (quoted || (*text != ' ' && *text != '\t'))) {
                if (*text == '"') {
                        quoted = !quoted;
                } else {
                        if (*text == '\\' && text + 1 < end)
                                text++;
                        if (length + 1 < size)
                                word[length++] = *text;
                }
                text++;
        }
        word[length] = '\0';
        return text;
}

/* Programs that start other programs, so their name does not identify an app. */
static bool is_wrapper(const char *program)
{
        static const char *const wrappers[] = {
                "bash", "dbus-launch", "env", "flatpak", "gapplication", "gtk-launch", "java", "kioclient",
                        "mono",
                "nohup", "perl", "pkexec", "python", "python3", "ruby", "sh", "snap", "sudo", "systemd-run",
                        "true",
                "uwsm", "waydroid", "wine", "xdg-open",
        };

        for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++)
                if (strcmp(program, wrappers[i]) == 0)
                        return true;
        return false;
}

static int parse_exec(const char *value, size_t length, struct desktop_entry *ret)
{
        const char *end = value + length;
        char word[512];
        const char *rest = exec_word(value, end, word, sizeof(word));

        if (strcmp(util_base_name(word), "env") == 0)
                do
                        rest = exec_word(rest, end, word, sizeof(word));
                while (strchr(word, '=') || word[0] == '-');
        free(ret->program);
        ret->program = NULL;
        if (!word[0] || is_wrapper(util_base_name(word)))
                return 0;
        ret->program = strdup(util_base_name(word));
        exec_word(rest, end, word, sizeof(word));
        ret->plain = !word[0] || word[0] == '%';
        return ret->program ? 0 : -ENOMEM;
}

struct parsing {
        struct desktop_entry *entry;
        const char *locale;
        int name_rank; /* locale_rank() of the current name; -1: none yet */
        bool application, hidden;
};

static bool is_true(const char *value, size_t length)
{
        return length == 4 && memcmp(value, "true", 4) == 0;
}

static int replace(char **text, const char *value, size_t length)
{
        char *copy = value_copy(value, length);

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
        if (plain == 4 && memcmp(key, "Name", 4) == 0) {
                if (rank <= parsing->name_rank)
                        return 0;
                parsing->name_rank = rank;
                return replace(&parsing->entry->name, value, length);
        }
        if (bracket)
                return 0;
        if (plain == 4 && memcmp(key, "Type", 4) == 0)
                parsing->application = length == 11 && memcmp(value, "Application", 11) == 0;
        else if (plain == 6 && memcmp(key, "Hidden", 6) == 0)
                parsing->hidden = is_true(value, length);
        else if (plain == 4 && memcmp(key, "Exec", 4) == 0)
                return parse_exec(value, length, parsing->entry);
        else if (plain == 14 && memcmp(key, "StartupWMClass", 14) == 0)
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
                        inside = length == 15 && memcmp(line, "[Desktop Entry]", 15) == 0;
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
