/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The terminal of `joulecast top`, by ncurses. There is one. */

#include "top-view.h"
#include "util/log.h"

enum top_key {
        TOP_KEY_NONE = 0,     /* else a character of Unicode, or: */
        TOP_KEY_UP = 0x110000,
        TOP_KEY_DOWN,
        TOP_KEY_PAGE_UP,
        TOP_KEY_PAGE_DOWN,
        TOP_KEY_HOME,
        TOP_KEY_END,
        TOP_KEY_ENTER,
        TOP_KEY_BACKSPACE,
        TOP_KEY_ESCAPE,
        TOP_KEY_OTHER,        /* a key without a meaning here */
};

/* 0; -ENODEV after a sentence: it is of no known type, or this program was built without ncurses. */
int top_screen_open(const struct log *log);
/* Gives the terminal back as it was; does nothing where it is not open. */
void top_screen_close(void);
void top_screen_size(size_t *columns, size_t *lines);
void top_screen_draw(const struct top_view *view);
unsigned top_screen_key(void); /* the next that was typed */
/* Draws everything anew: the size changed, or another program used the terminal. */
void top_screen_renew(void);
/* Gives the terminal to the shell until it continues this process. @stop: the signal that was blocked, SIGTSTP. */
void top_screen_stop(int stop);
