/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Symbols of GHC (Haskell) and of D, in which names are encoded. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "name.h"
#include "util/util.h"

#define FIELDS_MAX 4
#define UNIQUE_MAX 10 /* digits of base 62 that fit into 64 bits */

struct part {
        const char *text;
        size_t length;
};

/* A text that grows up to NAME_MAX_BYTES. */
struct made {
        char *text;
        size_t length;
        bool failed;
};

static void add(struct made *made, const char *text, size_t length)
{
        made->failed |= made->length + length >= NAME_MAX_BYTES;
        if (made->failed)
                return;
        memcpy(made->text + made->length, text, length);
        made->length += length;
        made->text[made->length] = '\0';
}

static bool starts(struct part part, const char *prefix)
{
        return part.length >= strlen(prefix) && strncmp(part.text, prefix, strlen(prefix)) == 0;
}

static bool is(struct part part, const char *text)
{
        return part.length == strlen(text) && starts(part, text);
}

/* GHC's z-encoding: "z" or "Z" and a letter stand for a sign. */
static void add_z(struct made *made, struct part part)
{
        static const char small[] = "a&b|c^d$e=g>h#i.l<m-n!p+q'r\\s/t*u_v%zz", large[] = "L(R)M[N]C:ZZ";

        for (size_t i = 0; i < part.length; i++) {
                const char *codes = part.text[i] == 'z' ? small : part.text[i] == 'Z' ? large : NULL;

                if (!codes) {
                        add(made, part.text + i, 1);
                        continue;
                }
                i++;
                while (*codes && (i == part.length || *codes != part.text[i]))
                        codes += 2;
                made->failed |= !*codes;
                add(made, codes + 1, 1);
        }
}

/* A package without its version and hash: "containerszm0zi6zi7". */
static struct part without_version(struct part package)
{
        for (size_t i = 1; i + 2 < package.length; i++)
                if (strncmp(package.text + i, "zm", 2) == 0 && isdigit((unsigned char)package.text[i + 2]))
                        package.length = i;
        return package;
}

/* Splits "base_GHCziBase_map" at "_"; the number of fields; 0: too many, or one is empty. */
static size_t split(struct part text, struct part fields[FIELDS_MAX])
{
        size_t n = 0;

        for (size_t i = 0, from = 0; i <= text.length; i++) {
                if (i < text.length && text.text[i] != '_')
                        continue;
                if (n == FIELDS_MAX || i == from)
                        return 0;
                fields[n++] = (struct part){ text.text + from, i - from };
                from = i + 1;
        }
        return n;
}

static bool has_hierarchy(struct part module)
{
        for (size_t i = 0; i + 2 < module.length; i++)
                if (strncmp(module.text + i, "zi", 2) == 0 && isupper((unsigned char)module.text[i + 2]))
                        return true;
        return false;
}

/*
 * Adds the last field after a function's name: the kind of code, or a unique, a number in base 62 that changes with
 * the source, but tells functions apart.
 */
static void add_last(struct made *made, struct part unique)
{
        static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        char text[32];
        uint64_t number = 0;

        if (is(unique, "con") || is(unique, "static")) {
                add(made, ".(", 2);
                add(made, unique.text, unique.length);
                add(made, ")", 1);
                return;
        }
        made->failed |= unique.length > UNIQUE_MAX || starts(unique, "zd");
        for (size_t i = 0; !made->failed && i < unique.length; i++) {
                const char *digit = strchr(digits, unique.text[i]);

                made->failed |= !digit;
                number = number * 62 + (uint64_t)(digit ? digit - digits : 0);
        }
        add(made, text, (size_t)snprintf(text, sizeof(text), "#%" PRIu64, number));
}

/*
 * "package_Module_name_unique_info", often without package and unique, becomes "package:Module.name#number". Functions
 * of C may be named Like_this_info: only what surely is Haskell counts.
 */
static bool haskell(const char *name, struct made *made)
{
        static const char info[] = "_info";
        struct part text = { name, strlen(name) }, fields[FIELDS_MAX];
        size_t n, module;

        if (text.length <= strlen(info) || strcmp(name + text.length - strlen(info), info) != 0)
                return false;
        text.length -= strlen(info);
        n = split(text, fields);
        module = n > 0 && isupper((unsigned char)*fields[0].text) &&
                                 (n == 2 || (n == 3 && !isupper((unsigned char)*fields[1].text)))
                         ? 0
                         : 1;
        if (n < module + 2 || n > module + 3 || !isupper((unsigned char)*fields[module].text))
                return false;
        if (!has_hierarchy(fields[module]) && !starts(fields[module + 1], "zd") && !is(fields[module], "ZCMain") &&
            !is(fields[module], "Main") && (module == 0 || without_version(fields[0]).length == fields[0].length))
                return false;
        if (module == 1) {
                add_z(made, without_version(fields[0]));
                add(made, ":", 1);
        }
        add_z(made, fields[module]);
        add(made, ".", 1);
        add_z(made, fields[module + 1]);
        if (n == module + 3)
                add_last(made, fields[n - 1]);
        return !made->failed;
}

/* Reads a length and as many bytes at *@at. False: there is none. */
static bool take_word(const char **at, struct part *word)
{
        char *end;
        unsigned long length = isdigit((unsigned char)**at) ? strtoul(*at, &end, 10) : 0;

        if (length == 0 || length > strlen(end))
                return false;
        *word = (struct part){ end, length };
        *at = end + length;
        return true;
}

/* Adds a word of D. "__T3mapTiZ" is an instance of map. */
static void add_d(struct made *made, struct part word)
{
        struct part inside;
        const char *at = word.text + strlen("__T");

        if (starts(word, "__T") && take_word(&at, &inside) && at <= word.text + word.length) {
                add(made, inside.text, inside.length);
                word = (struct part){ at, (size_t)(word.text + word.length - at) };
                add(made, "!(", 2);
                add(made, word.text, word.length);
                add(made, ")", 1);
                return;
        }
        add(made, word.text, word.length);
}

/*
 * "_D3app4mainFZ9__lambda2FiZi" becomes "app.main(FZ).__lambda2(FiZi)": types stay encoded. Names with references to
 * parts before them (Q) are left as they are.
 */
static bool d_language(const char *name, struct made *made)
{
        const char *at = name + strlen("_D"), *end;
        struct part word;

        if (strncmp(name, "_D", strlen("_D")) != 0 || !isdigit((unsigned char)*at))
                return false;
        while (*at && !made->failed) {
                if (take_word(&at, &word)) {
                        add(made, ".", made->length > 0);
                        add_d(made, word);
                        continue;
                }
                if (made->length == 0 || !isupper((unsigned char)*at) || *at == 'Q')
                        return false;
                for (end = at; *end && !(*end == 'Z' && isdigit((unsigned char)end[1])); end++)
                        ;
                end += *end == 'Z';
                add(made, "(", 1);
                add(made, at, (size_t)(end - at));
                add(made, ")", 1);
                at = end;
        }
        return !made->failed;
}

bool name_encoded(const char *name, char buf[NAME_MAX_BYTES])
{
        struct made as_haskell = { .text = buf }, as_d = { .text = buf };

        return haskell(name, &as_haskell) || d_language(name, &as_d);
}
