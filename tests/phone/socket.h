/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Unix stream sockets, to QEMU and to the test harness. */

#include <stddef.h>
#include <sys/types.h>

int socket_connect(const char *path); /* an fd; -errno */
int socket_listen(const char *path);  /* the same; replaces an existing socket */
int socket_send(int fd, const char *text, size_t length); /* all of it. 0; -EPIPE; -errno */
/* Waits up to ten seconds for a byte or more. Their number; -EPIPE: closed; -ETIMEDOUT; -errno. */
ssize_t socket_receive(int fd, char *buf, size_t size);
