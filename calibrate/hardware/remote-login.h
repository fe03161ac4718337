/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Whether somebody who is not at this machine would be cut off when one of its interfaces goes down. Only looks. */

#include <stdbool.h>
#include <stddef.h>

/* Does a login from elsewhere run: by the environment, by who started us, by utmp, or by a connection to port 22? */
bool remote_login(int root_fd);

/* The interface of the default route with the lowest metric, of IPv4 and else of IPv6. -ENOENT: there is none. */
int default_route(int root_fd, char *interface, size_t size);

/* The same of a text of /proc/net/route. */
int default_route_parse(const char *text, char *interface, size_t size);

/* Is a line of /proc/net/tcp or tcp6 an established connection from elsewhere to our port 22? */
bool is_login_connection(const char *line);
