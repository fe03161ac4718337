/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * For test-record-input: windows of X that write down, a line each, which keys and buttons they get. Ctrl+d
 * opens a second window, elsewhere on the screen; Return closes that one; q ends the program, and so does
 * WM_DELETE_WINDOW.
 *
 * Usage: record-window LOG [TITLE [xi2]]; with xi2 it takes the events of XInput 2, as GTK and Qt do
 */

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XInput2.h>
#include <X11/keysym.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Bool xi2;

static void select_events(Display *x, Window window)
{
        unsigned char bits[XIMaskLen(XI_LASTEVENT)] = { 0 };
        XIEventMask mask = { XIAllMasterDevices, sizeof(bits), bits };

        XSelectInput(x, window,
                     ExposureMask | StructureNotifyMask | FocusChangeMask |
                             (xi2 ? 0 :
                                    KeyPressMask | KeyReleaseMask | ButtonPressMask | ButtonReleaseMask |
                                              PointerMotionMask));
        for (int type = XI_KeyPress; type <= XI_Motion; type++)
                XISetMask(bits, type);
        if (xi2)
                XISelectEvents(x, window, &mask, 1);
}

/* As the core event of the same meaning. */
static void take_cookie(Display *x, XEvent *event)
{
        XIDeviceEvent *got = XGetEventData(x, &event->xcookie) ? event->xcookie.data : NULL;
        XEvent core = { 0 };

        if (!got)
                return;
        core.xkey = (XKeyEvent){ .type = got->evtype,
                                 .display = x,
                                 .window = got->event,
                                 .x = (int)got->event_x,
                                 .y = (int)got->event_y,
                                 .state = (unsigned)got->mods.effective,
                                 .keycode = (unsigned)got->detail };
        for (int i = 1; i <= 5; i++)
                if (XIMaskIsSet(got->buttons.mask, i) && i < got->buttons.mask_len * 8)
                        core.xkey.state |= Button1Mask << (i - 1);
        XFreeEventData(x, &event->xcookie);
        *event = core;
}

static Window open_window(Display *x, const char *title, int at_x, int at_y)
{
        Atom delete_window = XInternAtom(x, "WM_DELETE_WINDOW", False);
        Window window = XCreateSimpleWindow(x, DefaultRootWindow(x), at_x, at_y, 300, 200, 0, 0, 0xffffff);

        XStoreName(x, window, title);
        XChangeProperty(x, window, XInternAtom(x, "_NET_WM_NAME", False),
                        XInternAtom(x, "UTF8_STRING", False), 8, PropModeReplace,
                        (const unsigned char *)title, (int)strlen(title));
        XSetWMProtocols(x, window, &delete_window, 1);
        select_events(x, window);
        XMapRaised(x, window);
        return window;
}

/* False: the program shall end. */
static Bool take_key(Display *x, XKeyEvent *event, FILE *log, const char *name, Window *dialog)
{
        Bool down = event->type == KeyPress;
        KeySym symbol = NoSymbol;
        char text[16];

        XLookupString(event, text, sizeof(text), &symbol, NULL);
        if (!IsModifierKey(symbol) || symbol == XK_Super_L)
                fprintf(log, "%s %s %s %u\n", name, down ? "key" : "up",
                        symbol ? XKeysymToString(symbol) : "-", event->state);
        if (down && *dialog && symbol == XK_Return) {
                XDestroyWindow(x, *dialog);
                *dialog = None;
        } else if (down && !*dialog && symbol == XK_d && event->state & ControlMask) {
                *dialog = open_window(x, "Dialog", 500, 300);
        }
        return !down || symbol != XK_q;
}

int main(int argc, char **argv)
{
        Display *x = XOpenDisplay(NULL);
        FILE *log = argc > 1 ? fopen(argv[1], "w") : NULL;
        Window main_window, dialog = None;
        Bool goes_on = True;

        if (!x || !log)
                return 1;
        xi2 = argc > 3 && XIQueryVersion(x, &(int){ 2 }, &(int){ 2 }) == Success;
        setvbuf(log, NULL, _IOLBF, 0);
        main_window = open_window(x, argc > 2 ? argv[2] : "Main", 100, 80);
        for (XEvent event; goes_on;) {
                const char *name;

                XNextEvent(x, &event);
                if (event.type == GenericEvent)
                        take_cookie(x, &event);
                name = event.xany.window == main_window ? "main" : "dialog";
                if (event.type == Expose && event.xexpose.count == 0)
                        fprintf(log, "# %s shown\n", name);
                else if (event.type == FocusIn)
                        fprintf(log, "# %s focus\n", name);
                else if (event.type == MotionNotify)
                        fprintf(log, "# %s at %d %d\n", name, event.xmotion.x, event.xmotion.y);
                else if (event.type == KeyPress || event.type == KeyRelease)
                        goes_on = take_key(x, &event.xkey, log, name, &dialog);
                else if (event.type == ButtonPress || event.type == ButtonRelease)
                        fprintf(log, "%s %s %u at %d %d with %u\n", name,
                                event.type == ButtonPress ? "press" : "release", event.xbutton.button,
                                event.xbutton.x, event.xbutton.y, event.xbutton.state);
                else if (event.type == MappingNotify)
                        XRefreshKeyboardMapping(&event.xmapping);
                else if (event.type == ClientMessage)
                        goes_on = False;
        }
        fputs("ended\n", log);
        fclose(log);
        XCloseDisplay(x);
        return 0;
}
