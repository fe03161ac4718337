/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Unix stream sockets, as QEMU and the harness offer and want them. */

#include <stddef.h>
#include <sys/types.h>

int socket_connect(const char *path); /* an fd; -errno */
int socket_listen(const char *path);  /* the same; takes the place of a socket that is there */
int socket_send(int fd, const char *text, size_t length); /* all of it. 0; -EPIPE; -errno */
/* At least a byte, within ten seconds. Their number; -EPIPE: the other end is gone; -ETIMEDOUT; -errno. */
ssize_t socket_receive(int fd, char *buf, size_t size);
