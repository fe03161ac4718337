/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/time.h>

/*
 * Listens at a path, for all users: who they are decides what they may. A socket that nobody listens at any
 * more is removed; a file of another kind, and a socket of the living, are left alone.
 *
 * @type: SOCK_STREAM or SOCK_SEQPACKET. Nothing that is done with it blocks.
 *
 * Return: its descriptor; -EEXIST: something else is there; -EADDRINUSE: somebody listens there; -errno.
 */
int local_socket_listen(const char *path, int type, int backlog);

/*
 * Connects to who listens at a path.
 *
 * @patience: how long connecting, and each send, may take; NULL: nothing that is done with it blocks.
 *
 * Return: its descriptor; -ETIMEDOUT: nobody accepted in time; -errno.
 */
int local_socket_connect(const char *path, int type, const struct timeval *patience);
