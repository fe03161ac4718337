/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/time.h>

/*
 * Listens at a path, for all users; their credentials decide what they may do. A socket without a listener is
 * removed; a file of another kind and a socket with a listener are left alone.
 *
 * @type: SOCK_STREAM or SOCK_SEQPACKET. It never blocks.
 *
 * Return: its descriptor; -EEXIST: something else is there; -EADDRINUSE: another process listens there; -errno.
 */
int local_socket_listen(const char *path, int type, int backlog);

/*
 * Connects to the listener at a path.
 *
 * @patience: time limit of connecting, and of each send; NULL: never blocks.
 *
 * Return: its descriptor; -ETIMEDOUT: it was not accepted in time; -errno.
 */
int local_socket_connect(const char *path, int type, const struct timeval *patience);
