/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/util.h"

#define DEPTH_MAX 8 /* wrappers in wrappers */
#define TEXT_MAX 1024

struct words {
        const char *at, *end;
};

static const char *next(struct words *words)
{
        const char *word = words->at;

        if (word >= words->end)
                return NULL;
        words->at += strlen(word) + 1;
        return word;
}

static bool is_assignment(const char *word)
{
        size_t length = strcspn(word, "=/");

        return length > 0 && word[length] == '=';
}

static bool is_number(const char *word)
{
        return *word && strchr("0123456789", *word) && word[strspn(word, "0123456789.,-smhdx")] == '\0';
}

/* Finds the first argument that is a program, and moves @words behind it. NULL: there is none. */
static const char *argument(const struct lead_line *line, struct words *words)
{
        bool needs = line->lead == LEAD_WRAPPER && lead_needs_word(line), operand = lead_has_word(line, "1");

        for (const char *word = next(words); word; word = next(words)) {
                if (strcmp(word, "--") == 0)
                        return needs ? NULL : next(words);
                if (strchr("-+", *word) || (*word == '@' && line->lead == LEAD_INTERPRETER)) {
                        for (int i = lead_values(line, word); i > 0; i--)
                                next(words);
                        continue;
                }
                if (line->lead == LEAD_WRAPPER && (is_assignment(word) || is_number(word)))
                        continue;
                if (lead_has_word(line, word)) {
                        needs = false;
                        continue;
                }
                if (needs || !operand)
                        return needs ? NULL : word;
                operand = false;
        }
        return NULL;
}

/*
 * The program after "--" of a terminal or nested compositor, or after another mark, whatever values the options before
 * it have; else the first argument. @text: it may be a whole command.
 */
static const char *inner_of(const struct lead_line *line, struct words *words, bool *text)
{
        const char *marks = line->lead == LEAD_TERMINAL ? "-- -e -x" : line->lead == LEAD_DESKTOP ? "--" : "";
        bool all = *marks || lead_needs_word(line);
        struct words at = *words;

        for (const char *word = next(&at); word && (all || strchr("-+", *word)); word = next(&at))
                if (util_is_word(marks, word) || (*word == '-' && lead_has_word(line, word))) {
                        *text = true;
                        *words = at;
                        return next(words);
                }
        *text = line->lead == LEAD_TERMINAL;
        return !*marks || line->values ? argument(line, words) : NULL;
}

/* "-c", "-lc", "-e": the next word is text of the language. */
static bool is_text_option(const struct lead_line *line, const char *word)
{
        const char *letters = line->lead == LEAD_SHELL || strncmp(line->names, "py", 2) == 0 ? "c" : "ceE";

        return word[0] == '-' && word[1] != '-' && strlen(word) <= 4 && word[strcspn(word, letters)] &&
               strncmp(line->names, "java", 4) != 0;
}

bool app_command_is_unnamed(const char *path)
{
        return strncmp(path, "/dev/fd/", 8) == 0 || strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/proc/", 6) == 0;
}

/*
 * The program that an option of the interpreter names; else the interpreter's own name. The same letters may be another
 * option, with a number.
 */
static const char *named_by_option(const struct lead_line *line, const struct words *words)
{
        for (const char *option = line->words; *option; option += strcspn(option, " "), option += *option == ' ') {
                size_t length = strcspn(option, " ");
                struct words at = *words;

                for (const char *word = next(&at); word && at.at < at.end; word = next(&at)) {
                        const char *value = at.at + (*at.at == '+'), *name = util_base_name(value);

                        if (strlen(word) == length && strncmp(word, option, length) == 0 &&
                            isalpha((unsigned char)*name) && *value != '-' &&
                            !util_is_word("elixir erl erlang escript init", name))
                                return value;
                }
        }
        return line->other;
}

/* The file, module, jar or class that an interpreter runs. NULL: none. @text: the argument of "-c". */
static const char *script(const struct lead_line *line, struct words *words, const char **text)
{
        struct words at = *words;
        const char *found;

        for (const char *word = next(&at); word && strchr("-+@", *word); word = next(&at)) {
                int values = lead_values(line, word);

                if (strncmp(word, "--file=", 7) == 0) {
                        *words = at;
                        return word + 7;
                }
                if (!values && !lead_has_word(line, word) &&
                    (strcmp(word, "-jar") == 0 || strcmp(word, "-m") == 0 || strcmp(word, "--module") == 0)) {
                        *words = at;
                        return next(words);
                }
                if (!values && is_text_option(line, word)) {
                        *text = next(&at);
                        return NULL;
                }
                for (; values > 0; values--)
                        next(&at);
        }
        found = argument(line, words);
        if (found && (app_command_is_unnamed(found) || (lead_has_word(line, ".") && !strchr(found, '.'))))
                return NULL;
        return found;
}

/* Shell commands that start nothing, or nothing that is worth a name. */
static bool is_dull(const char *word)
{
        return util_is_word(". : [ [[ cd done echo eval exit export fi for if pushd read set sleep source test trap "
                            "true ulimit umask unset wait while", word);
}

const char *app_command_words(const char *text, const char *ends, char *words, size_t size, size_t *length)
{
        char quote = '\0';
        bool inside = false;

        *length = 0;
        for (; *text && (quote || !strchr(ends, *text)); text++) {
                bool escaped = *text == '\\' && quote != '\'' && text[1] && !isalnum((unsigned char)text[1]);

                if (!escaped && (*text == quote || (!quote && strchr("'\"", *text)))) {
                        quote = quote ? '\0' : *text;
                        inside = true;
                } else if (!quote && (*text == ' ' || *text == '\t')) {
                        if (inside && *length + 1 < size)
                                words[(*length)++] = '\0';
                        inside = false;
                } else if (*length + 2 < size) {
                        text += escaped;
                        words[(*length)++] = *text;
                        inside = true;
                }
        }
        words[*length] = '\0';
        *length += inside;
        return *text ? text + 1 : text;
}

/* Makes NUL-separated words of one command in a shell's text. false: it runs no program of its own. */
static bool command_of_text(const char *text, char *words, size_t size, size_t *length)
{
        while (*text) {
                struct words at;
                const char *word;

                text = app_command_words(text, ";&|\n(){}", words, size, length);
                at = (struct words){ words, words + *length };
                word = next(&at);
                while (word && (is_assignment(word) || util_is_word("! do else then", word)))
                        word = next(&at);
                if (!word || !*word || is_dull(word))
                        continue;
                *length -= (size_t)(word - words);
                memmove(words, word, *length + 1);
                return true;
        }
        return false;
}

static const struct lead_line *line_of(const char *word)
{
        char name[64];

        if (*word == '$' && !strchr(word, '/'))
                return lead_find("sh"); /* "$SHELL" */
        snprintf(name, sizeof(name), "%s", app_command_base(word + (word[0] == '-' && word[1])));
        return lead_find(name);
}

static void follow(struct words words, struct app_command *ret, int depth, bool itself);

static void follow_text(const char *text, struct app_command *ret, int depth)
{
        char copy[TEXT_MAX];
        size_t length;

        if (command_of_text(text, copy, sizeof(copy), &length))
                follow((struct words){ copy, copy + length }, ret, depth, false);
}

static void set_itself(struct app_command *ret, const struct lead_line *line, enum app_lead lead, const char *own)
{
        ret->line = line;
        ret->lead = lead;
        snprintf(ret->own, sizeof(ret->own), "%s", own);
}

/* For an interpreter: the script is the program, by its own name. */
static void follow_script(const struct lead_line *line, struct words words, struct app_command *ret,
                          int depth, bool itself)
{
        const char *text = NULL;
        const char *found = line->by_option ? named_by_option(line, &words) : script(line, &words, &text);

        if (found) {
                ret->interpreted |= itself;
                words.at = found;
                if (found == line->other) /* it is none of the words */
                        words.end = found + strlen(found) + 1;
                follow(words, ret, depth + 1, itself);
                return;
        }
        if (itself)
                set_itself(ret, line, text && line->lead == LEAD_SHELL ? LEAD_WRAPPER : line->lead, "");
        if (text && line->lead == LEAD_SHELL)
                follow_text(text, ret, depth + 1);
}

/* @itself: the words are the process's own; else they are the command that a wrapper runs. */
static void follow(struct words words, struct app_command *ret, int depth, bool itself)
{
        const char *program = next(&words), *inner = NULL;
        const struct lead_line *line = program ? line_of(program) : NULL;
        enum app_lead lead = line ? line->lead : LEAD_NOT;
        bool text = false;

        if (!program || depth >= DEPTH_MAX)
                return;
        if (lead == LEAD_INTERPRETER || lead == LEAD_SHELL) {
                follow_script(line, words, ret, depth, itself);
                return;
        }
        if (lead == LEAD_WRAPPER || lead == LEAD_TERMINAL || lead == LEAD_DESKTOP)
                inner = inner_of(line, &words, &text);
        if (itself) /* "npm install" runs no program of its arguments */
                set_itself(ret, line, lead == LEAD_WRAPPER && !inner && lead_needs_word(line) ? LEAD_NOT : lead,
                           program);
        ret->elsewhere |= lead == LEAD_WRAPPER && line->bridge;
        words.at = inner;
        if (inner && text && *inner != '/' && strchr(inner, ' '))
                follow_text(inner, ret, depth + 1); /* xterm -e "htop -d 5" */
        else if (inner)
                follow(words, ret, depth + 1, false);
        if (!*ret->runs && lead != LEAD_SENDER && lead != LEAD_WRAPPER)
                snprintf(ret->runs, sizeof(ret->runs), "%s", program);
}

void app_command_parse(const char *words, size_t length, struct app_command *ret)
{
        *ret = (struct app_command){ .lead = LEAD_NOT };
        follow((struct words){ words, words + length }, ret, 0, true);
}
