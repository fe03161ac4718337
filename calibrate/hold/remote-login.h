/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Whether somebody who is not at this machine would be cut
 * off when one of its interfaces goes down. Only looks.
 */

#include <stdbool.h>
#include <stddef.h>

#include "route.h"

/*
 * Does a login from elsewhere go over it: what its environment, its server's sockets, utmp or a connection to
 * port 22 name as its far end is asked of the kernel's routes. One whose far end nobody knows goes over every
 * default route; one through a tunnel over any interface.
 */
bool remote_login_over(int root_fd, const char *interface);

/* An established connection, as a line of /proc/net/tcp or tcp6 tells it. */
struct connection {
        struct address near, far;
        unsigned near_port;
        unsigned long inode; /* of its socket */
};

/* -EINVAL: it is none, or none that is established with elsewhere. */
int connection_parse(const char *line, struct connection *ret);

/* "FAR-ADDRESS PORT NEAR-ADDRESS PORT" of sshd's SSH_CONNECTION. -EINVAL. */
int ssh_connection_parse(const char *text, struct connection *ret);
