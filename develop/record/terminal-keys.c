/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <ctype.h>
#include <string.h>

#include "terminal-keys.h"
#include "util/util.h"

#define TYPE_BYTES_MAX 200 /* in a line of a script */

/* The first of a name is what is sent; cursor keys have another form where a program asked for it. */
static const struct {
        const char *name, *keys;
} known[] = {
        { "Return", "\r" },      { "Tab", "\t" },        { "Escape", "\033" },  { "BackSpace", "\177" },
        { "space", " " },        { "Up", "\033[A" },     { "Down", "\033[B" },  { "Right", "\033[C" },
        { "Left", "\033[D" },    { "Home", "\033[H" },   { "End", "\033[F" },   { "Insert", "\033[2~" },
        { "Delete", "\033[3~" }, { "Prior", "\033[5~" }, { "Next", "\033[6~" }, { "F1", "\033OP" },
        { "F2", "\033OQ" },      { "F3", "\033OR" },     { "F4", "\033OS" },    { "F5", "\033[15~" },
        { "F6", "\033[17~" },    { "F7", "\033[18~" },   { "F8", "\033[19~" },  { "F9", "\033[20~" },
        { "F10", "\033[21~" },   { "Up", "\033OA" },     { "Down", "\033OB" },  { "Right", "\033OC" },
        { "Left", "\033OD" },    { "Home", "\033OH" },   { "End", "\033OF" },
};

bool terminal_keys_send(const char *name, char keys[TERMINAL_KEYS_MAX])
{
        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (strcmp(known[i].name, name) == 0) {
                        snprintf(keys, TERMINAL_KEYS_MAX, "%s", known[i].keys);
                        return true;
                }
        if (strncmp(name, "ctrl+", 5) == 0 && isalpha((unsigned char)name[5]) && !name[6])
                snprintf(keys, TERMINAL_KEYS_MAX, "%c", name[5] & 0x1f);
        else if (*name && !name[1])
                snprintf(keys, TERMINAL_KEYS_MAX, "%s", name);
        else
                return false;
        return true;
}

/*
 * The longest known key that the bytes begin with. NULL: none; a single Escape is the key only where
 * nothing follows.
 */
static const char *key_at(const char *typed, size_t n, size_t *length)
{
        const char *name = NULL;

        *length = 0;
        for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
                size_t bytes = strlen(known[i].keys);

                if (bytes > *length && bytes <= n && memcmp(typed, known[i].keys, bytes) == 0) {
                        *length = bytes;
                        name = known[i].name;
                }
        }
        return *typed == '\033' && *length == 1 && n > 1 ? NULL : name;
}

/* An escape sequence without a name ends with its letter. */
static size_t skip_sequence(const char *typed, size_t n)
{
        size_t at = 1;

        if (*typed != '\033')
                return 1;
        if (at < n && strchr("[O", typed[at]))
                at++;
        while (at < n && typed[at] >= 0x20 && typed[at] < 0x40)
                at++;
        return MIN(at + 1, n);
}

/* Text as it is, without blanks at its ends, which a script does not keep. */
static size_t text_at(const char *typed, size_t n)
{
        size_t length = 0;

        while (length < MIN(n, (size_t)TYPE_BYTES_MAX) &&
               ((unsigned char)typed[length] > 0x20 || (length > 0 && typed[length] == ' ')) &&
               typed[length] != '\177')
                length++;
        while (length > 0 && typed[length - 1] == ' ')
                length--;
        return length;
}

size_t terminal_keys_steps(const char *typed, size_t n, FILE *out)
{
        size_t unknown = 0, length;

        for (size_t at = 0; at < n; at += length) {
                const char *name = key_at(typed + at, n - at, &length);
                unsigned char byte = (unsigned char)typed[at];

                if (name) {
                        fprintf(out, "key %s\n", name);
                } else if (byte >= 1 && byte <= 26) {
                        fprintf(out, "key ctrl+%c\n", 'a' + byte - 1);
                        length = 1;
                } else if ((length = text_at(typed + at, n - at)) > 0) {
                        fprintf(out, "type %.*s\n", (int)length, typed + at);
                } else {
                        length = skip_sequence(typed + at, n - at);
                        unknown += length;
                }
        }
        return unknown;
}
