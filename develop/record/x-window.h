/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Windows of an X server as a script knows them: by their title, with pixels counted from their upper left corner. */

#include <X11/Xlib.h>
#include <stdbool.h>

#define WINDOW_TITLE_MAX 200

struct window_place {
        int x, y, width, height; /* on the screen, without the shadow that its program draws around it */
        bool popup;              /* a menu or the like, which no window manager cares for */
};

/* The window with the title that @window is in: below a window manager's frame, if there is one. None: it has gone. */
Window window_top(Display *x, Window window);
/* false: it has gone. */
bool window_place(Display *x, Window window, struct window_place *ret);
/* Up to the first control character, without blanks at its ends; "" where it has none. */
void window_title(Display *x, Window window, char title[WINDOW_TITLE_MAX]);
