/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* An X11 display: properties of windows and their clients. No other file of the agent uses XCB. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct x_server;

int x_server_open(struct x_server **ret); /* $DISPLAY; selects events of the root window's properties */
void x_server_close(struct x_server *display);
int x_server_fd(const struct x_server *display);
uint32_t x_server_root(const struct x_server *display);

uint32_t x_server_atom(struct x_server *display, const char *name); /* 0: failed */
/* Copies up to @max 32-bit values of a property; returns their number. */
size_t x_server_values(struct x_server *display, uint32_t window, uint32_t atom, uint32_t *values, size_t max);
/*
 * The pid of a window's client: from the server (XRes), which is right for sandboxed clients, too; else as the
 * client itself claims (_NET_WM_PID). 0: unknown.
 */
pid_t x_server_pid(struct x_server *display, uint32_t window);
/* The class: the second string of WM_CLASS. */
void x_server_class(struct x_server *display, uint32_t window, char *buf, size_t size);

/*
 * Makes the window's end an event, too: some window managers (openbox) keep naming a closed window as the active
 * one. false: it is closed already.
 */
bool x_server_watch(struct x_server *display, uint32_t window);

/* Reads all events. 1: one of @atoms changed on the root window, or the watched window ended; <0: no server. */
int x_server_changed(struct x_server *display, const uint32_t *atoms, size_t n);
