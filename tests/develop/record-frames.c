/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* For test-record: shows so many frames in a window of X, some work for each, and ends when a key is pressed. */

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <stdlib.h>

#define SIDE 200

int main(int argc, char **argv)
{
        static unsigned pixels[SIDE * SIDE];
        int frames = argc > 1 ? atoi(argv[1]) : 30, screen;
        Display *display = XOpenDisplay(NULL);
        Window window;
        XImage *image;
        XEvent event;

        if (!display)
                return 1;
        screen = DefaultScreen(display);
        window = XCreateSimpleWindow(display, RootWindow(display, screen), 0, 0, SIDE, SIDE, 0, 0, 0);
        XStoreName(display, window, "Frames");
        XSelectInput(display, window, KeyPressMask);
        XMapWindow(display, window);
        image = XCreateImage(display, DefaultVisual(display, screen), (unsigned)DefaultDepth(display, screen),
                             ZPixmap, 0, (char *)pixels, SIDE, SIDE, 32, 0);
        if (!image)
                return 1;
        for (int i = 0; i < frames; i++) {
                for (int round = 0; round < 400; round++) /* some 0.1 s in all: samples enough */
                        for (unsigned j = 0; j < SIDE * SIDE; j++)
                                pixels[j] = pixels[j] * 31 + j;
                XPutImage(display, window, DefaultGC(display, screen), image, 0, 0, 0, 0, SIDE, SIDE);
                XSync(display, False);
        }
        do
                XNextEvent(display, &event);
        while (event.type != KeyPress);
        XCloseDisplay(display);
        return 0;
}
