/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <X11/Xatom.h>
#include <X11/Xutil.h>
#include <string.h>

#include "x-window.h"
#include "util/util.h"

#define TREE_DEPTH_MAX 64

/* Up to @max values. 32-bit ones are longs in Xlib. NULL, or XFree() it. */
static void *property(Display *x, Window window, const char *name, Atom type, int format, long max, unsigned long *n)
{
        unsigned char *data = NULL;
        unsigned long left;
        Atom got_type;
        int got_format;

        *n = 0;
        if (XGetWindowProperty(x, window, XInternAtom(x, name, False), 0, max, False, type, &got_type,
                               &got_format, n, &left, &data) != Success)
                return NULL;
        if (data && got_format == format)
                return data;
        if (data)
                XFree(data);
        return NULL;
}

static bool is_managed(Display *x, Window window)
{
        unsigned long n;
        void *state = property(x, window, "WM_STATE", AnyPropertyType, 32, 2, &n);

        if (state)
                XFree(state);
        return state != NULL;
}

Window window_top(Display *x, Window window)
{
        for (int i = 0; i < TREE_DEPTH_MAX; i++) {
                Window root, parent = None, *children = NULL;
                unsigned n;

                if (!XQueryTree(x, window, &root, &parent, &children, &n))
                        return None;
                if (children)
                        XFree(children);
                if (parent == root || parent == None || is_managed(x, window))
                        return parent == None ? None : window;
                window = parent;
        }
        return None;
}

bool window_place(Display *x, Window window, struct window_place *ret)
{
        XWindowAttributes attributes;
        Window child;
        unsigned long n = 0;
        long *shadow;
        int left, top;

        /* A window that goes between the two requests keeps the place that was seen before. */
        if (!XGetWindowAttributes(x, window, &attributes) ||
            !XTranslateCoordinates(x, window, attributes.root, 0, 0, &left, &top, &child))
                return false;
        *ret = (struct window_place){ .x = left, .y = top, .width = attributes.width, .height = attributes.height,
                                      .popup = attributes.override_redirect };
        shadow = property(x, window, "_GTK_FRAME_EXTENTS", XA_CARDINAL, 32, 4, &n); /* left, right, top, bottom */
        if (shadow && n == 4) {
                ret->x += (int)shadow[0];
                ret->y += (int)shadow[2];
                ret->width -= (int)(shadow[0] + shadow[1]);
                ret->height -= (int)(shadow[2] + shadow[3]);
        }
        if (shadow)
                XFree(shadow);
        return true;
}

static void trim(const char *text, size_t length, char title[WINDOW_TITLE_MAX])
{
        size_t n = 0;

        while (length > 0 && *text == ' ') {
                text++;
                length--;
        }
        while (n < MIN(length, (size_t)WINDOW_TITLE_MAX - 1) && (unsigned char)text[n] >= ' ' && text[n] != '\177')
                n++;
        if (n < length) /* cut: not inside a letter of UTF-8 */
                while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
                        n--;
        while (n > 0 && text[n - 1] == ' ')
                n--;
        memcpy(title, text, n);
        title[n] = '\0';
}

void window_title(Display *x, Window window, char title[WINDOW_TITLE_MAX])
{
        unsigned long n;
        char *name = property(x, window, "_NET_WM_NAME", AnyPropertyType, 8, 1024, &n);

        *title = '\0';
        if (name) {
                trim(name, strnlen(name, n), title);
                XFree(name);
                return;
        }
        if (XFetchName(x, window, &name) && name) {
                trim(name, strlen(name), title);
                XFree(name);
        }
}
