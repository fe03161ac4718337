/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the WiFi interface to measure, and what calibration may do with it. */

#include "wifi-part.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "hold/remote-login.h"
#include "hold/rfkill.h"
#include "desktop/metered.h"
#include "source/net.h"
#include "util/util.h"

/* An interface that is a client; a connected one is preferred. */
static int find_interface(struct part_wifi *wifi)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(wifi->root_fd, "sys/class/net");
        int found = -ENODEV;
        struct dirent *entry;

        if (!dir)
                return -ENODEV;
        while ((entry = readdir(dir))) {
                if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(wifi->interface) ||
                    net_kind_of(wifi->root_fd, entry->d_name) != NET_WIFI ||
                    nl80211_is_client(wifi->nl, entry->d_name) < 0)
                        continue;
                if (!found && !net_is_up(wifi->root_fd, entry->d_name))
                        continue;
                strcpy(wifi->interface, entry->d_name);
                found = 0;
        }
        return found;
}

static int find_radio(struct part_wifi *wifi)
{
        if (rfkill_find(wifi->root_fd, wifi->interface, wifi->radio, sizeof(wifi->radio)) < 0) {
                wifi->radio[0] = '\0';
                log_warning(wifi->log,
                            "%s: its radio cannot be switched off, so its power stays in the base",
                            wifi->interface);
                return 0;
        }
        if (rfkill_hard_blocked(wifi->root_fd, wifi->radio)) {
                log_warning(wifi->log, "%s: not measured: it is switched off by a hardware switch",
                            wifi->interface);
                return -ENODEV;
        }
        if (!wifi->allow_disconnect && remote_login_over(wifi->root_fd, wifi->interface)) {
                wifi->radio[0] = '\0';
                log_warning(wifi->log,
                            "%s carries a remote login, or may do so, so its radio stays on and its power "
                            "stays in the base; --allow-disconnect permits switching it off",
                            wifi->interface);
        }
        return 0;
}

/* Traffic needs a source or peer, and a network that is not metered. */
static int find_traffic(struct part_wifi *wifi, const struct machine_hardware *machine)
{
        struct traffic_where where = { .interface = wifi->interface, .url = machine->wifi_url,
                                       .peer = machine->wifi_peer };
        bool asked = where.url || where.peer;
        int costs = asked ? metered(wifi->interface) : 0, err;

        wifi->link = (struct link){ .log = wifi->log, .root_fd = wifi->root_fd, .air = AIR_WIFI,
                                    .limit_option = "wifi-limit",
                                    .not_measured = "wifi.rx_mj_per_mb and wifi.tx_mj_per_mb" };
        strcpy(wifi->link.interface, wifi->interface);
        if (!asked)
                log_info(wifi->log, "%s: traffic is not measured without --wifi-url or --wifi-peer",
                         wifi->interface);
        if (costs > 0) {
                log_warning(wifi->log, "%s is on a metered network: traffic is not measured",
                            wifi->interface);
                where.url = where.peer = NULL;
        }
        wifi->perhaps_metered = costs < 0;
        err = link_open(&wifi->link, &where);
        if (err == -EINVAL)
                log_error(wifi->log, "--wifi-peer: \"%s\" is not HOST or HOST:PORT", machine->wifi_peer);
        wifi->has_url = machine->wifi_url;
        wifi->has_peer = machine->wifi_peer;
        return err;
}

int wifi_find(struct part_wifi *wifi, const struct machine_hardware *machine)
{
        int err = find_interface(wifi);

        if (!err)
                err = find_radio(wifi);
        return err ? err : find_traffic(wifi, machine);
}
