/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* An X11 display: properties of windows and their clients. No other file of the agent uses XCB. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct xserver;

int xserver_open(struct xserver **ret); /* $DISPLAY; selects events of the root window's properties */
void xserver_close(struct xserver *display);
int xserver_fd(const struct xserver *display);
uint32_t xserver_root(const struct xserver *display);

uint32_t xserver_atom(struct xserver *display, const char *name); /* 0: failed */
/* Copies up to @max 32-bit values of a property; returns their number. */
size_t xserver_values(struct xserver *display, uint32_t window, uint32_t atom, uint32_t *values, size_t max);
/*
 * The pid of a window's client: from the server (XRes), which is right for sandboxed clients, too; else as the
 * client itself claims (_NET_WM_PID). 0: unknown.
 */
pid_t xserver_pid(struct xserver *display, uint32_t window);
/* The class: the second string of WM_CLASS. */
void xserver_class(struct xserver *display, uint32_t window, char *buf, size_t size);

/*
 * Makes the window's end an event, too: some window managers (openbox) keep naming a closed window as the active
 * one. false: it is closed already.
 */
bool xserver_watch(struct xserver *display, uint32_t window);

/* Reads all events. 1: one of @atoms changed on the root window, or the watched window ended; <0: no server. */
int xserver_changed(struct xserver *display, const uint32_t *atoms, size_t n);
