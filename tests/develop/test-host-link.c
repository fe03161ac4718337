/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The link to the outside: the default route with the lowest metric, and its speed where a device has one. */

#include <fcntl.h>
#include <math.h>

#include "check.h"
#include "host-link.h"
#include "tree.h"

#define HEAD "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
#define LAN "eth0\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
#define ETH "eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
#define WIFI "wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
#define TUNNEL "tun0\t00000000\t00000000\t0001\t0\t0\t50\t00000000\t0\t0\t0\n"

static char folder[] = "/tmp/joulecast-link-XXXXXX";
static int root_fd;

static double read_with(const char *routes)
{
        char name[IF_NAMESIZE] = "";

        check(tree_write(folder, "proc/net/route", routes, strlen(routes)));
        return host_link_kbps(root_fd, name);
}

int main(void)
{
        check(mkdtemp(folder) != NULL);
        root_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check(isnan(read_with("")));
        check(tree_write(folder, "sys/class/net/eth0/speed", "100\n", 4));
        check(tree_write(folder, "sys/class/net/tun0/speed", "10\n", 3));
        check(tree_write(folder, "sys/class/net/wlan0/device/vendor", "1\n", 2));
        check(isnan(read_with(HEAD ETH))); /* no device */
        check(tree_write(folder, "sys/class/net/eth0/device/vendor", "1\n", 2));
        check_near(read_with(HEAD WIFI LAN ETH), 100000, 0);
        check(isnan(read_with(HEAD LAN)));
        check(isnan(read_with(HEAD WIFI LAN)));
        check(isnan(read_with(HEAD WIFI ETH TUNNEL)));
        check(isnan(read_with(HEAD "../..\t00000000\t0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n")));
        check(tree_write(folder, "sys/class/net/eth0/speed", "-1\n", 3));
        check(isnan(read_with(HEAD ETH)));
        close(root_fd);
        tree_remove(folder);
        return check_result();
}
