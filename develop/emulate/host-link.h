/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* By which link this machine reaches the outside, and how fast that is. */

#include <net/if.h>

/*
 * @root_fd: of a folder with proc/ and sys/
 * @name: gets the interface of the default route, by IPv4
 *
 * Its speed in kbit/s as its driver tells it, which those of WiFi, virtual machines and tunnels do not. NaN: not known.
 */
double host_link_kbps(int root_fd, char name[IF_NAMESIZE]);
