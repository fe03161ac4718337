/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Listens to a real session of X (XRecord), and keeps what a user does in the windows of one program: what the server
 * delivers to the program itself, and nothing that other programs get.
 */

#include <sys/types.h>

struct listener;

/* On $DISPLAY. 0, and listener_free() it; a negative errno after its sentence. Listen before the program starts. */
int listener_new(struct listener **ret);
void listener_free(struct listener *listener);
int listener_fd(const struct listener *listener);
/* The program: windows of it and its children count. */
void listener_follow(struct listener *listener, pid_t program);
/* Takes what has come. 0; a negative errno. */
int listener_step(struct listener *listener);
/* Ends it, and writes the script. 0; a negative errno after its sentence. */
int listener_write(struct listener *listener, const char *path);
