/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A keyboard of the USA by the numbers of the kernel (linux/input-event-codes.h), as a compositor's virtual
 * keyboard has it. Some of its keys, which nothing else needs, are given letters that it lacks.
 */

#include <stdbool.h>

#define US_KEYBOARD_LETTERS_MAX 12
#define US_KEYBOARD_KEYMAP_MAX 2048

struct us_keyboard {
        long letters[US_KEYBOARD_LETTERS_MAX];
        unsigned n;
};

struct us_key {
        unsigned code; /* the kernel's */
        bool shifted;
};

/* By its X name, or a letter of ASCII. false: there is none. */
bool us_keyboard_name(const char *name, struct us_key *ret);
/* By a letter of Unicode. @add: gives it a key if it has none. false: it has none. */
bool us_keyboard_letter(struct us_keyboard *keyboard, long letter, bool add, struct us_key *ret);
/* For xkbcommon. */
void us_keyboard_keymap(const struct us_keyboard *keyboard, char keymap[US_KEYBOARD_KEYMAP_MAX]);
