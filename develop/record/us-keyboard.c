/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <linux/input-event-codes.h>
#include <stdio.h>
#include <string.h>

#include "us-keyboard.h"
#include "util/util.h"

/* From a code on, without and with shift. */
static const struct {
        unsigned first;
        const char *plain, *shifted;
} rows[] = {
        { KEY_1, "1234567890-=", "!@#$%^&*()_+" },
        { KEY_Q, "qwertyuiop[]", "QWERTYUIOP{}" },
        { KEY_A, "asdfghjkl;'`", "ASDFGHJKL:\"~" },
        { KEY_BACKSLASH, "\\zxcvbnm,./", "|ZXCVBNM<>?" },
        { KEY_SPACE, " ", "" },
};

static const struct {
        const char *name;
        unsigned code;
} keys[] = {
        { "Return", KEY_ENTER },
        { "Tab", KEY_TAB },
        { "Escape", KEY_ESC },
        { "BackSpace", KEY_BACKSPACE },
        { "space", KEY_SPACE },
        { "Up", KEY_UP },
        { "Down", KEY_DOWN },
        { "Left", KEY_LEFT },
        { "Right", KEY_RIGHT },
        { "Home", KEY_HOME },
        { "End", KEY_END },
        { "Insert", KEY_INSERT },
        { "Delete", KEY_DELETE },
        { "Prior", KEY_PAGEUP },
        { "Next", KEY_PAGEDOWN },
        { "Menu", KEY_COMPOSE },
        { "F1", KEY_F1 },
        { "F2", KEY_F2 },
        { "F3", KEY_F3 },
        { "F4", KEY_F4 },
        { "F5", KEY_F5 },
        { "F6", KEY_F6 },
        { "F7", KEY_F7 },
        { "F8", KEY_F8 },
        { "F9", KEY_F9 },
        { "F10", KEY_F10 },
        { "F11", KEY_F11 },
        { "F12", KEY_F12 },
        { "Control_L", KEY_LEFTCTRL },
        { "Shift_L", KEY_LEFTSHIFT },
        { "Alt_L", KEY_LEFTALT },
        { "Super_L", KEY_LEFTMETA },
        { "KP_Enter", KEY_KPENTER },
        { "Print", KEY_SYSRQ },
        { "Pause", KEY_PAUSE },
};

static const struct {
        const char *name;
        char letter;
} signs[] = {
        { "exclam", '!' },       { "quotedbl", '"' },    { "numbersign", '#' },  { "dollar", '$' },
        { "percent", '%' },      { "ampersand", '&' },   { "apostrophe", '\'' }, { "parenleft", '(' },
        { "parenright", ')' },   { "asterisk", '*' },    { "plus", '+' },        { "comma", ',' },
        { "minus", '-' },        { "period", '.' },      { "slash", '/' },       { "colon", ':' },
        { "semicolon", ';' },    { "less", '<' },        { "equal", '=' },       { "greater", '>' },
        { "question", '?' },     { "at", '@' },          { "bracketleft", '[' }, { "backslash", '\\' },
        { "bracketright", ']' }, { "asciicircum", '^' }, { "underscore", '_' },  { "grave", '`' },
        { "braceleft", '{' },    { "bar", '|' },         { "braceright", '}' },  { "asciitilde", '~' },
};

static bool find_ascii(char letter, struct us_key *ret)
{
        for (size_t i = 0; letter && i < ARRAY_SIZE(rows); i++) {
                const char *plain = strchr(rows[i].plain, letter), *shifted = strchr(rows[i].shifted, letter);

                if (!plain && !shifted)
                        continue;
                ret->shifted = !plain;
                ret->code = rows[i].first + (unsigned)(plain ? plain - rows[i].plain : shifted - rows[i].shifted);
                return true;
        }
        return false;
}

bool us_keyboard_name(const char *name, struct us_key *ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                if (strcmp(keys[i].name, name) == 0) {
                        *ret = (struct us_key){ keys[i].code, false };
                        return true;
                }
        for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
                if (strcmp(signs[i].name, name) == 0)
                        return find_ascii(signs[i].letter, ret);
        if (strcmp(name, "ISO_Left_Tab") == 0) {
                *ret = (struct us_key){ KEY_TAB, true };
                return true;
        }
        return *name && !name[1] && find_ascii(*name, ret);
}

bool us_keyboard_letter(struct us_keyboard *keyboard, long letter, bool add, struct us_key *ret)
{
        unsigned at = 0;

        if (letter > 0 && letter < 0x80)
                return find_ascii((char)letter, ret);
        while (at < keyboard->n && keyboard->letters[at] != letter)
                at++;
        if (at == keyboard->n && (!add || at == US_KEYBOARD_LETTERS_MAX || letter < 0xa0))
                return false;
        if (at == keyboard->n)
                keyboard->letters[keyboard->n++] = letter;
        *ret = (struct us_key){ KEY_F13 + at, false };
        return true;
}

void us_keyboard_keymap(const struct us_keyboard *keyboard, char keymap[US_KEYBOARD_KEYMAP_MAX])
{
        size_t n = (size_t)snprintf(keymap, US_KEYBOARD_KEYMAP_MAX, "xkb_keymap {\n"
                                    "xkb_keycodes { include \"evdev+aliases(qwerty)\" };\n"
                                    "xkb_types { include \"complete\" };\n"
                                    "xkb_compatibility { include \"complete\" };\n"
                                    "xkb_symbols { include \"pc+us+inet(evdev)\"\n");

        for (unsigned i = 0; i < keyboard->n; i++)
                n += (size_t)snprintf(keymap + n, US_KEYBOARD_KEYMAP_MAX - n,
                                      "replace key <FK%u> { [ U%04lX ] };\n", 13 + i,
                                      (unsigned long)keyboard->letters[i]);
        snprintf(keymap + n, US_KEYBOARD_KEYMAP_MAX - n, "};\n};\n");
}
