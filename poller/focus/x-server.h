/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* An X11 display, as far as the focus needs it: properties of windows, and who owns them. XCB stops here. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct xserver;

int xserver_open(struct xserver **ret); /* $DISPLAY; watches the root window's properties */
void xserver_close(struct xserver *display);
int xserver_fd(const struct xserver *display);
uint32_t xserver_root(const struct xserver *display);

uint32_t xserver_atom(struct xserver *display, const char *name); /* 0: failed */
/* Up to @max 32-bit values of a property; how many there are. */
size_t xserver_values(struct xserver *display, uint32_t window, uint32_t atom, uint32_t *values, size_t max);
/*
 * The pid of a window's client: from the server's own credentials (XRes), which sees through sandboxes; else
 * what the client claims (_NET_WM_PID), which is all there is for a client of another machine. 0: unknown.
 */
pid_t xserver_pid(struct xserver *display, uint32_t window);
void xserver_class(struct xserver *display, uint32_t window, char *buf,
                   size_t size); /* second word of WM_CLASS */

/*
 * Wants to hear of the window's end, too: some window managers (openbox) leave the name of the last one
 * standing. false: it has ended already.
 */
bool xserver_watch(struct xserver *display, uint32_t window);

/*
 * Takes all events; true if one of @atoms changed on the root window,
 * or the watched window ended. <0: the server is gone.
 */
int xserver_changed(struct xserver *display, const uint32_t *atoms, size_t n);
