/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Would a remote user be cut off when a network interface goes down? Changes nothing. */

#include <stdbool.h>
#include <stddef.h>

#include "route.h"

/*
 * Does a login from elsewhere use @interface? Remote addresses are taken from the environment, the login
 * server's sockets, utmp and connections to port 22, and looked up in the kernel's routes. One without a
 * known address counts for every default route, one through a tunnel for any interface.
 */
bool remote_login_over(int root_fd, const char *interface);

/* An established connection, from a line of /proc/net/tcp or tcp6. */
struct connection {
        struct address near, far;
        unsigned near_port;
        unsigned long inode; /* inode of its socket */
};

/* -EINVAL: not an established connection with another machine. */
int remote_login_parse_connection(const char *line, struct connection *ret);

/* Where an entry of utmp is logged in from. -ENOENT: from nowhere else; -EINVAL: its address is not known. */
struct utmpx;
int remote_login_parse_utmp(const struct utmpx *entry, struct address *ret);

/* sshd's SSH_CONNECTION: "REMOTE-ADDRESS PORT LOCAL-ADDRESS PORT". -EINVAL. */
int remote_login_parse_ssh(const char *text, struct connection *ret);
