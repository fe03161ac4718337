/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define NESTED_MAX 256

/*
 * Words that name nothing without their owner, as a word in brackets does. '#' is a number, also none; '*' is
 * anything.
 */
static const char *const anonymous[] = {
        "",
        "#",              /* Go: main.f.func1.2 */
        "func#",          /* Go: closures */
        "func#-range#",   /* Go: bodies of loops over functions */
        "gowrap#",        /* Go: go f() */
        "deferwrap#",     /* Go: defer f() */
        "operator*",      /* C++ */
        "$_#",            /* C++: lambdas of clang */
        "'lambda*",       /* C++: lambdas, as LLVM prints them */
        "_omp_fn",        /* C, C++, Fortran: parallel loops of gcc ... */
        "omp_outlined*",  /* ... and of clang */
        "avx*",           /* versions of a function for several CPUs (target_clones), as the three below */
        "arch_*",
        "default",
        "resolver",
        "_M_invoke",      /* C++: std::function */
        "__invoke",       /* C++: lambdas of clang as pointers to functions */
        "_FUN",           /* C++: lambdas of gcc as pointers to functions */
        "__lambda",       /* D, as the one below */
        "__foreachbody",
        "MoveNext",       /* .NET: asynchronous functions */
        "ctor",           /* .NET: constructors */
        "cctor",          /* .NET: static constructors */
        "invokeSuspend",  /* Kotlin: coroutines */
        "invoke",         /* Kotlin: lambdas; Clojure: functions, as the two below */
        "invokeStatic",
        "doInvoke",
        "fun",            /* OCaml: functions without a name, as the one below */
        "anon_fn",
        "__*__",          /* Python: methods of each class */
};

static bool is_like(const char *word, size_t length, const char *pattern)
{
        for (; *pattern; pattern++) {
                if (*pattern == '*') {
                        for (size_t i = 0; i <= length; i++)
                                if (is_like(word + i, length - i, pattern + 1))
                                        return true;
                        return false;
                }
                if (*pattern == '#') {
                        while (length > 0 && isdigit((unsigned char)*word))
                                word++, length--;
                } else if (length == 0 || *word != *pattern) {
                        return false;
                } else {
                        word++, length--;
                }
        }
        return length == 0;
}

static bool is_word(char c)
{
        return isalnum((unsigned char)c) || c == '_' || c == '$';
}

size_t name_operator_length(const char *name, const char *at)
{
        /* Longer ones first: "operator>><char>" is ">>" with types after it. */
        static const char *const signs[] = { "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==",
                                             "!=",  "&&",  "||",  "++",  "--", "+=", "-=", "*=", "/=", "%=", "^=",
                                             "&=",  "|=",  "->",  "<",   ">",  "=",  "!",  "+",  "-",  "*",  "/",
                                             "%",   "^",   "&",   "|",   "~",  ",",  "\"\"" };
        static const char word[] = "operator";
        const char *end = at + strlen(word);

        if (strncmp(at, word, strlen(word)) != 0 || (at > name && is_word(at[-1])) || is_word(*end))
                return 0;
        for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
                if (strncmp(end, signs[i], strlen(signs[i])) == 0)
                        return strlen(word) + strlen(signs[i]);
        return strlen(word);
}

const char *name_skip_brackets(const char *name, const char *at)
{
        static const char open[] = "(<[{", close[] = ")>]}";
        char wanted[NESTED_MAX];
        size_t depth = 0;

        while (*at) {
                const char *which = strchr(open, *at);
                size_t length = name_operator_length(name, at);

                if (length > 0) {
                        at += length;
                        continue;
                }
                if (which) {
                        if (depth == NESTED_MAX)
                                return NULL;
                        wanted[depth++] = close[which - open];
                } else if (depth > 0 && *at == wanted[depth - 1] && !(*at == '>' && at[-1] == '-')) {
                        depth--;
                }
                at++;
                if (depth == 0)
                        return at;
        }
        return NULL;
}

/* The length of a text at @at that is no separator by itself: brackets, an operator with its type, or one byte. */
static size_t span(const char *name, const char *at)
{
        size_t length = name_operator_length(name, at);
        bool method = at == name && *at && strchr("+-", *at) && at[1] == '['; /* Objective-C: "-[Class method]" */
        const char *end = method || strchr("(<[{", *at) ? name_skip_brackets(name, at + method) : NULL;

        if (length > 0)
                return length + (at[length] == ' ' ? strcspn(at + length, "(<") : 0);
        return end ? (size_t)(end - at) : 1;
}

/* Is it the dot of a file's name, as in "x.py:f"? */
static bool is_of_file(const char *at)
{
        size_t letters = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz");

        return letters > 0 && at[letters + 1] == ':' && at[letters + 2] != ':';
}

/* The length of the separator after an owner: "::" "." "/" ":" "#" "!" and the "+" of .NET. 0: there is none. */
static size_t separator(const char *name, const char *at)
{
        if (*at == '.' && is_of_file(at))
                return 0;
        if (at > name && at[0] == ':' && at[1] == ':')
                return 2;
        if (*at == '+')
                return at > name && is_word(at[-1]) && (is_word(at[1]) || at[1] == '<');
        return *at && strchr("./:#!", *at) ? 1 : 0;
}

struct word {
        size_t at, length;
};

/*
 * The start of the name in "int f(int)", "non-virtual thunk to f()", "int32 [App] Program::Main()": the text before
 * the last blank is no part of it. @end: in and out; the type in "f() -> Int" or "x.getter : Int" of Swift is none,
 * either, but a name follows it in "closure #1 () -> () in f()"; nor are conditions of C++, "f<int>() requires A<int>".
 */
static size_t name_start(const char *name, size_t *end)
{
        static const char *const marks[] = { " -> ", " : ", " requires " };
        size_t start = 0, blank = 0, type = *end, before = 0;

        for (size_t i = 0; i < *end; i += span(name, name + i)) {
                for (size_t j = 0; j < ARRAY_SIZE(marks); j++)
                        if (strncmp(name + i, marks[j], strlen(marks[j])) == 0)
                                type = i, before = start;
                if (name[i] == ' ' && i > 0 && name[i - 1] != ')' && !strchr("(<[{", name[i + 1]))
                        blank = i + 1;
                else if (name[i] == '(' && i > 0)
                        start = blank;
        }
        if (type == *end || strstr(name + type, " in "))
                return start;
        *end = type;
        return before;
}

/* Splits "zip_squeeze" in the program zip: the program's name is an owner. */
static size_t split_prefix(const char *name, const char *program, struct word *words)
{
        size_t prefix = strlen(program);

        if (prefix == 0 || strncmp(name, program, prefix) != 0 || !name[prefix] || !strchr("_-", name[prefix]) ||
            !name[prefix + 1])
                return 1;
        words[1] = (struct word){ words[0].at + prefix + 1, words[0].length - prefix - 1 };
        words[0].length = prefix;
        return 2;
}

/* Splits a name into words, and keeps the last @n of them. Their number, at least 1. */
static size_t split(const char *name, const char *program, struct word *words, size_t n)
{
        size_t end = name_plain_length(name), at = name_start(name, &end), count = 0, between;
        struct word word = { at, 0 };

        for (bool more = true; more; at += more ? between ? between : span(name, name + at) : 0) {
                more = at < end;
                between = more ? separator(name, name + at) : 0;
                if (more && between == 0)
                        continue;
                word.length = MIN(at, end) - word.at;
                if (count == n)
                        memmove(words, words + 1, (--count) * sizeof(*words));
                words[count++] = word;
                word.at = at + between;
        }
        return count == 1 && words[0].at == 0 ? split_prefix(name, program, words) : count;
}

static bool is_anonymous(const char *name, struct word word)
{
        const char *text = name + word.at;

        if (word.length > 0 && strchr("(<[{", *text)) {
                size_t length = span(name, text);

                if (length == word.length || text[length] == '(')
                        return true;
        }
        for (size_t i = 1; i < word.length; i++) /* without types and parameters */
                if (strchr("(<[", text[i]))
                        word.length = i;
        for (size_t i = 0; i < ARRAY_SIZE(anonymous); i++)
                if (is_like(text, word.length, anonymous[i]))
                        return true;
        return false;
}

/* Copies a name without types and parameters: without brackets after other text, and without "const" at the end. */
static void copy_bare(const char *name, size_t from, size_t end, char *buf)
{
        size_t length = 0;

        for (size_t i = from, size; i < end; i += size) {
                bool begins = i == from || separator(name, name + i - 1) > 0;

                size = MIN(span(name, name + i), end - i);
                if (!begins && strchr("(<[{", name[i]) && size > 1) {
                        if (name[i] == '(' && name[i + size] == ' ') /* "const", up to an operator's name */
                                size += strcspn(name + i + size, ":");
                        continue;
                }
                if (!begins && name[i] == ' ' && length > 0 && strchr("<[", name[i + 1]))
                        continue;
                memcpy(buf + length, name + i, size);
                length += size;
        }
        while (length > 0 && buf[length - 1] == ' ')
                length--;
        buf[length] = '\0';
}

const char *name_text(const char *name, const char *program, size_t level, char buf[NAME_MAX_BYTES])
{
        struct word words[NAME_OWNERS_MAX + 2];
        size_t n = split(name, program, words, NAME_OWNERS_MAX + 1), last = n - 1;
        bool bare = level < NAME_LEVELS / 2;

        while (last > 0 && is_anonymous(name, words[last]))
                last--;
        level = bare ? level : level - NAME_LEVELS / 2;
        last = level > last ? 0 : last - level;
        if (bare)
                copy_bare(name, words[last].at, words[n - 1].at + words[n - 1].length, buf);
        if (!bare || !*buf)
                snprintf(buf, NAME_MAX_BYTES, "%s", name + (level == NAME_LEVELS / 2 - 1 ? 0 : words[last].at));
        return buf;
}

const char *name_without_numbers(const char *name, const char *program, char buf[NAME_MAX_BYTES])
{
        size_t from = 0, to;

        name_text(name, program, 0, buf);
        while (buf[from] && separator(buf, buf + from) == 0)
                from += span(buf, buf + from);
        for (to = from; buf[from]; from++)
                if (!isdigit((unsigned char)buf[from]))
                        buf[to++] = buf[from];
        buf[to] = '\0';
        return buf;
}

size_t name_plain_length(const char *name)
{
        const char *mark = strrchr(name, '#');

        return mark && mark > name && mark[1] && mark[1] != '_' &&
                               strspn(mark + 1, "0123456789:_") == strlen(mark + 1)
                       ? (size_t)(mark - name)
                       : strlen(name);
}
