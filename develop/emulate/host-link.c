/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host-link.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/util.h"

#define ROUTES_BYTES_MAX 65536
#define ROUTE_UP 0x1

/* Finds the device of the default route with the lowest metric, which the kernel uses. False: there is none. */
static bool find_default(int root_fd, char name[IF_NAMESIZE])
{
        char text[ROUTES_BYTES_MAX], *rest = text, *line;
        unsigned least = UINT_MAX;

        if (util_read_at(root_fd, "proc/net/route", text, sizeof(text)) <= 0)
                return false;
        while ((line = strsep(&rest, "\n"))) {
                char interface[IF_NAMESIZE];
                unsigned to, flags, metric, mask;

                if (sscanf(line, "%15s %x %*x %x %*u %*u %u %x", interface, &to, &flags, &metric, &mask) ==
                            5 &&
                    to == 0 && mask == 0 && flags & ROUTE_UP && metric < least) {
                        least = metric;
                        strcpy(name, interface);
                }
        }
        return least != UINT_MAX;
}

double host_link_kbps(int root_fd, char name[IF_NAMESIZE])
{
        char path[64 + IF_NAMESIZE], text[32];
        int mbps;

        if (!find_default(root_fd, name) || strchr(name, '/'))
                return NAN;
        snprintf(path, sizeof(path), "sys/class/net/%s/device", name);
        if (faccessat(root_fd, path, F_OK, 0) < 0) /* tunnels report 10 Mbit/s, whatever their rate is */
                return NAN;
        snprintf(path, sizeof(path), "sys/class/net/%s/speed", name);
        if (util_read_at(root_fd, path, text, sizeof(text)) <= 0 || sscanf(text, "%d", &mbps) != 1 || mbps <= 0)
                return NAN;
        return mbps * 1000.0;
}
